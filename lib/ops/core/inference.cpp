// What the results of a call are, from its operands: by the op's own `infer`, or by expanding a composite.
#include <optional>

#include "base/error.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/core/known.h"
#include "ops/core/layout.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// Result `i` of the node that a getitem call reads.
ValueMeta infer_getitem(const Graph& graph, const Node& call) {
    const ValueRef read = item_read(call).value();
    const Node& node = graph.node({read.node});
    if (read.index < 0 || read.index >= static_cast<int>(node.results.size()))
        throw Error("getitem: found index " + std::to_string(read.index) + " into the results of %" + node.name +
                    ", expected a nonnegative index below " + std::to_string(node.results.size()));
    return node.results[static_cast<std::size_t>(read.index)];
}

const RegisteredOp& kernel(const Node& call) {
    const RegisteredOp* op = kernel_of(call.target);
    return op ? *op : Registry::instance().require(call.target);
}

DType dtype_in(const ValueMeta& meta) { return meta.dtype; }
DType dtype_in(const Tensor& tensor) { return tensor.dtype(); }
DType dtype_in(const V& value) { return value.meta.dtype; }

/// Of the tensor "self" or "input", else of the first tensor among the arguments, if there is one.
template <class T>
std::optional<DType> main_dtype(const Schema& schema, const Arguments<T>& arguments) {
    for (const char* name : {"self", "input"}) {
        const Param* param = schema.param(name);
        if (!param || param->type != ParamType::tensor || !arguments.has(name)) continue;
        const auto operand = arguments.operand(name);
        if (const T* tensor = std::get_if<T>(&operand)) return dtype_in(*tensor);
    }
    for (const Param& param : schema.params) {
        if (param.type == ParamType::tensor && arguments.has(param.name)) {
            const auto operand = arguments.operand(param.name);
            if (const T* tensor = std::get_if<T>(&operand)) return dtype_in(*tensor);
        }
        if (param.type == ParamType::tensor_list && arguments.has(param.name))
            for (const std::optional<T>& element : arguments.optional_tensors(param.name))
                if (element) return dtype_in(*element);
    }
    return std::nullopt;
}

}  // namespace

template <class T>
void check_main_dtype(const RegisteredOp& op, const Arguments<T>& arguments) {
    const std::optional<DType> main = main_dtype(op.schema, arguments);
    if (!main || (op.def->dtypes & set_of(*main))) return;
    std::string allowed;
    for (const DType dtype : kAllDTypes)
        if (op.def->dtypes & set_of(dtype)) allowed += ' ' + std::string(name(dtype));
    throw Error(std::string(op.name) + " is not defined for " + std::string(name(*main)),
                "convert the operand to a dtype that the op supports:" + allowed);
}
template void check_main_dtype(const RegisteredOp&, const Arguments<Tensor>&);

namespace {

Expansion expand_by(DecomposeFn parts, const Graph& graph, const Node& call, const KnownValue& known, bool attributes) {
    const RegisteredOp& op = kernel(call);
    WHITTLE_CHECK(parts != nullptr, call.target + " has no decomposition");
    Expansion result;
    Graph& body = result.graph;
    body.name = identifier(call.target);
    body.opset_imports = graph.opset_imports;
    body.subgraphs = graph.subgraphs;

    GraphBuilder builder(body);
    std::map<NodeId, V> mapped;
    for_each_input(call, [&](NodeRef ref) {
        if (mapped.count(ref.id) != 0) return;
        const Node& node = graph.node(ref);
        if (node.kind == NodeKind::get_attr && attributes) {
            mapped[ref.id] = builder.value(body.get_attr(node.target, graph.attributes.at(node.target)));
        } else if (const Tensor* value = known ? known(ref) : nullptr) {
            mapped[ref.id] = builder.value(body.get_attr(node.name, *value));
        } else {
            mapped[ref.id] = builder.value(body.placeholder(node.name, node.meta()));
            result.operands.push_back(ref);
        }
    });
    const auto resolve = [&](NodeRef ref) { return mapped.at(ref.id); };
    const Call arguments(builder, op.schema, call, resolve, Call::RunGraph(), &graph);
    check_main_dtype(op, arguments);
    body.output(refs_of(parts(arguments)));
    return result;
}

}  // namespace

Expansion expand(const Graph& graph, const Node& call) { return expand(graph, call, {}); }

Expansion expand(const Graph& graph, const Node& call, const KnownValue& known, bool attributes) {
    return expand_by(kernel(call).def->decompose, graph, call, known, attributes);
}

Expansion expand_for_bound(const Graph& graph, const Node& call, const KnownValue& known) {
    const OpDef& op = *kernel(call).def;
    return expand_by(op.bound.parts ? op.bound.parts : op.decompose, graph, call, known, true);
}

namespace {

/// The operand, which takes what the functional op gives.
std::vector<ValueMeta> infer_in_place(const Graph& graph, const Node& call, const std::string& functional) {
    Node computed = call;
    computed.target = functional;
    const ValueMeta written = infer(graph, computed).at(0), &self = graph.node(written_operand(call)).meta();
    if (written.sizes != self.sizes)
        throw Error(call.target + ": found a result of sizes " + to_string(written.sizes) +
                    " to write into a tensor of sizes " + to_string(self.sizes) + ", expected equal sizes");
    return {self};
}

}  // namespace

std::vector<ValueMeta> infer(const Graph& graph, const Node& call) {
    if (is_getitem(call)) return {infer_getitem(graph, call)};
    if (const InPlaceForm* form = Registry::instance().in_place(call.target); form)
        return infer_in_place(graph, call, form->functional);
    const RegisteredOp& op = Registry::instance().require(call.target);
    const auto meta = [&](NodeRef ref) { return graph.node(ref).meta(); };
    try {
        if (op.def->infer) {
            const Arguments<ValueMeta> arguments(op.schema, call, meta, {}, &graph);
            check_main_dtype(op, arguments);
            std::vector<ValueMeta> results = op.def->infer(arguments);
            lay_out(op, arguments, results);
            return results;
        }
        WHITTLE_CHECK(op.def->decompose != nullptr, call.target + " has neither infer nor decompose");
        const Expansion expansion = expand(graph, call);
        std::vector<ValueMeta> results;
        for (const NodeId id : expansion.graph.outputs())
            results.push_back(expansion.graph.nodes[static_cast<std::size_t>(id)].meta());
        lay_out(op, Arguments<ValueMeta>(op.schema, call, meta, {}, &graph), results);
        return results;
    } catch (const NeedsConstant&) {
        if (call.results.empty()) throw;
        return call.results;  // their sizes are what somebody observed
    }
}

void infer_all(Graph& graph) {
    for (Node& node : graph.nodes) {
        if (node.kind == NodeKind::get_attr) node.results = {ValueMeta::of(graph.attributes.at(node.target))};
        if (node.kind != NodeKind::call) continue;
        try {
            node.results = infer(graph, node);
        } catch (Error& error) {
            error.locate({error.where().file, place_of(graph, node)});
            throw;
        }
    }
}

}  // namespace whittle
