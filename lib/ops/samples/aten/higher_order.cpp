// Samples of lib/ops/aten/higher_order.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// A nested graph of the given placeholders that returns op(placeholders…) and then some of the placeholders.
std::shared_ptr<const Graph> body(const std::string& name, const std::vector<ValueMeta>& metas, Node call,
                                  const std::vector<std::size_t>& forwarded = {}) {
    Graph graph{.name = name};
    std::vector<NodeRef> refs, outputs;
    for (const ValueMeta& meta : metas) refs.push_back(graph.placeholder("p", meta));
    if (!call.target.empty()) outputs.push_back(graph.add(std::move(call)));
    for (const std::size_t i : forwarded) outputs.push_back(refs[i]);
    graph.output(outputs);
    return std::make_shared<const Graph>(std::move(graph));
}

Samples cond_samples(DType) {
    const Tensor a = ramp(DType::f32, {2, 3}), b = random(DType::f32, {2, 3});
    const ValueMeta meta = ValueMeta::contiguous(DType::f32, {2, 3});
    const auto sum = body("sum", {meta, meta}, {.target = "aten.add.Tensor", .args = {t(0), t(1)}, .results = {meta}});
    const auto second = body("second", {meta, meta}, {}, {1});
    Samples result;
    for (const bool condition : {true, false})
        result.push_back({.label = condition ? "true" : "false",
                          .tensors = {Tensor::of(Scalar(condition), DType::boolean), a, b},
                          .args = {t(0), GraphRef{"sum"}, GraphRef{"second"}, ArgList{t(1), t(2)}},
                          .subgraphs = {{"sum", sum}, {"second", second}}});
    return result;
}

/// While all elements are below a captured limit, the carried value grows by a captured step.
Samples while_loop_samples(DType dtype) {
    const ValueMeta meta = ValueMeta::contiguous(dtype, {}), flag = ValueMeta::contiguous(DType::boolean, {});
    const auto below =
        body("below", {meta, meta, meta}, {.target = "aten.lt.Tensor", .args = {t(0), t(2)}, .results = {flag}});
    const auto grow =
        body("grow", {meta, meta, meta}, {.target = "aten.add.Tensor", .args = {t(0), t(1)}, .results = {meta}});
    Samples result;
    for (const int trips : {0, 1, 5})
        result.push_back({.label = std::to_string(trips) + " trips",
                          .tensors = {scalar(dtype, 3), scalar(dtype, 2), scalar(dtype, 3 + 2 * trips)},
                          .args = {GraphRef{"below"}, GraphRef{"grow"}, ArgList{t(0)}, ArgList{t(1), t(2)}},
                          .subgraphs = {{"below", below}, {"grow", grow}}});
    return result;
}

/// Each row plus a captured one, and the rows themselves.
Samples map_samples(DType dtype) {
    const ValueMeta row = ValueMeta::contiguous(dtype, {3});
    const auto add =
        body("add", {row, row}, {.target = "aten.maximum.default", .args = {t(0), t(1)}, .results = {row}}, {0});
    Samples result;
    for (const std::int64_t rows : {4, 1, 0})
        result.push_back({.label = std::to_string(rows) + " rows",
                          .tensors = {random(dtype, {rows, 3}), ramp(dtype, {3})},
                          .args = {GraphRef{"add"}, ArgList{t(0)}, ArgList{t(1)}},
                          .subgraphs = {{"add", add}}});
    return result;
}

/// The largest row so far, times a captured one, carried and kept of each row.
Samples scan_graph_samples(DType dtype) {
    const ValueMeta row = ValueMeta::contiguous(dtype, {3});
    Graph graph{.name = "largest"};
    std::vector<NodeRef> given;
    for (int i = 0; i < 3; ++i) given.push_back(graph.placeholder("p", row));
    const NodeRef largest =
        graph.add({.target = "aten.maximum.default", .args = {Arg(given[0]), Arg(given[1])}, .results = {row}});
    const NodeRef scaled =
        graph.add({.target = "aten.mul.Tensor", .args = {Arg(largest), Arg(given[2])}, .results = {row}});
    graph.output(std::vector<NodeRef>{largest, scaled});
    const auto body = std::make_shared<const Graph>(std::move(graph));
    Samples result;
    for (const std::int64_t rows : {4, 1, 0})
        result.push_back({.label = std::to_string(rows) + " rows",
                          .tensors = {ramp(dtype, {3}), random(dtype, {rows, 3}), ramp(dtype, {3})},
                          .args = {GraphRef{"largest"}, ArgList{t(0)}, ArgList{t(1)}, ArgList{t(2)}},
                          .subgraphs = {{"largest", body}}});
    return result;
}

}  // namespace

Table higher_order_table() {
    return {{{"higher_order.cond"}, cond_samples},
            {{"higher_order.while_loop"}, while_loop_samples},
            {{"higher_order.map"}, map_samples},
            {{"higher_order.scan"}, scan_graph_samples}};
}

}  // namespace whittle::samples
