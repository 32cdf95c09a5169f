#include "passes/mixed.h"

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "base/error.h"
#include "graph/graph.h"
#include "graph/value_ref.h"
#include "ops/core/builder.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

bool has_half(DType dtype) { return dtype == DType::f32 || dtype == DType::f16 || dtype == DType::bf16; }

bool any_has_half(const std::vector<ValueMeta>& metas) {
    return std::ranges::any_of(metas, [](const ValueMeta& meta) { return has_half(meta.dtype); });
}

void retype(Arg& arg, DType dtype) {
    if (auto* named = std::get_if<DType>(&arg.value); named && has_half(*named)) *named = dtype;
    if (auto* list = std::get_if<ArgList>(&arg.value))
        for (Arg& item : *list) retype(item, dtype);
}

/// Also a TensorProto.DataType.
void retype_arguments(Node& call, DType dtype) {
    const RegisteredOp* const op = Registry::instance().op(call.target);
    for (Arg& arg : call.args) retype(arg, dtype);
    for (auto& [key, arg] : call.kwargs) {
        retype(arg, dtype);
        const Param* const param = op ? op->schema.param(key) : nullptr;
        if (auto* code = param && param->data_type ? std::get_if<std::int64_t>(&arg.value) : nullptr)
            if (const auto named = dtype_from_onnx(*code); named && has_half(*named)) *code = info_of(dtype).onnx;
    }
}

class Mixer {
  public:
    Mixer(const Graph& from, DType half, const std::set<NodeId>& kept)
        : from_(from), half_(half), kept_(kept), rewriter_(from) {}

    MixedPrecision run() {
        for (NodeId id = 0; id < static_cast<NodeId>(from_.nodes.size()); id++) {
            const Node& node = from_.node({id});
            switch (node.kind) {
                case NodeKind::placeholder:
                    rewriter_.copy(id);
                    break;
                case NodeKind::get_attr:  // in the dtypes that its readers want
                    break;
                case NodeKind::call:
                    is_getitem(node) ? add_item(id) : add_call(id);
                    break;
                case NodeKind::output:
                    add_output(node);
                    break;
            }
        }
        MixedPrecision made{rewriter_.finish(), std::move(halved_)};
        made.graph.failure.reset();
        return made;
    }

  private:
    Graph& to() { return rewriter_.graph(); }

    /// The value, converted if it has another dtype of those that has_half().
    NodeRef value(NodeRef old, DType dtype) {
        const auto [found, added] = values_.try_emplace({old.id, dtype});
        if (added) found->second = converted(old, dtype);
        return found->second;
    }
    NodeRef converted(NodeRef old, DType dtype) {
        const Node& node = from_.node(old);
        if (node.kind == NodeKind::get_attr) {
            const Tensor& weight = from_.attributes.at(node.target);
            if (has_half(weight.dtype()) && weight.dtype() != dtype)
                return to().get_attr(node.target + "_" + std::string(name(dtype)), weight.to(dtype));
            return rewriter_.has(old) ? rewriter_.mapped(old) : rewriter_.copy(old.id);
        }
        GraphBuilder builder(to());
        builder.set_origin(node);
        const NodeRef now = rewriter_.mapped(old);
        return has_half(to().node(now).meta().dtype) ? builder.convert(builder.value(now), dtype).ref : now;
    }

    bool may_be_half(NodeId id) const {
        const Node& call = from_.node({id});
        if (kept_.contains(id) || has_nested_graph(call) || !Registry::instance().op(call.target)) return false;
        bool any = any_has_half(call.results);
        for_each_input(call, [&](NodeRef ref) { any = any || any_has_half(from_.node(ref).results); });
        return any;
    }

    /// What the op gives for operands in the half type; nothing where it refuses them.
    std::optional<std::vector<ValueMeta>> half_results(const Node& call) const {
        Graph alone = blank_graph(from_, "alone");
        std::map<NodeId, NodeRef> operands;
        for_each_input(call, [&](NodeRef ref) {
            if (operands.contains(ref.id)) return;
            const Node& operand = from_.node(ref);
            ValueMeta meta = operand.meta();
            const bool known = operand.kind == NodeKind::get_attr && !is_floating(meta.dtype);
            if (has_half(meta.dtype)) meta.dtype = half_;
            operands[ref.id] = known ? alone.get_attr(operand.target, from_.attributes.at(operand.target))
                                     : alone.placeholder(operand.name, meta);
        });
        Node half = map_inputs(call, [&](NodeRef ref) { return Arg(operands.at(ref.id)); });
        retype_arguments(half, half_);
        try {
            return infer(alone, half);
        } catch (const Error&) {
            return std::nullopt;
        }
    }

    void add_call(NodeId id) {
        const Node& call = from_.node({id});
        const auto in_half = may_be_half(id) ? half_results(call) : std::nullopt;
        const DType dtype = in_half ? half_ : DType::f32;
        Node made = map_inputs(call, [&](NodeRef ref) { return Arg(value(ref, dtype)); });
        retype_arguments(made, dtype);
        if (in_half) {
            made.results = *in_half;
            halved_.push_back(id);
        } else {
            for (ValueMeta& meta : made.results)
                if (has_half(meta.dtype)) meta.dtype = DType::f32;
        }
        rewriter_.work_on(id);
        rewriter_.replace(id, to().add(std::move(made)));
    }

    void add_item(NodeId id) {
        const ValueRef read = *item_read(from_.node({id}));
        const NodeRef item = rewriter_.copy(id);
        const Node& producer = to().node(rewriter_.mapped({read.node}));
        to().nodes[static_cast<std::size_t>(item.id)].results = {
            producer.results.at(static_cast<std::size_t>(read.index))};
    }

    void add_output(const Node& output) {
        std::vector<NodeRef> results;
        for (const Arg& arg : output.args) results.push_back(value(*arg.node(), from_.node(*arg.node()).meta().dtype));
        to().output(results);
    }

    const Graph& from_;
    const DType half_;
    const std::set<NodeId>& kept_;
    Rewriter rewriter_;
    std::map<std::pair<NodeId, DType>, NodeRef> values_;
    std::vector<NodeId> halved_;
};

}  // namespace

MixedPrecision mixed(const Graph& graph, DType half, const std::set<NodeId>& kept) {
    if (has_writes(graph)) throw Error("the graph writes to memory, expected a graph without writes");
    return Mixer(graph, half, kept).run();
}

}  // namespace whittle
