// The IR: torch.fx's shape. An ordered list of nodes `placeholder | get_attr | call | output`, in topological order.
// A Graph is a value: passes and reductions build new graphs. Nodes refer to each other by position in the list.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <variant>
#include <vector>

#include "graph/failure.h"
#include "tensor/tensor.h"

namespace whittle {

struct Placement;

/// What is known of a value before it is computed.
struct ValueMeta {
    DType dtype = DType::f32;
    Sizes sizes = {};
    Strides strides = {};
    bool requires_grad = false;
    const Placement* placement =
        nullptr;  ///< null: strided, on the CPU, of elements that DType has (graph/placement.h)
    /// Of an input: what the program's tensor was beyond its type, which nothing that is computed from it depends on.
    std::int64_t storage_offset = 0;  ///< in elements
    bool leaf = true;                 ///< false: it requires grad, and the program computed it

    /// Contiguous, no gradient.
    static ValueMeta contiguous(DType dtype, Sizes sizes);
    static ValueMeta of(const Tensor& tensor);
    std::int64_t numel() const { return element_count(sizes); }
    /// The same type: of inputs, storage_offset and leaf may differ.
    bool operator==(const ValueMeta& other) const {
        return dtype == other.dtype && sizes == other.sizes && strides == other.strides &&
               requires_grad == other.requires_grad && placement == other.placement;
    }
};

using NodeId = std::int32_t;

/// An argument that is another node's value.
struct NodeRef {
    NodeId id = -1;
    bool operator==(const NodeRef&) const = default;
};

/// An argument that is a nested graph, by its name in Graph::subgraphs.
struct GraphRef {
    std::string name;
    bool operator==(const GraphRef&) const = default;
};

struct Arg;
using ArgList = std::vector<Arg>;

/// One argument of a call: none, a node's value, a host value, or a list of arguments.
struct Arg {
    std::variant<std::monostate, NodeRef, std::int64_t, double, bool, std::string, DType, ArgList, GraphRef> value;

    Arg() = default;
    Arg(NodeRef ref) : value(ref) {}
    Arg(std::int64_t v) : value(v) {}
    Arg(int v) : value(std::int64_t{v}) {}
    Arg(double v) : value(v) {}
    Arg(bool v) : value(v) {}
    Arg(std::string v) : value(std::move(v)) {}
    Arg(const char* v) : value(std::string(v)) {}
    Arg(DType v) : value(v) {}
    Arg(ArgList v) : value(std::move(v)) {}
    Arg(GraphRef v) : value(std::move(v)) {}
    Arg(const Scalar& v);
    /// A list of integers.
    static Arg ints(const std::vector<std::int64_t>& values);

    bool is_none() const { return std::holds_alternative<std::monostate>(value); }
    const NodeRef* node() const { return std::get_if<NodeRef>(&value); }
    const ArgList* list() const { return std::get_if<ArgList>(&value); }
    /// The same argument: unlike in arithmetic, NaN equals NaN and 0.0 differs from -0.0.
    bool operator==(const Arg& other) const;
};

/// One entry of a user's stack, innermost first in Node::stack.
struct StackFrame {
    std::string file;
    int line = 0, column = 0;
    std::string function;
    std::string text;  ///< the source line, when known
    bool operator==(const StackFrame&) const = default;
};

enum class NodeKind : std::uint8_t { placeholder, get_attr, call, output };
std::string_view name(NodeKind kind);

struct Node {
    NodeKind kind = NodeKind::call;
    std::string name = {};    ///< unique in the graph, an identifier without the leading '%'
    std::string target = {};  ///< call: the op, "aten.relu.default"; get_attr: the qualified name; placeholder: its
                              ///< source, e.g. the model's input name
    ArgList args = {};        ///< positional; output: the results
    std::vector<std::pair<std::string, Arg>> kwargs = {};
    std::vector<ValueMeta> results = {};  ///< one per result; a call with several is read through `getitem` calls
    std::vector<StackFrame> stack = {};   ///< where the user's program issued it, innermost first
    std::string module_path = {};         ///< "features.0", or the ONNX node's name
    bool operator==(const Node&) const = default;

    const Arg* kwarg(std::string_view key) const;
    const ValueMeta& meta() const { return results.at(0); }
};

/// The call that reads result `i` of a call with several results: `getitem(%n, i)`.
inline constexpr std::string_view kGetItem = "getitem";

/// Names in use, so that Graph::add finds a free one in constant time. A cache: copies of a graph start without it, and
/// it is rebuilt when nodes were added or removed behind its back.
class NameIndex {
  public:
    NameIndex() = default;
    NameIndex(const NameIndex&) {}
    NameIndex& operator=(const NameIndex&) {
        data_ = nullptr;
        return *this;
    }

    /// `wanted`, or wanted_N with an N beyond those in use. The caller appends a node of that name and calls added().
    std::string unique(const std::string& wanted, const std::vector<Node>& nodes);
    void added(const std::vector<Node>& nodes);

  private:
    struct Use {
        bool taken = false;  ///< the name itself
        int highest = 0;     ///< N of the highest name_N
    };
    void insert(const std::string& name);

    std::unordered_map<std::string, Use> uses_;
    const Node* data_ = nullptr;
    std::size_t count_ = 0;
    std::string last_;
};

struct Graph {
    std::string name = "graph";
    std::string dialect = "aten";                            ///< the dialect its calls are in: "aten" or "onnx"
    std::map<std::string, std::int64_t> opset_imports = {};  ///< ONNX domain ("" is ai.onnx) to opset version
    std::vector<Node> nodes = {};                            ///< placeholders first, one output last
    std::map<std::string, Tensor> attributes = {};           ///< parameters and constants by qualified name
    std::map<std::string, std::shared_ptr<const Graph>> subgraphs = {};
    std::optional<Failure> failure = {};  ///< set in a minimized graph
    NameIndex names = {};

    const Node& node(NodeRef ref) const { return nodes.at(static_cast<std::size_t>(ref.id)); }
    const Node* find(std::string_view node_name) const;
    std::vector<NodeId> placeholders() const;
    std::vector<NodeId> calls() const;
    /// The arguments of the output node. Every one is a NodeRef in a verified graph.
    std::vector<NodeId> outputs() const;

    /// Appends and returns the new node's reference. The name is made an identifier (of the target's when empty) and
    /// unique by a suffix _1, _2 …
    NodeRef add(Node node);
    /// Its target, the source, is `name` as given.
    NodeRef placeholder(std::string name, ValueMeta meta);
    /// Another tensor that already has the qualified name keeps it; the new one then gets a suffix _1, _2 …
    NodeRef get_attr(std::string qualified_name, Tensor value);
    void output(const std::vector<NodeRef>& results);
};

/// A graph without nodes, in the dialect of `from` and at its opsets.
inline Graph blank_graph(const Graph& from, std::string name) {
    return {.name = std::move(name), .dialect = from.dialect, .opset_imports = from.opset_imports};
}

/// Calls f(NodeRef) for every node that `node` reads, in argument order, lists and kwargs included.
void for_each_input(const Node& node, const std::function<void(NodeRef)>& f);
/// The same node with every reference mapped.
Node map_inputs(const Node& node, const std::function<Arg(NodeRef)>& f);
/// users[i] = the nodes that read node i, ascending, each once.
std::vector<std::vector<NodeId>> users(const Graph& graph);
/// Equality of everything but attribute data (dtype and sizes of attributes count), stacks and `failure`.
bool same_structure(const Graph& a, const Graph& b);
/// "relu_1" -> a valid unique-able identifier: other characters become '_', a leading digit gets '_'.
std::string identifier(std::string_view text);

/// The call names at least one nested graph.
bool has_nested_graph(const Node& call);
/// Gives `to` the nested graphs of `from` that the call names.
void copy_nested(const Node& call, const Graph& from, Graph& to);

/// Targets of the nodes for which chosen(graph, node), those of nested graphs included, each once, in order of
/// appearance.
std::vector<std::string> targets_of(const Graph& graph, const std::function<bool(const Graph&, const Node&)>& chosen);
/// How messages name the ops of these targets: a call of higher_order.auto_functionalized is one of the op that it
/// runs.
std::vector<std::string> op_names(const Graph& graph, const std::vector<std::string>& targets);

}  // namespace whittle
