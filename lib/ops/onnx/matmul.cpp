// ONNX's products of matrices, MatMul, Gemm and Einsum, and the determinant.
#include <cmath>

#include "ops/core/integer.h"
#include "ops/core/pointwise.h"
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// alpha A' B' + beta C, where ' is a transposition on demand. Integers have integer factors only.
Results gemm(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    NodeValue a = op.tensor("A"), b = op.tensor("B");
    if (rank_of(a) != 2 || rank_of(b) != 2)
        throw Error("found operands of sizes " + to_string(a.meta.sizes) + " and " + to_string(b.meta.sizes) +
                    ", expected two matrices");
    if (op.integer("transA") != 0) a = op.permute(a, {1, 0});
    if (op.integer("transB") != 0) b = op.permute(b, {1, 0});
    const bool whole = !is_floating(a.meta.dtype);
    const auto factor = [&](const char* name) {
        const double value = op.number(name);
        if (whole && value != std::trunc(value))
            throw Error(std::string("found ") + name + "=" + std::to_string(value) +
                        " for integer matrices, expected an integer");
        return whole ? Arg(whole_number(value, name)) : Arg(value);
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
                    to_string(sizes) + ", the sizes of the product");
    return {builder.call("aten.addmm.default", {arg(c), arg(a), arg(b)}, {{"beta", beta}, {"alpha", alpha}}).ref};
}

Results einsum(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op("aten.einsum.default", arguments.text("equation"), arguments.tensors("Inputs")).ref};
}

/// Every step of the elimination is calls of its own.
constexpr std::int64_t kMostRows = 32;

/// One step of Gaussian elimination on matrices [..., n, n]: the pivots, with the sign of their exchange, and what is
/// left, [..., n - 1, n - 1].
std::pair<NodeValue, NodeValue> eliminate(const Rewrite& op, const NodeValue& matrices) {
    const DType dtype = matrices.meta.dtype;
    const std::int64_t rows = rank_of(matrices) - 2, columns = rows + 1;
    const std::int64_t n = matrices.meta.sizes.back();
    const auto number = [&](double value) { return op.full({}, Scalar(value), dtype); };
    const NodeValue column = op("aten.select.int", matrices, columns, 0);
    const NodeValue largest = op("aten.argmax.default", op("aten.abs.default", column), -1, true);
    Ints positions;
    for (std::int64_t i = 0; i < n; ++i) positions.push_back(i);
    const NodeValue chosen = op("aten.unsqueeze.default", op("aten.eq.Tensor", op.ints(positions), largest), columns);
    const NodeValue pivot_row =
        op("aten.sum.dim_IntList", op("aten.where.self", chosen, matrices, number(0)), Ints{rows}, true);
    const NodeValue exchanged = op("aten.where.self", chosen, op.slice(matrices, rows, 0, 1), matrices);
    const NodeValue below = op.slice(exchanged, rows, 1, n);
    const NodeValue pivot = op.slice(pivot_row, columns, 0, 1);
    const NodeValue divisor = op("aten.where.self", op("aten.eq.Scalar", pivot, 0), number(1), pivot);
    const NodeValue factors = op("aten.div.Tensor", op.slice(below, columns, 0, 1), divisor);
    const NodeValue left = op("aten.sub.Tensor", op.slice(below, columns, 1, n),
                              op("aten.mul.Tensor", factors, op.slice(pivot_row, columns, 1, n)));
    const NodeValue in_place = op("aten.select.int", op("aten.eq.Scalar", largest, 0), rows, 0);
    const NodeValue value = op("aten.select.int", op("aten.select.int", pivot, columns, 0), rows, 0);
    return {op("aten.where.self", in_place, value, op("aten.neg.default", value)), left};
}

/// The product of the pivots: for half types in f32, as factors grow.
Results det(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue input = op.tensor("X");
    const Sizes& sizes = input.meta.sizes;
    if (sizes.size() < 2 || sizes[sizes.size() - 1] != sizes[sizes.size() - 2])
        throw Error("found sizes " + to_string(sizes) + ", expected square matrices");
    const std::int64_t n = sizes.back();
    if (n > kMostRows)
        throw Error("found matrices of " + std::to_string(n) + " rows, expected at most " + std::to_string(kMostRows),
                    "pass smaller matrices: Whittle computes a determinant with several ops for each row");
    NodeValue left = op.cast(input, compute_dtype(input.meta.dtype));
    NodeValue result = op.full({sizes.begin(), sizes.end() - 2}, Scalar(1.0), left.meta.dtype);
    const auto first = [&](const NodeValue& value) { return op("aten.select.int", value, rank_of(value) - 1, 0); };
    for (std::int64_t rows = n; rows > 1; --rows) {
        const auto [pivot, rest] = eliminate(op, left);
        result = op("aten.mul.Tensor", result, pivot);
        left = rest;
    }
    if (n > 0) result = op("aten.mul.Tensor", result, first(first(left)));
    return {op.cast(result, input.meta.dtype).ref};
}

constexpr DTypeSet kProducts = kFloating | set_of(DType::i32) | set_of(DType::i64);

constexpr OpDef kMatmulOps[] = {
    {.name = "onnx.MatMul",
     .doc = "Matrix product, batches broadcast. onnx Operators.md#MatMul",
     .schema = "MatMul(Tensor A, Tensor B) -> Tensor",
     .dtypes = kProducts,
     .decompose = same_as_binary<"aten.matmul.default">},
    {.name = "onnx.Gemm",
     .doc = "alpha A B + beta C. onnx Operators.md#Gemm",
     .schema = "Gemm(Tensor A, Tensor B, Tensor? C=None, *, float alpha=1.0, float beta=1.0, int transA=0, "
               "int transB=0) -> Tensor",
     .dtypes = kProducts,
     .decompose = gemm},
    {.name = "onnx.Einsum",
     .doc = "Einstein's summation. onnx Operators.md#Einsum",
     .schema = "Einsum(Tensor[] Inputs, *, str equation) -> Tensor",
     .dtypes = kProducts,
     .decompose = einsum},
    {.name = "onnx.Det",
     .doc = "The determinants of square matrices. onnx Operators.md#Det",
     .schema = "Det(Tensor X) -> Tensor",
     .dtypes = kFloating,
     .decompose = det},
};

}  // namespace

std::span<const OpDef> onnx_matmul_ops() { return kMatmulOps; }

}  // namespace whittle
