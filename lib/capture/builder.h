// Builder: the graph of a frame while it is captured, operation by operation. It takes operations as the program issues
// them, on tensors that it knows by their keys; finds the inputs that they need, names them, infers results and where
// these lie in memory; and says where the graph has to end. It knows nothing of how operations are noticed.
//
//   auto outcome = builder.issue(operation);   // placed, or why the graph has to end first
//   auto outputs = builder.outputs(held); // of what the program still has
//   auto captured = builder.close(outputs.nodes, why);
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "capture/memory.h"
#include "capture/naming.h"
#include "capture/output_graph.h"

namespace whittle::capture {

/// A tensor that an operation reads, as the program has it.
struct Operand {
    TensorKey key = 0;
    const ValueMeta* meta = nullptr;
    NodeRef node = {};  ///< of the graph, for a value that it computes, which lies at `place`
    Place place = {};
    // One from outside:
    StorageKey storage = 0;   ///< where it lies …
    std::int64_t offset = 0;  ///< … this far into it, in elements
    bool writable = true;
    bool leaf = true;                        ///< of autograd; see ValueMeta
    const Tensor* value = nullptr;           ///< of a parameter …
    const std::string* parameter = nullptr;  ///< … with its qualified name, which may be empty

    bool computed() const { return node.id >= 0; }
};

/// Nested graphs of a call, by the names that its arguments have for them.
using NestedGraphs = std::vector<std::pair<std::string, std::shared_ptr<const Graph>>>;

/// An operation that the program issues.
struct Operation {
    const Node& call;  ///< target, arguments, stack, module path; NodeRefs are positions in `operands`. Where the
                       ///< program has run it, the results that it had: else they are inferred.
    const std::string& functional;  ///< of a write into the first operand: the op that computes what is written
    std::span<const Operand> operands;
    const NestedGraphs& nested;
    bool grad_enabled = true;
    bool effect = false;  ///< it stays, whether or not its results are wanted

    bool writes() const { return !functional.empty(); }
};

/// What came of it.
struct Placed {
    struct Result {
        NodeRef node = {};
        ValueMeta meta = {};
        std::optional<std::int64_t> view = {};  ///< of the first operand, this far into it, in elements of its own
        bool operator==(const Result&) const = default;
    };
    NodeRef call = {};
    std::vector<NodeRef> operands = {};       ///< their nodes
    std::vector<Result> results = {};         ///< none of a write
    std::optional<GraphBreak> ended_by = {};  ///< the graph has to end behind it
};

class Builder {
  public:
    explicit Builder(std::string name) : graph_(std::move(name)) {}

    /// Told of a call that cannot be inferred, in nodes of the graph. True: what it took stays, for a record of it.
    std::function<bool(const Node&, const std::exception&)> on_failure = {};

    /// Another graph of the frame.
    void begin(std::string name);

    /// Adds the operation; or why the graph has to end before it. Throws Error for one that cannot be inferred, and for
    /// a write to memory that is only to be read: then the graph is as if nobody had tried.
    std::variant<Placed, GraphBreak> issue(const Operation& step);

    /// The node of an operand; one from outside becomes an input, or a parameter. `stack`: where it is read.
    NodeRef node_of(const Operand& operand, const std::vector<StackFrame>& stack = {});

    // The parts of issue() for an operation whose place is known already.
    /// Why the graph has to end before the tensor is read.
    std::optional<GraphBreak> before_reading(const Operand& operand) const;
    /// Throws Error for memory that is only to be read.
    void check_writable(const Operand& self, const std::string& target) const;
    /// The operation that was issued writes; why the graph has to end behind it.
    std::optional<GraphBreak> write(const Operand& self, const std::string& target);
    /// Of a view of the operand, `offset` elements of its own data type into it.
    Place view(const Operand& of, std::int64_t offset, DType dtype);

    /// What the graph gives when the program has these values.
    HeldOutputs outputs(std::span<const Held> held) const { return memories_.outputs(held); }
    std::optional<CapturedGraph> close(std::span<const NodeRef> results, std::optional<GraphBreak> why) const {
        return graph_.finish(results, std::move(why));
    }

    /// An input or parameter, in the order in which they were first read.
    struct Input {
        NodeRef node = {};
        TensorKey key = 0;
        StorageKey storage = 0;
    };
    const std::vector<Input>& inputs() const { return inputs_; }
    /// The node of a tensor from outside; null: it is no input yet.
    const NodeRef* input(TensorKey key) const;
    /// It is that node of a graph that is yet to be built.
    void take(const Input& input);
    /// The qualified name of a parameter: as the frame told it, else its own; empty: it is none.
    const std::string& parameter_name(TensorKey key, const std::string& otherwise) const;

    // Speculation: what may turn out not to be recordable is tried.
    struct Checkpoint {
        OutputGraph::Checkpoint graph;
        Naming::Numbers numbers;
        std::size_t inputs, memories;
    };
    Checkpoint checkpoint() const;
    /// As it was then; nothing is left of what came since.
    void roll_back(const Checkpoint& to);

    /// What is issued from here to end_body() is the body of a higher-order operation, on tensors at kOutside: memory
    /// that it did not make itself is only read, and its reads are the operation's.
    void begin_body() { bodies_.push_back(static_cast<NodeId>(graph_.graph().nodes.size())); }
    void end_body() { bodies_.pop_back(); }
    bool in_body() const { return !bodies_.empty(); }
    /// The value is not of the innermost body.
    bool is_around(const Operand& operand) const;

    OutputGraph& graph() { return graph_; }
    const OutputGraph& graph() const { return graph_; }
    Naming& naming() { return naming_; }
    const Memories& memories() const { return memories_; }
    /// For what becomes of its values when the graph has run; begin() comes next.
    Memories take_memories() { return std::move(memories_); }

  private:
    class Attempt;
    std::vector<ValueMeta> results_of(const Operation& step, const Node& node);
    void find_views(const Operation& step, Placed& placed) const;
    MemoryId memory_of(const Operand& operand);

    OutputGraph graph_;
    Naming naming_;
    Memories memories_;
    std::vector<Input> inputs_;
    std::unordered_map<TensorKey, NodeRef> known_;  ///< inputs
    std::vector<NodeId> bodies_;                    ///< that are recorded, by their first nodes, the innermost last
};

}  // namespace whittle::capture
