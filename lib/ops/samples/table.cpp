#include "ops/samples/table.h"

#include <algorithm>
#include <map>

#include "base/error.h"
#include "ops/samples/families.h"

namespace whittle {

namespace samples {
namespace {

constexpr FamilyTable* kFamilies[] = {
    unary_table,
    activation_table,
    arithmetic_table,
    division_table,
    power_table,
    special_table,
    activation_form_table,
    view_form_table,
    linalg_form_table,
    arithmetic_form_table,
    complex_table,
    fft_table,
    fft_form_table,
    compare_table,
    select_table,
    ternary_table,
    cast_table,
    reduction_table,
    extremum_table,
    statistic_table,
    softmax_table,
    norm_table,
    batch_norm_table,
    view_table,
    split_table,
    reshape_table,
    join_table,
    pad_table,
    rearrange_table,
    gather_table,
    index_table,
    scatter_table,
    index_slice_table,
    embedding_bag_table,
    ctc_table,
    window_table,
    histogram_table,
    fake_quantize_table,
    quantized_decomposed_table,
    slice_scatter_table,
    creation_table,
    range_table,
    triangle_table,
    scan_table,
    sort_table,
    search_table,
    matmul_table,
    linear_table,
    attention_table,
    conv_table,
    conv_form_table,
    pool_table,
    avg_pool_table,
    patch_table,
    upsample_table,
    grid_table,
    distance_table,
    rnn_table,
    packed_table,
    einsum_table,
    assertion_table,
    data_size_table,
    random_table,
    dropout_table,
    higher_order_table,
    loss_table,
    loss_form_table,
    margin_loss_table,
    similarity_table,
    linalg_table,
    factorization_table,
    backward_table,
    unary_backward_table,
    pool_backward_table,
    grid_backward_table,
    upsample_backward_table,
    layer_backward_table,
    onnx_activation_table,
    onnx_attention_table,
    onnx_binary_table,
    onnx_cast_table,
    onnx_control_table,
    onnx_conv_table,
    onnx_count_table,
    onnx_create_table,
    onnx_detection_table,
    onnx_index_table,
    onnx_loss_table,
    onnx_matmul_table,
    onnx_norm_table,
    onnx_slice_table,
    onnx_pool_table,
    onnx_quantize_table,
    onnx_random_table,
    onnx_reduce_table,
    onnx_resize_table,
    onnx_rnn_table,
    onnx_shape_table,
    onnx_signal_table,
    onnx_softmax_table,
    onnx_training_table,
    onnx_unary_table,
};

/// By name of the op.
const std::multimap<std::string_view, SamplesFn>& all() {
    static const auto all = [] {
        std::multimap<std::string_view, SamplesFn> result;
        for (FamilyTable* family : kFamilies)
            for (const OpSamples& row : family())
                for (const std::string_view op : row.ops) result.emplace(op, row.samples);
        return result;
    }();
    return all;
}

/// The sample with arguments by name where the op takes them so alone.
Sample with_keywords(const RegisteredOp& op, Sample sample) {
    const auto first = std::ranges::find_if(op.schema.params, &Param::keyword_only);
    if (first == op.schema.params.end()) return sample;
    const auto positional = static_cast<std::size_t>(first - op.schema.params.begin());
    for (std::size_t i = positional; i < std::min(sample.args.size(), op.schema.params.size()); ++i)
        sample.kwargs.emplace_back(op.schema.params[i].name, sample.args[i]);
    sample.args.resize(std::min(sample.args.size(), positional));
    return sample;
}

/// The sample with a number where the op takes one in the place of a tensor.
Sample with_numbers(const RegisteredOp& op, Sample sample) {
    for (std::size_t i = 0; i < std::min(sample.args.size(), op.schema.params.size()); ++i)
        if (op.schema.params[i].type == ParamType::scalar && sample.args[i].node()) sample.args[i] = Arg(2);
    Sample used = sample;
    used.tensors.clear();
    std::map<NodeId, NodeRef> kept;
    const Node call = map_inputs({.args = sample.args, .kwargs = sample.kwargs}, [&](NodeRef ref) {
        const auto [found, first] = kept.try_emplace(ref.id, NodeRef{static_cast<NodeId>(used.tensors.size())});
        if (first) used.tensors.push_back(sample.tensors.at(static_cast<std::size_t>(ref.id)));
        return Arg(found->second);
    });
    used.args = call.args;
    used.kwargs = call.kwargs;
    return used;
}

/// The first sample of the record that the op takes, too.
Samples derived_samples(const RegisteredOp& op, DType dtype) {
    const auto found = all().find(op.record());
    if (found == all().end()) return {};
    for (const Sample& given : found->second(dtype)) {
        Sample sample = with_keywords(op, with_numbers(op, given));
        try {
            bind_arguments(op.schema, {.args = sample.args, .kwargs = sample.kwargs});
            return {std::move(sample)};
        } catch (const Error&) {  // another of its samples leaves out what this op lacks
        }
    }
    return {};
}

}  // namespace
}  // namespace samples

Samples samples_of(const RegisteredOp& op, DType dtype) {
    const auto found = samples::all().find(op.name);
    return found == samples::all().end() ? samples::derived_samples(op, dtype) : found->second(dtype);
}

bool has_samples(const RegisteredOp& op) {
    return samples::all().contains(op.name) || samples::all().contains(op.record());
}

std::vector<std::string_view> sampled_ops() {
    std::vector<std::string_view> result;
    for (const auto& [op, samples] : samples::all()) result.push_back(op);
    return result;
}

}  // namespace whittle
