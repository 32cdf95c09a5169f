#include "passes/fold_constants.h"

#include <map>

#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "passes/dce.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

bool has_graph(const Arg& arg) {
    if (std::holds_alternative<GraphRef>(arg.value)) return true;
    if (const ArgList* list = arg.list())
        for (const Arg& element : *list)
            if (has_graph(element)) return true;
    return false;
}

class Folder {
  public:
    Folder(const Graph& graph, std::int64_t max_elements) : rewriter_(graph), max_elements_(max_elements) {}

    Graph run() {
        const Graph& from = rewriter_.from();
        for (NodeId id = 0; id < static_cast<NodeId>(from.nodes.size()); ++id) {
            const Node& node = from.nodes[static_cast<std::size_t>(id)];
            if (const auto value = folded_item(node))
                rewriter_.replace(id, *value);
            else if (!foldable(node) || !fold(id, node))
                rewriter_.copy(id);
        }
        return rewriter_.finish();
    }

  private:
    /// The constant that a getitem of a folded call reads.
    std::optional<NodeRef> folded_item(const Node& node) const {
        const std::optional<ValueRef> read = item_read(node);
        const auto found = read ? results_.find(read->node) : results_.end();
        if (found == results_.end()) return std::nullopt;
        return found->second.at(static_cast<std::size_t>(read->index));
    }

    bool foldable(const Node& node) const {
        if (!is_op_call(node)) return false;
        const RegisteredOp* op = Registry::instance().op(node.target);
        if (!op || op->def->random) return false;
        for (const Param& param : op->schema.params)
            if (param.mutates) return false;
        for (const Arg& arg : node.args)
            if (has_graph(arg)) return false;
        for (const auto& [key, arg] : node.kwargs)
            if (has_graph(arg)) return false;
        std::int64_t elements = 0;
        for (const ValueMeta& meta : node.results)
            if (__builtin_add_overflow(elements, meta.numel(), &elements)) return false;
        if (elements > max_elements_) return false;
        bool constant = true;
        for_each_input(node, [&](NodeRef ref) {
            constant &= rewriter_.has(ref) && constant_of(rewriter_.mapped(ref)).kind == NodeKind::get_attr;
        });
        return constant;
    }

    const Node& constant_of(NodeRef ref) const { return rewriter_.graph().node(ref); }

    bool fold(NodeId id, const Node& node) {
        Graph call;
        call.dialect = rewriter_.from().dialect;
        call.opset_imports = rewriter_.from().opset_imports;
        std::map<NodeId, NodeRef> operands;
        for_each_input(node, [&](NodeRef ref) {
            if (operands.count(ref.id)) return;
            const std::string& target = constant_of(rewriter_.mapped(ref)).target;
            operands[ref.id] = call.get_attr(target, rewriter_.graph().attributes.at(target));
        });
        const NodeRef result = call.add(map_inputs(node, [&](NodeRef ref) { return Arg(operands.at(ref.id)); }));
        call.output(add_results(call, result));
        std::vector<Tensor> values;
        try {
            values = evaluate(call, {});
        } catch (const Error&) {
            return false;  // whoever runs the graph meets the same error, with more to say about it
        }
        return store(id, node, values);
    }

    /// Constants in place of the call; not when their metas are not those that the rest of the graph was inferred from.
    bool store(NodeId id, const Node& node, const std::vector<Tensor>& values) {
        for (std::size_t i = 0; i < values.size(); ++i) {
            const ValueMeta& meta = node.results[i];
            if (values[i].dtype() != meta.dtype || values[i].sizes() != meta.sizes ||
                values[i].strides() != meta.strides)
                return false;
        }
        std::vector<NodeRef> constants;
        for (std::size_t i = 0; i < values.size(); ++i) {
            const NodeRef ref = rewriter_.graph().get_attr(node.name + (i ? '_' + std::to_string(i) : ""), values[i]);
            Node& constant = rewriter_.graph().nodes[static_cast<std::size_t>(ref.id)];
            constant.stack = node.stack;
            constant.module_path = node.module_path;
            constants.push_back(ref);
        }
        if (constants.size() == 1) rewriter_.replace(id, constants[0]);
        results_[id] = std::move(constants);
        return true;
    }

    Rewriter rewriter_;
    const std::int64_t max_elements_;
    std::map<NodeId, std::vector<NodeRef>> results_;  ///< of folded calls, by old id
};

}  // namespace

Graph fold_constants(const Graph& graph, std::int64_t max_elements) { return dce(Folder(graph, max_elements).run()); }

}  // namespace whittle
