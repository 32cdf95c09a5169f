// Samples of lib/ops/onnx/control.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

/// Makes a nested graph of the given placeholders whose results are some of them.
std::shared_ptr<const Graph> forwarding(const std::string& name, const std::vector<ValueMeta>& metas,
                                        const std::vector<std::size_t>& results, std::int64_t opset = 17) {
    Graph graph{.name = name, .dialect = "onnx", .opset_imports = {{"", opset}}};
    std::vector<NodeRef> refs, outputs;
    for (const ValueMeta& meta : metas) refs.push_back(graph.placeholder("p", meta));
    for (const std::size_t i : results) outputs.push_back(refs[i]);
    graph.output(outputs);
    return std::make_shared<const Graph>(std::move(graph));
}

Samples if_samples(DType) {
    const Tensor a = ramp(DType::f32, {2, 3}), b = random(DType::f32, {2, 3});
    const std::vector<ValueMeta> metas(2, ValueMeta::contiguous(DType::f32, {2, 3}));
    Samples result;
    for (const bool condition : {true, false}) {
        result.push_back(at_opset(17, condition ? "then" : "else", {scalar(DType::boolean, condition)},
                                  {{"then_branch", GraphRef{"first"}},
                                   {"else_branch", GraphRef{"second"}},
                                   {"captured", ArgList{t(1), t(2)}}}));
        result.back().tensors.insert(result.back().tensors.end(), {a, b});
        result.back().subgraphs = {{"first", forwarding("first", metas, {0})},
                                   {"second", forwarding("second", metas, {1})}};
    }
    return result;
}

/// Swaps two carried values each turn and collects the first.
Samples loop_samples(DType dtype) {
    const ValueMeta meta = ValueMeta::contiguous(dtype, {2, 3});
    const auto body = forwarding(
        "body", {ValueMeta::contiguous(DType::i64, {}), ValueMeta::contiguous(DType::boolean, {}), meta, meta},
        {1, 3, 2, 2});
    Samples result;
    for (const int trips : {0, 1, 3})
        result.push_back({.label = std::to_string(trips) + " trips",
                          .tensors = {scalar(DType::i64, trips), ramp(dtype, {2, 3}), random(dtype, {2, 3})},
                          .args = {t(0), Arg(), ArgList{t(1), t(2)}},
                          .kwargs = {{"body", GraphRef{"body"}}},
                          .constants = {0},
                          .opset_imports = {{"", 17}},
                          .subgraphs = {{"body", body}}});
    return result;
}

/// The state becomes the element and the old state is collected: a sequence delayed by one.
Samples scan_samples(DType dtype) {
    const auto delayed = [&](const std::string& label, std::int64_t opset, const Operands& operands, Kwargs kwargs) {
        kwargs.insert(kwargs.begin(), {{"body", GraphRef{"body"}}, {"num_scan_inputs", 1}});
        Sample sample = list_at_opset(opset, label, operands, std::move(kwargs));
        const ValueMeta meta = ValueMeta::contiguous(dtype, {3});
        sample.subgraphs = {{"body", forwarding("body", {meta, meta}, {1, 0}, opset)}};
        return sample;
    };
    return {delayed("forward", 17, {ramp(dtype, {3}), random(dtype, {4, 3})}, {}),
            delayed("backward, axis 1", 17, {ramp(dtype, {3}), random(dtype, {3, 4})},
                    {{"scan_input_axes", Arg::ints({1})},
                     {"scan_input_directions", Arg::ints({1})},
                     {"scan_output_axes", Arg::ints({-1})},
                     {"scan_output_directions", Arg::ints({1})}}),
            delayed("a batch, backward", 8, {{}, ramp(dtype, {2, 3}), random(dtype, {2, 4, 3})},
                    {{"directions", Arg::ints({1})}})};
}

}  // namespace

Table onnx_control_table() {
    return {
        {{"onnx.If"}, if_samples},
        {{"onnx.Loop"}, loop_samples},
        {{"onnx.Scan"}, scan_samples},
    };
}

}  // namespace whittle::samples
