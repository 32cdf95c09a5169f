// The abstract backend: what turns a graph into something callable. A failing compiler is a value, not an exception.
// What only some backends can do is in abilities.h.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// An assertion of a graph, or of one nested in it, that refused a value.
struct Refusal {
    std::string graph, node;  ///< names of where the assertion is
    std::string why;          ///< "the number is at most 8: found 9"
};

/// The backend could not compile or run the graph.
struct BackendFailure {
    std::string stage;         ///< "compile" or "run"
    std::string op = {};       ///< the op or kernel it names, if any
    std::string message;       ///< its own words
    bool unsupported = false;  ///< it says that it does not implement something: not a bug to minimize
    std::vector<std::string> missing =
        {};                               ///< then: all targets that it does not implement, where it has looked at all
    std::string mismatch = {};            ///< it says so itself that a value is wrong: name() of the kind of difference
    std::optional<Refusal> refusal = {};  ///< what failed is an assertion of the graph
};

/// The backend asks that capture break at a node, or that this graph stay eager.
struct BreakRequest {
    std::string reason;
    NodeId node = -1;
};
struct SkipRequest {
    std::string reason;
};

using Values = std::vector<Tensor>;
using RunResult = std::variant<Values, BackendFailure>;

/// A compiled graph.
class Executable {
  public:
    virtual ~Executable() = default;
    /// `inputs`: one tensor per placeholder, with the metas the graph was compiled for. One value per output.
    virtual RunResult run(std::span<const Tensor> inputs) = 0;
    /// The same of inputs that the call owns (PyTorch's boxed calls), so that whoever can frees each after its last
    /// use.
    virtual RunResult run_boxed(Values&& inputs) { return run(inputs); }
};

using CompileResult = std::variant<std::unique_ptr<Executable>, BackendFailure, BreakRequest, SkipRequest>;
using BackendOptions = std::map<std::string, std::string>;

/// How far a compilation takes a graph (compile/program.h), in order; where gradients are wanted, the last three follow
/// what is functional instead.
enum class CompileStage {
    captured,    ///< as a frontend gave it
    functional,  ///< without writes
    decomposed,  ///< in ops that lower, and those that neither lower nor decompose
    folded,      ///< what constants alone decide is a constant
    core,        ///< nothing is computed twice
    plan,        ///< in kernels (compile/plan.h)
    joint,       ///< with the gradients of what requires one (passes/joint.h)
    forward,     ///< its first part: outputs, and what is saved (passes/partition.h)
    backward,    ///< its second part: gradients
};

class Backend {
  public:
    virtual ~Backend() = default;
    virtual std::string name() const = 0;
    /// One line for explain list backends.
    virtual std::string description() const = 0;
    /// What compile() is to be given, no later than `plan`: program::compile() takes graphs so far.
    virtual CompileStage consumes() const { return CompileStage::functional; }
    /// The graph is of that stage (of a plan: the captured one), and verified; `options` are the backend's own. The
    /// executable keeps what it needs of the graph. Of what a captured graph writes to its inputs and attributes, the
    /// values at the end follow the outputs, as they do in later stages.
    virtual CompileResult compile(const Graph& graph, const BackendOptions& options) = 0;
};

}  // namespace whittle
