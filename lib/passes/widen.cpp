#include "passes/widen.h"

#include <algorithm>
#include <map>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "graph/text.h"
#include "ops/aten/random.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

DType widened(DType dtype) { return is_complex(dtype) ? DType::c128 : is_floating(dtype) ? DType::f64 : dtype; }

/// The same strides: as_strided reads memory.
Tensor widened(const Tensor& tensor) {
    const DType dtype = widened(tensor.dtype());
    if (dtype == tensor.dtype()) return tensor;
    Tensor result = tensor.to(dtype);
    if (!tensor.is_contiguous() && tensor.numel() > 0) {
        std::int64_t low = 0, high = 0;
        for (std::size_t d = 0; d < tensor.sizes().size(); d++) {
            const std::int64_t reach = (tensor.sizes()[d] - 1) * tensor.strides()[d];
            (reach < 0 ? low : high) += reach;
        }
        const Tensor memory = tensor.as_strided({high - low + 1}, {1}, tensor.offset() + low).to(dtype);
        result = memory.as_strided(tensor.sizes(), tensor.strides(), -low);
    }
    return result.with_requires_grad(tensor.requires_grad());
}

/// A TensorProto.DataType.
void widen_code(Arg& arg) {
    if (auto* code = std::get_if<std::int64_t>(&arg.value))
        if (const auto dtype = dtype_from_onnx(*code)) *code = info_of(widened(*dtype)).onnx;
}

void widen_arg(Arg& arg) {
    if (auto* dtype = std::get_if<DType>(&arg.value)) *dtype = widened(*dtype);
    if (auto* list = std::get_if<ArgList>(&arg.value))
        for (Arg& item : *list) widen_arg(item);
}

void widen_arguments(Node& node) {
    const RegisteredOp* op = Registry::instance().op(node.target);
    for (Arg& arg : node.args) widen_arg(arg);
    for (auto& [key, arg] : node.kwargs) {
        widen_arg(arg);
        if (const Param* param = op ? op->schema.param(key) : nullptr; param && param->data_type) widen_code(arg);
    }
}

/// A view, or a copy of one, whose sizes follow from how wide elements are sees bytes.
void check_view(const Node& call, const std::vector<ValueMeta>& before) {
    const RegisteredOp* op = Registry::instance().op(call.target);
    if (op) op = Registry::instance().op(op->record());
    if (!op || op->schema.returns.empty() || op->schema.returns.front().alias.empty()) return;
    for (std::size_t i = 0; i < std::min(before.size(), call.results.size()); i++)
        if (call.results[i].sizes != before[i].sizes)
            throw Error("found a view of sizes " + to_string(call.results[i].sizes) + ", expected a view of sizes " +
                        to_string(before[i].sizes));
}

/// A call whose result the op makes narrow all the same (ConstantOfShape of an f32 value) is converted.
NodeRef converted(Graph& graph, NodeRef ref) {
    const Node node = graph.node(ref);
    if (node.results.size() != 1) return ref;
    GraphBuilder builder(graph);
    builder.set_origin(node);
    return builder.convert(builder.value(ref), widened(node.meta().dtype)).ref;
}

}  // namespace

Widened widen(const Graph& from) {
    Rewriter rewriter(from);
    Graph& graph = rewriter.graph();
    for (auto& [name, value] : graph.attributes) value = widened(value);
    for (auto& [name, nested] : graph.subgraphs) nested = std::make_shared<const Graph>(widen(*nested).graph);
    for (NodeId id = 0; id < static_cast<NodeId>(from.nodes.size()); id++) {
        Node& node = graph.nodes[static_cast<std::size_t>(rewriter.copy(id).id)];
        if (node.kind == NodeKind::output) continue;
        if (node.kind == NodeKind::placeholder) node.results[0].dtype = widened(node.meta().dtype);
        if (node.kind == NodeKind::get_attr) node.results = {ValueMeta::of(graph.attributes.at(node.target))};
        if (node.kind != NodeKind::call) continue;
        widen_arguments(node);
        try {
            const std::vector<ValueMeta> before = std::exchange(node.results, infer(graph, node));
            check_view(node, before);
        } catch (const Error& error) {
            throw Error({error.where().file, place_of(from, from.nodes[static_cast<std::size_t>(id)])},
                        "cannot compute in f64: " + error.message());
        }
        rewriter.replace(id, converted(graph, rewriter.mapped({id})));
    }
    std::vector<std::string> names;  // finish() may move attributes to the front
    for (NodeId id = 0; id < static_cast<NodeId>(from.nodes.size()); id++)
        names.push_back(graph.node(rewriter.mapped({id})).name);
    Widened result{rewriter.finish(), {}};
    result.graph.failure.reset();
    std::map<std::string_view, NodeId> positions;
    for (const Node& node : result.graph.nodes) positions[node.name] = static_cast<NodeId>(positions.size());
    for (const std::string& name : names) result.of.push_back({positions.at(name)});
    return result;
}

std::vector<Tensor> widen(std::span<const Tensor> inputs) {
    std::vector<Tensor> result;
    for (const Tensor& input : inputs) result.push_back(widened(input));
    return result;
}

std::optional<std::vector<Tensor>> evaluate_exactly(const Graph& graph, std::span<const Tensor> inputs,
                                                    std::string* why) {
    try {
        seed_random_ops(0);
        return evaluate(widen(graph).graph, widen(inputs));
    } catch (const Error& error) {
        if (why) *why = error.what();
        return std::nullopt;
    }
}

}  // namespace whittle
