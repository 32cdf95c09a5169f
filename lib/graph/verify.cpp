#include "graph/verify.h"

#include <limits>
#include <string>
#include <unordered_set>

#include "base/command_words.h"
#include "base/error.h"
#include "base/words.h"
#include "graph/placement.h"
#include "graph/value_ref.h"

namespace whittle {
namespace {

/// One walk over one graph. Every failure names the graph, the node and the rule.
class Verifier {
  public:
    Verifier(const Graph& graph, const std::string& path, Stage stage, const SchemaSource& schemas)
        : graph_(graph), path_(path), stage_(stage), schemas_(schemas) {}

    void run() {
        require_output_last();
        std::unordered_set<std::string_view> names;
        names.reserve(graph_.nodes.size());
        bool calls_seen = false;
        for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
            at_ = static_cast<NodeId>(i);
            const Node& node = graph_.nodes[i];
            if (identifier(node.name) != node.name)
                fail("names are identifiers", '"' + node.name + "\"", '"' + identifier(node.name) + "\"");
            if (!names.insert(node.name).second)
                fail("names are unique", "%" + node.name + " twice", "a different name for each node");
            for_each_input(node, [&](NodeRef ref) { check_reference(node, ref); });
            for (const ValueMeta& meta : node.results) check_meta(meta);
            check_keywords(node);
            if (node.kind == NodeKind::placeholder && calls_seen)
                fail("placeholders come first", "a placeholder after a call", "all placeholders before the first call");
            calls_seen |= node.kind == NodeKind::call;
            check_kind(node);
        }
        at_ = -1;
        check_failure();
        for (const auto& [key, subgraph] : graph_.subgraphs) {
            if (!subgraph)
                fail("nested graphs exist", "the name \"" + key + "\" without a graph",
                     "a graph for each name of a nested graph");
            verify_graph(*subgraph, path_ + "/" + key, stage_, schemas_);
        }
    }

    static void verify_graph(const Graph& graph, const std::string& path, Stage stage, const SchemaSource& schemas) {
        Verifier(graph, path, stage, schemas).run();
    }

  private:
    [[noreturn]] void fail(const std::string& rule, const std::string& found, const std::string& expected) const {
        reject(rule, "found " + found + ", expected " + expected);
    }

    [[noreturn]] void reject(const std::string& rule, const std::string& message, const std::string& hint = {}) const {
        std::string where = "graph " + path_;
        if (at_ >= 0) {
            const Node& node = graph_.nodes[static_cast<std::size_t>(at_)];
            where += ", node " + std::to_string(at_) + " %" + node.name;
            if (node.kind == NodeKind::call) where += " = " + node.target;
        }
        throw Error({"", where}, "breaks the rule \"" + rule + "\": " + message, hint);
    }

    void require_output_last() {
        std::size_t outputs = 0;
        for (const Node& node : graph_.nodes) outputs += node.kind == NodeKind::output;
        if (outputs != 1) fail("exactly one output node", std::to_string(outputs) + " output nodes", "1 output node");
        if (graph_.nodes.back().kind != NodeKind::output)
            fail("the output node is last", "a " + std::string(name(graph_.nodes.back().kind)) + " as the last node",
                 "the output node");
    }

    const Node& node_of(NodeRef ref) const { return graph_.nodes[static_cast<std::size_t>(ref.id)]; }

    void check_reference(const Node& node, NodeRef ref) const {
        if (ref.id < 0 || ref.id >= at_)
            fail("arguments are earlier nodes", "node " + std::to_string(ref.id),
                 "a node from 0 to " + std::to_string(at_ - 1));
        const Node& producer = node_of(ref);
        if (is_getitem(node)) return;  // has rules of its own
        if (producer.results.size() != 1)
            fail("arguments are single values",
                 "%" + producer.name + ", which has " + plural(producer.results.size(), "result"),
                 "one result, read by getitem(%" + producer.name + ", index)");
    }

    void check_meta(const ValueMeta& meta) const {
        if (meta.strides.size() != meta.sizes.size())
            fail("types are well formed", std::to_string(meta.strides.size()) + " strides",
                 std::to_string(meta.sizes.size()) + " strides, one for each size");
        std::int64_t count = 1;
        bool empty = false, overflow = false;
        for (const std::int64_t size : meta.sizes) {
            if (size < 0) fail("types are well formed", "size " + std::to_string(size), "a size of 0 or more");
            empty |= size == 0;
            overflow |= __builtin_mul_overflow(count, size, &count);
        }
        if (overflow && !empty)
            fail("types are well formed", "sizes " + to_string(meta.sizes), "fewer than 2^63 elements");
    }

    void check_keywords(const Node& node) const {
        for (std::size_t i = 0; i < node.kwargs.size(); ++i)
            for (std::size_t j = 0; j < i; ++j)
                if (node.kwargs[i].first == node.kwargs[j].first)
                    fail("keyword arguments are unique", "the keyword argument " + node.kwargs[i].first + " twice",
                         "each keyword argument once");
    }

    void check_kind(const Node& node) const {
        const bool operands = !node.args.empty() || !node.kwargs.empty();
        switch (node.kind) {
            case NodeKind::placeholder:
                if (operands) fail("placeholders have no arguments", "a placeholder with arguments", "no arguments");
                require_one_result(node);
                break;
            case NodeKind::get_attr:
                if (operands)
                    fail("get_attr nodes have no arguments", "a get_attr node with arguments", "no arguments");
                require_one_result(node);
                check_attribute(node);
                break;
            case NodeKind::call:
                check_call(node);
                break;
            case NodeKind::output:
                check_output(node);
                break;
        }
    }

    void require_one_result(const Node& node) const {
        if (node.results.size() != 1)
            fail("placeholders and get_attr nodes have one value", std::to_string(node.results.size()) + " values",
                 "1 value");
    }

    void check_attribute(const Node& node) const {
        const auto found = graph_.attributes.find(node.target);
        if (found == graph_.attributes.end())
            fail("attributes exist", "no attribute \"" + node.target + "\"", "the name of an attribute of the graph");
        const ValueMeta attribute = ValueMeta::of(found->second);
        const ValueMeta& meta = node.meta();
        if (meta.placement) {
            if (attribute.dtype != DType::u8 || attribute.sizes.size() != 1)
                fail("attributes fit their nodes", "a tensor of " + describe(attribute),
                     "a tensor of bytes, u8[N], for " + meta.placement->text());
            return;
        }
        bool fits = attribute.dtype == meta.dtype && attribute.sizes == meta.sizes;
        for (std::size_t d = 0; fits && d < meta.sizes.size(); ++d)  // the stride of a size of 1 is never used
            fits = meta.sizes[d] <= 1 || attribute.strides[d] == meta.strides[d] || found->second.numel() == 0;
        if (!fits)
            fail("attributes fit their nodes", "a tensor of " + describe(attribute),
                 "a tensor of " + describe(meta) + ", the type of the node");
    }

    static std::string describe(const ValueMeta& meta) {
        return std::string(name(meta.dtype)) + to_string(meta.sizes) + " with strides " + to_string(meta.strides);
    }

    void check_call(const Node& node) const {
        if (node.target.empty())
            fail("calls name their op", "an empty target", "the name of an op, for example aten.relu.default");
        for (const Arg& arg : node.args) check_graph_references(arg);
        for (const auto& [key, arg] : node.kwargs) check_graph_references(arg);
        if (is_getitem(node))
            check_getitem(node);
        else if (stage_ != Stage::captured)
            check_schema(node);
    }

    void check_graph_references(const Arg& arg) const {
        if (const auto* ref = std::get_if<GraphRef>(&arg.value); ref && !graph_.subgraphs.count(ref->name))
            fail("nested graphs exist", "a reference to the nested graph \"" + ref->name + "\"",
                 "the name of an existing nested graph");
        if (const ArgList* list = arg.list())
            for (const Arg& element : *list) check_graph_references(element);
    }

    void check_getitem(const Node& node) const {
        const bool form = node.args.size() == 2 && node.kwargs.empty() && node.args[0].node() &&
                          std::holds_alternative<std::int64_t>(node.args[1].value) && node.results.size() == 1;
        if (!form)
            fail("getitem reads one result", "a getitem with other arguments or results",
                 "getitem(%call, index) with one result");
        const Node& producer = node_of(*node.args[0].node());
        const auto index = std::get<std::int64_t>(node.args[1].value);
        if (!is_op_call(producer))
            fail("getitem reads one result", "%" + producer.name + ", which is not a call of an op", "a call of an op");
        if (index < 0 || index >= static_cast<std::int64_t>(producer.results.size()))
            fail("getitem is in range", "index " + std::to_string(index),
                 "an index from 0 to " + std::to_string(static_cast<std::int64_t>(producer.results.size()) - 1) +
                     " into the results of %" + producer.name);
        const ValueMeta& meta = producer.results[static_cast<std::size_t>(index)];
        if (node.meta() != meta)
            fail("getitem has the type of the result it reads", describe(node.meta()), describe(meta));
    }

    void check_schema(const Node& node) const {
        const Schema* schema = schemas_.find(node.target);
        if (!schema) fail("every op is registered", "the op " + node.target, "an op that Whittle knows");
        try {
            bind_arguments(*schema, node);
        } catch (const Error& error) {
            reject("arguments fit the schema", error.message(), error.hint());
        }
        bool list = false;
        for (const Return& result : schema->returns) list |= result.list;
        // Trailing results that nobody asked for may be left out, as ONNX does with optional outputs.
        if (!list && node.results.size() > schema->returns.size())
            fail("results fit the schema", std::to_string(node.results.size()) + " results",
                 "at most " + std::to_string(schema->returns.size()));
        if (stage_ != Stage::functional) return;
        for (const Param& param : schema->params)
            if (param.mutates)
                fail("functional graphs do not mutate", "an op that writes to its parameter " + param.name,
                     "an op that writes to no parameter");
    }

    void check_output(const Node& node) const {
        if (!node.kwargs.empty() || !node.results.empty())
            fail("the output node only lists values", "an output node with keyword arguments or results",
                 "only arguments");
        for (const Arg& arg : node.args)
            if (!arg.node()) fail("outputs are nodes", "an argument that is not a node", "the value of a node");
    }

    void check_failure() const {
        if (!graph_.failure) return;
        const std::vector<NodeId> placeholders = graph_.placeholders();
        const std::vector<Tensor>& inputs = graph_.failure->inputs;
        if (inputs.size() != placeholders.size())
            fail("recorded inputs fit the placeholders", std::to_string(inputs.size()) + " recorded inputs",
                 std::to_string(placeholders.size()) + ", one for each placeholder");
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            const ValueMeta& meta = graph_.node({placeholders[i]}).meta();
            if (meta.placement) continue;  // what stands for such an input, its frontend decides
            if (inputs[i].dtype() != meta.dtype || inputs[i].sizes() != meta.sizes)
                fail("recorded inputs fit the placeholders", describe(ValueMeta::of(inputs[i])),
                     describe(meta) + ", the type of %" + graph_.node({placeholders[i]}).name);
        }
    }

    const Graph& graph_;
    const std::string path_;
    const Stage stage_;
    const SchemaSource& schemas_;
    NodeId at_ = -1;
};

}  // namespace

void verify(const Graph& graph, Stage stage, const SchemaSource& schemas) {
    Verifier::verify_graph(graph, graph.name, stage, schemas);
}

}  // namespace whittle
