// Samples of lib/ops/onnx/matmul.cpp.
#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

Samples det_samples(DType dtype) {
    return {at_opset(11, "2 by 2", {values(dtype, {0, 2, 3, 4}, {2, 2})}),  // its first pivot is in the second row
            at_opset(11, "batch", {random(dtype, {2, 1, 3, 3})}),
            at_opset(11, "singular", {values(dtype, {0, 0, 0, 1}, {2, 2})}),
            at_opset(11, "1 by 1", {values(dtype, {-2.5}, {1, 1})}),
            at_opset(11, "no rows", {Tensor(dtype, {2, 0, 0})})};
}

Samples matmul_samples(DType dtype) {
    const auto pair = [&](const std::string& label, const Sizes& a, const Sizes& b) {
        return at_opset(13, label, {random(dtype, a), random(dtype, b, 2)});
    };
    return {pair("matrices", {2, 3}, {3, 4}), pair("vectors", {3}, {3}), pair("batches", {2, 1, 2, 3}, {4, 3, 2}),
            pair("matrix, vector", {2, 3}, {3})};
}

Samples gemm_samples(DType dtype) {
    const Tensor a = random(dtype, {2, 3}), b = random(dtype, {3, 4}, 2), c = random(dtype, {4}, 3);
    return {at_opset(13, "plain", {a, b}),
            at_opset(13, "transposed", {random(dtype, {3, 2}), random(dtype, {4, 3}, 2), c},
                     {{"alpha", 2.0}, {"beta", 3.0}, {"transA", 1}, {"transB", 1}}),
            at_opset(7, "0-d C", {a, b, scalar(dtype, 2)})};
}

Samples einsum_samples(DType dtype) {
    const Tensor a = random(dtype, {2, 3}), b = random(dtype, {3, 2}, 2);
    return {list_at_opset(12, "product", {a, b}, {{"equation", "ij,jk->ik"}}),
            list_at_opset(12, "implicit", {a}, {{"equation", "ji"}})};
}

}  // namespace

Table onnx_matmul_table() {
    return {
        {{"onnx.Det"}, det_samples},
        {{"onnx.Einsum"}, einsum_samples},
        {{"onnx.Gemm"}, gemm_samples},
        {{"onnx.MatMul"}, matmul_samples},
    };
}

}  // namespace whittle::samples
