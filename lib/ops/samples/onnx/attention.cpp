// Samples of lib/ops/onnx/attention.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

/// Most calls are of a batch of two with two heads each, three queries and five keys.
Samples attention_samples(DType dtype) {
    const Tensor q = random(dtype, {2, 2, 3, 4}), k = random(dtype, {2, 2, 5, 4}, 2),
                 v = random(dtype, {2, 2, 5, 6}, 3);
    const Tensor mask = random(dtype, {2, 1, 3, 5}, 4), valid = integers({2, 5});
    const Tensor rows = values(DType::boolean, {1, 1, 0, 1, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1}, {3, 5});
    const Tensor past_key = random(dtype, {2, 2, 4, 4}, 5), past_value = random(dtype, {2, 2, 4, 6}, 6);
    Samples result = {
        at_opset(23, "plain", {q, k, v}),
        at_opset(23, "scale", {q, k, v}, {{"scale", 0.25}}),
        at_opset(23, "causal", {q, k, v}, {{"is_causal", 1}}),
        at_opset(23, "float mask, causal", {q, k, v, mask}, {{"is_causal", 1}}),
        at_opset(23, "bool mask, one row hidden", {q, k, v, rows}),
        at_opset(23, "past, causal", {q, k, v, {}, past_key, past_value}, {{"is_causal", 1}, {"num_outputs", 3}}),
        at_opset(23, "softmax in f64", {q, k, v}, {{"softmax_precision", info_of(DType::f64).onnx}}),
        at_opset(24, "short mask", {q, k, v, random(dtype, {3, 2}, 4)}),
        at_opset(24, "padding", {q, k, v, {}, {}, {}, valid}),
        at_opset(24, "padding, causal", {q, k, v, {}, {}, {}, valid}, {{"is_causal", 1}})};
    for (const int mode : {0, 1, 2, 3})
        result.push_back(at_opset(23, "stage " + std::to_string(mode), {q, k, v, mask},
                                  {{"qk_matmul_output_mode", mode}, {"softcap", 2.0}, {"num_outputs", 4}}));
    const auto grouped = [&](const std::string& label, const Sizes& query, const Sizes& key, const Kwargs& kwargs) {
        result.push_back(
            at_opset(23, label, {random(dtype, query), random(dtype, key, 2), random(dtype, key, 3)}, kwargs));
    };
    grouped("grouped heads", {1, 4, 2, 3}, {1, 2, 3, 3}, {});
    grouped("three dimensions", {2, 2, 12}, {2, 3, 6}, {{"kv_num_heads", 2}, {"q_num_heads", 4}});
    grouped("no keys", {1, 2, 2, 3}, {1, 2, 0, 3}, {});
    return result;
}

Samples rotary_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 2, 3, 4}), wide = random(dtype, {2, 2, 3, 6});
    const Tensor position = values(DType::i64, {0, 2, 1, 3, 3, 0}, {2, 3});
    const Tensor cosine = uniform(dtype, {4, 2}, -1, 1), sine = uniform(dtype, {4, 2}, -1, 1, 2);  // by position
    const Tensor cosines = uniform(dtype, {2, 3, 2}, -1, 1), sines = uniform(dtype, {2, 3, 2}, -1, 1, 2);
    return {at_opset(23, "positions", {x, cosine, sine, position}),
            at_opset(23, "positions, three dimensions", {random(dtype, {2, 3, 8}), cosine, sine, position},
                     {{"num_heads", 2}}),
            at_opset(23, "angles", {x, cosines, sines}),
            at_opset(23, "interleaved", {x, cosines, sines}, {{"interleaved", 1}}),
            at_opset(23, "part", {wide, cosine, sine, position}, {{"rotary_embedding_dim", 4}}),
            at_opset(23, "part, interleaved", {wide, cosine, sine, position},
                     {{"interleaved", 1}, {"rotary_embedding_dim", 4}})};
}

Samples tensor_scatter_samples(DType dtype) {
    const Tensor past = ramp(dtype, {2, 3, 4, 2}), update = random(dtype, {2, 3, 2, 2});
    return {at_opset(24, "from the first", {past, update}), at_opset(24, "linear", {past, update, integers({1, 2})}),
            at_opset(24, "circular", {past, update, integers({3, 0})}, {{"mode", "circular"}}),
            at_opset(24, "axis", {ramp(dtype, {2, 3, 2}), random(dtype, {2, 1, 2}), integers({2, 0})}, {{"axis", 1}})};
}

}  // namespace

Table onnx_attention_table() {
    return {
        {{"onnx.Attention"}, attention_samples},
        {{"onnx.RotaryEmbedding"}, rotary_samples},
        {{"onnx.TensorScatter"}, tensor_scatter_samples},
    };
}

}  // namespace whittle::samples
