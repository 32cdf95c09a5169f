// ONNX's products of matrices: MatMul, Gemm, Einsum.
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// alpha A' B' + beta C, where ' is a transposition on demand. Integers have integer factors only.
Results gemm(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    NodeValue a = op.tensor("A"), b = op.tensor("B");
    if (rank_of(a) != 2 || rank_of(b) != 2)
        throw Error("found " + to_string(a.meta.sizes) + " and " + to_string(b.meta.sizes) + ", expected two matrices");
    if (op.integer("transA") != 0) a = op.permute(a, {1, 0});
    if (op.integer("transB") != 0) b = op.permute(b, {1, 0});
    const bool whole = !is_floating(a.meta.dtype);
    const auto factor = [&](const char* name) {
        const double value = op.number(name);
        if (whole && value != static_cast<double>(static_cast<std::int64_t>(value)))
            throw Error(std::string("found ") + name + " " + std::to_string(value) +
                        " of integers, expected an integer");
        return whole ? Arg(static_cast<std::int64_t>(value)) : Arg(value);
    };
    const Arg alpha = factor("alpha"), beta = factor("beta");
    if (!op.has("C")) {
        const NodeValue product = op("aten.mm.default", a, b);
        return {op.number("alpha") == 1 ? product.ref : op("aten.mul.Tensor", product, alpha).ref};
    }
    const NodeValue c = op.tensor("C");
    const Sizes sizes = {size_of_dim(a, 0), size_of_dim(b, 1)};
    if (broadcast_sizes(c.meta.sizes, sizes) != sizes)
        throw Error("found C of sizes " + to_string(c.meta.sizes) + ", expected sizes that broadcast to " +
                    to_string(sizes));
    return {builder.call("aten.addmm.default", {arg(c), arg(a), arg(b)}, {{"beta", beta}, {"alpha", alpha}}).ref};
}

Results einsum(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op("aten.einsum.default", arguments.text("equation"), arguments.tensors("Inputs")).ref};
}

std::vector<Sample> matmul_samples(DType dtype) {
    const auto pair = [&](const std::string& label, const Sizes& a, const Sizes& b) {
        return at_opset(13, {.label = label,
                             .tensors = {samples::random(dtype, a), samples::random(dtype, b, 2)},
                             .args = {t(0), t(1)}});
    };
    return {pair("matrices", {2, 3}, {3, 4}), pair("vectors", {3}, {3}), pair("batches", {2, 1, 2, 3}, {4, 3, 2}),
            pair("matrix, vector", {2, 3}, {3})};
}

std::vector<Sample> gemm_samples(DType dtype) {
    const Tensor a = samples::random(dtype, {2, 3}), b = samples::random(dtype, {3, 4}, 2),
                 c = samples::random(dtype, {4}, 3);
    return {at_opset(13, {.label = "plain", .tensors = {a, b}, .args = {t(0), t(1)}}),
            at_opset(13, {.label = "transposed",
                          .tensors = {samples::random(dtype, {3, 2}), samples::random(dtype, {4, 3}, 2), c},
                          .args = {t(0), t(1), t(2)},
                          .kwargs = {{"alpha", 2.0}, {"beta", 3.0}, {"transA", 1}, {"transB", 1}}}),
            at_opset(7, {.label = "0-d C", .tensors = {a, b, samples::scalar(dtype, 2)}, .args = {t(0), t(1), t(2)}})};
}

std::vector<Sample> einsum_samples(DType dtype) {
    const Tensor a = samples::random(dtype, {2, 3}), b = samples::random(dtype, {3, 2}, 2);
    return {
        at_opset(12, {.label = "product",
                      .tensors = {a, b},
                      .args = {Arg(ArgList{t(0), t(1)})},
                      .kwargs = {{"equation", "ij,jk->ik"}}}),
        at_opset(12,
                 {.label = "implicit", .tensors = {a}, .args = {Arg(ArgList{t(0)})}, .kwargs = {{"equation", "ji"}}})};
}

constexpr DTypeSet kProducts = kFloating | set_of(DType::i32) | set_of(DType::i64);

constexpr OpDef kOps[] = {
    {.name = "onnx.MatMul",
     .doc = "Matrix product, batches broadcast. onnx Operators.md#MatMul",
     .schema = "MatMul(Tensor A, Tensor B) -> Tensor",
     .dtypes = kProducts,
     .decompose = same_as_binary<"aten.matmul.default">,
     .samples = matmul_samples},
    {.name = "onnx.Gemm",
     .doc = "alpha A B + beta C. onnx Operators.md#Gemm",
     .schema = "Gemm(Tensor A, Tensor B, Tensor? C=None, *, float alpha=1.0, float beta=1.0, int transA=0, "
               "int transB=0) -> Tensor",
     .dtypes = kProducts,
     .decompose = gemm,
     .samples = gemm_samples},
    {.name = "onnx.Einsum",
     .doc = "Einstein's summation. onnx Operators.md#Einsum",
     .schema = "Einsum(Tensor[] Inputs, *, str equation) -> Tensor",
     .dtypes = kProducts,
     .decompose = einsum,
     .samples = einsum_samples},
};

}  // namespace

std::span<const OpDef> onnx_matmul_ops() { return kOps; }

}  // namespace whittle
