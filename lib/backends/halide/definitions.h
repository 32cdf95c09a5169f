// What both Halide readers (objects and text) decide alike about a group before they write it: what is left out, which
// loops are pure variables of Halide and which are reduction variables, and how a directive's loops are called.
// Knows nothing of Halide's headers.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "expr/group.h"

namespace whittle::halide {

/// One definition of a Func: the initial one or an update.
struct Definition {
    const expr::Stage* stage = nullptr;
    int update = -1;         ///< -1, or the position in stage->updates
    int halide_update = -1;  ///< the position among the updates that are kept
    std::vector<expr::LoopVar> loops = {};
    /// Loops of an update that are dimensions of its RDom, innermost first: the domain, reversed, then the stage
    /// variables that do not stand alone at their own position of `where`, which is the only place where Halide lets an
    /// update have a pure variable.
    std::vector<expr::LoopVar> reduction = {};

    bool is_reduction(const std::string& loop) const;
    /// Of an update.
    const expr::Update& assigned() const { return stage->updates.at(static_cast<std::size_t>(update)); }
    /// Of an update: whether it writes this dimension at a pure variable of Halide, the stage's own variable.
    bool is_pure(std::size_t dimension) const;
};

/// The group without what is empty: stages without elements and updates without iterations, which Halide does not take.
/// `outputs` are those that have elements; the others need no computation.
class Prepared {
  public:
    explicit Prepared(const expr::Group& group);
    Prepared(const Prepared&) = delete;

    const expr::Group& group() const { return group_; }
    /// Inputs that are loaded somewhere, in the group's order.
    const std::vector<const expr::Input*>& inputs() const { return inputs_; }
    const std::vector<const expr::Stage*>& stages() const { return stages_; }
    const std::vector<const expr::Stage*>& outputs() const { return outputs_; }
    /// Of one stage: the initial definition, then the updates.
    std::vector<Definition> definitions(const expr::Stage& stage) const;
    /// Of a directive; null when it schedules something that was left out. Throws Error where it names what is not
    /// there, or is itself not in this Halide.
    const Definition* definition(const expr::Directive& directive) const;

  private:
    const expr::Group& group_;
    std::vector<const expr::Input*> inputs_;
    std::vector<const expr::Stage*> stages_, outputs_;
    std::map<std::string, std::vector<Definition>> definitions_;
};

/// The loops of every definition as a schedule splits them: which names are reduction variables (RVar).
class LoopKinds {
  public:
    explicit LoopKinds(const Prepared& prepared);
    /// Whether the loop of the definition is a reduction variable. Throws Error when it has no such loop.
    bool is_reduction(const Definition& definition, const std::string& loop) const;
    /// The definition of the stage `at` that has the loop which a directive places its own stage at.
    const Definition& owner(const expr::Directive& directive) const;
    /// Takes the new loops of a split in.
    void split(const Definition& definition, const std::string& old, const std::string& outer,
               const std::string& inner);

  private:
    const Prepared& prepared_;
    std::map<std::pair<std::string, int>, std::map<std::string, bool>> kinds_;
};

/// What stops the compiler in a text whose directives the Halide at hand does not have; empty: each has them.
std::string version_guard(const expr::Schedule& schedule);

/// The tail strategy of a split, vectorize or unroll by a factor: its own, or one that never leaves the declared
/// extents: Halide's own defaults compute elements outside of them, whose loads are out of bounds.
std::string tail_of(const expr::Directive& directive, const Definition& definition, const expr::Group& group);

/// Whether a vectorized loop of the definition must not end in a vector that is partly switched off (GuardWithIf).
/// Halide 14 names what an expression loads more than once, and takes the lanes with odd numbers out of every name.
/// Where they lie behind the end of memory of the kernel's own, as when one element of the last vector is left, it
/// believes the code unreachable, although those lanes are off, and drops it: the element is never computed. (Fixed in
/// Halide 17, pull request 7791.)
bool may_lose_tail(const Definition& definition, const expr::Group& group);

/// Whether any directive, on or off, makes vectors: then the kernel needs the pass of sound_accesses.h.
bool vectorizes(const expr::Schedule& schedule);

/// Whether a directive is on that lets products be fused into sums. The kernel's target is then not strict about
/// floats; every other definition is, by strict_float().
bool contracts(const expr::Schedule& schedule);
/// Whether this definition is such another one.
bool is_strict_apart(const expr::Schedule& schedule, const Definition& definition);
/// The target for a kernel with this schedule: `target`, or default_target() where it is empty.
std::string target_for(const expr::Schedule& schedule, const std::string& target);

/// Who computes exp, log and the like of a definition: the C library, Whittle's polynomials, in vectors, or Halide.
enum class Functions { libm, vectors, halide };
/// By a directive vector_math() that is on, or vector_math(halide).
Functions functions_of(const expr::Schedule& schedule, const Definition& definition);
/// The same of a short program, which has no polynomials.
Functions plain_functions(const expr::Schedule& schedule, const Definition& definition);
/// The schedule with vector_math(halide) for each definition that has functions of Halide's own.
expr::Schedule with_halide_functions(const expr::Group& group, expr::Schedule schedule);
/// Whether Halide computes the C library's function itself, under the operation's name.
bool has_halide_function(expr::Op op, DType dtype);
/// Whether a function of kernel_helpers.h, OP_f32, computes the C library's in vectors.
bool has_vector_function(expr::Op op, DType dtype);

/// The name of a stage's Func. An output's is a symbol of the compiled code, where "exp2" or "pow" would take the place
/// of the C library's function, which LLVM calls on its own account.
std::string func_name(const expr::Stage& stage);

/// The target that kernels are compiled for unless told otherwise: this machine, or $HL_JIT_TARGET, strict about
/// floats. Throws Error where that is none.
std::string default_target();
/// Those for kernels of short programs: the first is the nearest to default_target(), the last the plainest.
std::vector<std::string> short_targets();
/// What Halide compiles for where nobody says otherwise: this machine, with nothing of that.
std::string host_target();
/// A target as C++: Halide::Target("host-strict_float") where it is this machine's, that others may run the text, too.
std::string target_code(const std::string& target);

}  // namespace whittle::halide
