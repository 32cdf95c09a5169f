// ONNX's products of matrices, MatMul, Gemm and Einsum, and the determinant.
#include <cmath>

#include "ops/core/integer.h"
#include "ops/core/pointwise.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// alpha A' B' + beta C, where ' is a transposition on demand. Integers have integer factors only.
CallResults gemm(const Call& c) {
    V a = c.tensor("A"), b = c.tensor("B");
    if (a.rank() != 2 || b.rank() != 2)
        throw Error("found operands of sizes " + to_string(a.sizes()) + " and " + to_string(b.sizes()) +
                    ", expected two matrices");
    if (c.integer("transA") != 0) a = permuted(a, {1, 0});
    if (c.integer("transB") != 0) b = permuted(b, {1, 0});
    const bool whole = !is_floating(a.dtype());
    const auto factor = [&](const char* name) {
        const double value = number32(c, name);
        if (whole && value != std::trunc(value))
            throw Error(std::string("found ") + name + "=" + std::to_string(value) +
                        " for integer matrices, expected an integer");
        return whole ? Scalar(whole_number(value, name)) : Scalar(value);
    };
    const Scalar alpha = factor("alpha"), beta = factor("beta");
    if (!c.has("C")) {
        return scaled(mm(a, b), alpha);
    }
    const V added = c.tensor("C");
    const Sizes sizes = {size_of_dim(a, 0), size_of_dim(b, 1)};
    if (broadcast_sizes(added.sizes(), sizes) != sizes)
        throw Error("found C of sizes " + to_string(added.sizes()) + ", expected sizes that broadcast to " +
                    to_string(sizes) + ", the sizes of the product");
    return addmm(added, a, b, beta, alpha);
}

CallResults onnx_einsum(const Call& c) { return einsum(c.text("equation"), c.tensors("Inputs")); }

/// Every step of the elimination is calls of its own.
constexpr std::int64_t kMostRows = 32;

/// One step of Gaussian elimination on matrices [..., n, n]: the pivots, with the sign of their exchange, and what is
/// left, [..., n - 1, n - 1].
std::pair<V, V> eliminate(const Call& c, const V& matrices) {
    const std::int64_t rows = matrices.rank() - 2, columns = rows + 1;
    const std::int64_t n = matrices.sizes().back();
    const V column = select(matrices, columns, 0);
    const V largest = argmax(abs(column), -1, true);
    Ints positions;
    for (std::int64_t i = 0; i < n; ++i) positions.push_back(i);
    const V chosen = unsqueeze(eq(ints(c, positions), largest), columns);
    const V pivot_row = sum(keep(chosen, matrices), Ints{rows}, true);
    const V exchanged = where(chosen, part(matrices, rows, 0, 1), matrices);
    const V below = part(exchanged, rows, 1, n);
    const V pivot = part(pivot_row, columns, 0, 1);
    const V divisor = where(eq(pivot, 0), 1.0, pivot);
    const V factors = part(below, columns, 0, 1) / divisor;
    const V left = part(below, columns, 1, n) - factors * part(pivot_row, columns, 1, n);
    const V in_place = select(eq(largest, 0), rows, 0);
    const V value = select(select(pivot, columns, 0), rows, 0);
    return {where(in_place, value, -value), left};
}

/// The product of the pivots: for half types in f32, as factors grow.
CallResults det(const Call& c) {
    const V input = c.tensor("X");
    const Sizes& sizes = input.sizes();
    if (sizes.size() < 2 || sizes[sizes.size() - 1] != sizes[sizes.size() - 2])
        throw Error("found sizes " + to_string(sizes) + ", expected square matrices");
    const std::int64_t n = sizes.back();
    if (n > kMostRows)
        throw Error("found matrices of " + std::to_string(n) + " rows, expected at most " + std::to_string(kMostRows),
                    "pass smaller matrices: Whittle computes a determinant with several ops for each row");
    V left = cast(input, compute_dtype(input.dtype()));
    V result = full(c.builder(), {sizes.begin(), sizes.end() - 2}, 1.0, left.dtype());
    const auto first = [&](const V& value) { return select(value, value.rank() - 1, 0); };
    for (std::int64_t rows = n; rows > 1; --rows) {
        const auto [pivot, rest] = eliminate(c, left);
        result = result * pivot;
        left = rest;
    }
    if (n > 0) result = result * first(first(left));
    return cast(result, input.dtype());
}

constexpr DTypeSet kProducts = kFloating | set_of(DType::i32) | set_of(DType::i64);

constexpr OpDef kMatmulOps[] = {
    composite("MatMul(Tensor A, Tensor B) -> Tensor", "Matrix product, batches broadcast", kProducts,
              same_as_binary<matmul>),
    composite("Gemm(Tensor A, Tensor B, Tensor? C=None, *, float alpha=1.0, float beta=1.0, int transA=0, int "
              "transB=0) -> Tensor",
              "alpha A B + beta C", kProducts, gemm),
    composite("Einsum(Tensor[] Inputs, *, str equation) -> Tensor", "Einstein's summation", kProducts, onnx_einsum),
    composite("Det(Tensor X) -> Tensor", "The determinants of square matrices", kFloating, det),
};

}  // namespace

std::span<const OpDef> onnx_matmul_ops() { return kMatmulOps; }

}  // namespace whittle
