// What a session hands to its frame, and asks of it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/frame_cache.h"
#include "capture/output_graph.h"

struct whittle_probe_file;

namespace whittle::api {

/// Return addresses, innermost first.
using Addresses = std::vector<void*>;

struct CompiledGraph;
struct Tape;

/// The way that the program went at a branch of its own, as a probe tells it.
struct Way {
    const whittle_probe_file* file = nullptr;
    unsigned site = 0;
    std::int64_t outcome = 0;
};
using Ways = std::vector<Way>;
/// One guard for each branch, in order of their first outcomes.
std::vector<capture::Guard> branch_guards(const Ways& ways);

/// A recorded graph on its way to the backend.
struct Recorded {
    capture::CapturedGraph captured;
    std::vector<Addresses> stacks = {};  ///< of the nodes of captured.graph, where known; symbolized when somebody asks
    Addresses ended_at = {};
    std::string key = {};  ///< equal for graphs that one executable serves
};

/// Equal for graphs that do the same on inputs of the same kind: all but names of calls, stacks and parameters' values.
std::string key_of(const Graph& graph);

/// Where an exception came from, as far as that is known.
struct Thrown {
    std::string what = {};
    Addresses addresses = {};
    std::vector<StackFrame> stack = {};
};

/// Which argument "arg3" is; nothing for other names.
std::optional<std::size_t> numbered_argument(std::string_view name);

class CompiledNode;

/// What a graph gave, and, where that has gradients, the way back through it.
struct GraphRun {
    std::vector<whittle::Tensor> outputs = {};
    std::shared_ptr<CompiledNode> history = {};
};

class FrameHost {
  public:
    virtual ~FrameHost() = default;
    /// Runs the graph on `inputs` (one per placeholder) and `parameters` (one per get_attr); one value per output.
    /// What the graph writes to inputs and parameters is written to their memory. `compiled` is set unless it is known.
    virtual GraphRun run(const Recorded& recorded, std::shared_ptr<CompiledGraph>& compiled,
                         const std::vector<whittle::Tensor>& inputs,
                         const std::vector<whittle::Tensor>& parameters) = 0;
    /// A break, whether or not it ended a graph. Throws where breaks are errors.
    virtual void broke(const capture::GraphBreak& why, const Addresses& stack) = 0;
    /// A whole stack is wanted with each operation, not only the return address.
    virtual bool wants_stacks() const { return false; }
    /// Every operation counts, whether or not its result is wanted: nobody asked for this frame to be compiled.
    virtual bool keeps_all() const { return false; }
    /// What the frame does is to be kept as events, for when capture fails.
    virtual bool wants_events() const { return false; }
    /// What the program prints comes once its values are there, and breaks no graph.
    virtual bool defers_output() const { return false; }
    /// A number that the program takes from a tensor is a symbol of the graph, and breaks none.
    virtual bool captures_scalars() const { return false; }
    /// Calls whose results' sizes are data stay in the graph.
    virtual bool captures_dynamic_shapes() const { return false; }
    /// Capture itself failed: the function runs uncompiled from here on. `user`: the addresses of its stack.
    virtual void gave_up(const Thrown&, const Addresses&) {}
    /// The program says that a number, which may be a size, is in a range; `pc`: where.
    virtual void constrained(std::int64_t, const capture::SizeRange&, void*) {}
    /// The stacks of what fails are told as a whole.
    virtual bool verbose() const { return false; }
    /// An argument's name became known: it was called `before`.
    virtual void argument_named(const std::string&, const std::string&) {}
    /// What earlier executions recorded as their graph number `position`, the latest first.
    virtual std::vector<std::shared_ptr<const Tape>> tapes(std::int64_t) const { return {}; }
    virtual void remember(std::int64_t, std::shared_ptr<const Tape>) {}
    /// The ways that the frame went before its graph number `position` ended, since the one before.
    virtual void went(std::int64_t, Ways) {}
};

}  // namespace whittle::api
