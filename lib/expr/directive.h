// A schedule: an ordered list of scheduling directives, in Halide's vocabulary. And the table of their kinds, which the
// readers of schedules share.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::expr {

/// The tail that Halide takes where none is said.
inline constexpr const char* kAutoTail = "Auto";

/// One scheduling decision. Each can be switched off alone; that drops those that require it.
struct Directive {
    enum class Kind {
        compute_root,   ///< store the stage whole before its users
        compute_at,     ///< compute inside loop args[0] of stage `at`
        hoist_storage,  ///< allocate inside loop args[0] of stage `at`, around the loop of its compute_at
        split,          ///< args = old, outer, inner; factor; tail. New names differ from the definition's other loops
        reorder,        ///< args = loops, innermost first
        vectorize,      ///< args[0], factor elements at a time
        unroll,         ///< args[0], by factor
        parallel,       ///< args[0]
        always_partition,  ///< args[0]: the steps in the middle have code of their own; Halide throws where that is
                           ///< none
        never_partition,   ///< args[0]: all steps have the same code
        vector_math,  ///< exp, tanh and erf in f32 by polynomials of ours, in vectors, not by the C library's functions
        contract,     ///< products may be fused into the sums they are added to (FMA), which rounds once, not twice
        allow_race,   ///< allow_race_conditions(): only planted bugs use it
    };
    Kind kind = Kind::compute_root;
    std::string stage;
    int update = -1;  ///< -1: the initial definition, k: updates[k]
    std::vector<std::string> args = {};
    std::int64_t factor = 0;
    std::string at = {};
    std::string tail = {};            ///< of tail_kinds(), or empty: what is safe
    std::vector<int> requires_ = {};  ///< positions of directives in the same schedule that this one depends on
    bool enabled = true;
};

using Schedule = std::vector<Directive>;

struct DirectiveKind {
    enum class Scope {
        func,        ///< where the stage is computed and stored
        definition,  ///< how the loops of one definition run
        expression,  ///< how values are computed; no function of Halide
    };
    Directive::Kind kind;
    std::string_view name;  ///< as Halide calls it
    Scope scope = Scope::definition;
    int since = 0;  ///< the first major version of Halide that has it; 0: each that Whittle builds with
};

struct TailKind {
    std::string_view name;  ///< as Halide calls it
    int since = 0;
};

/// One row for each kind of directive, in the order of Directive::Kind, and one for each tail strategy.
std::span<const DirectiveKind> directive_kinds();
std::span<const TailKind> tail_kinds();
const DirectiveKind& info(Directive::Kind kind);
/// The first major version of Halide that has the directive and its tail. Throws Error where no version has the tail.
int halide_since(const Directive& directive);

/// "of.NAME(at, args, factor, tail)", where at, factor and tail are left out if the directive has none.
std::string call_text(const Directive& directive, const std::string& of, std::vector<std::string> args,
                      const std::string& tail);
/// "conv.update(0).vectorize(x, 8)": what the user reads and the option disable takes.
std::string print(const Directive& directive);
/// The directives that are on: enabled, and everything they require is on.
std::vector<const Directive*> active(const Schedule& schedule);

}  // namespace whittle::expr
