// ONNX's functions along one dimension: Softmax, LogSoftmax, Hardmax, CumSum, TopK.
#include "ops/core/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// Until opset 12 these functions see a matrix: dimensions before the axis, and the rest as one. Since 13 they run
/// along the axis alone. `f(x, dim)` is the function along one dimension.
template <class F>
V apply_along_axis(const Call& c, const F& f) {
    const V x = c.tensor("input");
    const std::int64_t rank = x.rank();
    const std::int64_t axis = wrap_dim(c.optional_integer("axis").value_or(opset(c) < 13 ? 1 : -1), rank);
    if (opset(c) >= 13 || axis == rank - 1) return f(x, axis);
    const Sizes& sizes = x.sizes();
    const Sizes matrix = {element_count(Sizes(sizes.begin(), sizes.begin() + axis)),
                          element_count(Sizes(sizes.begin() + axis, sizes.end()))};
    return reshaped(f(reshaped(x, matrix), 1), sizes);
}

template <V (*F)(const V&, std::int64_t, bool)>
CallResults onnx_softmax(const Call& c) {
    return apply_along_axis(c, [](const V& x, std::int64_t dim) { return F(x, dim, false); });
}

/// One at the first largest element, else zero.
CallResults hardmax(const Call& c) {
    return apply_along_axis(c, [&](const V& x, std::int64_t dim) {
        Sizes along(x.sizes().size(), 1);
        along[static_cast<std::size_t>(dim)] = size_of_dim(x, dim);
        const V counted = arange(c.builder(), 0, size_of_dim(x, dim), 1, DType::i64);
        return cast(eq(reshaped(counted, along), argmax(x, dim, true)), x.dtype());
    });
}

/// Sums of the elements up to each one, or before it; from the other end when reversed.
CallResults onnx_cumsum(const Call& c) {
    const V x = c.tensor("x");
    const std::int64_t dim = wrap_dim(known_operand(c, "axis").item().to_integer(), x.rank());
    const bool reverse = c.integer("reverse") != 0;
    const V from = reverse ? flip(x, Ints{dim}) : x;
    V sums = cast(cumsum(from, dim), x.dtype());
    if (c.integer("exclusive") != 0 && x.rank() > 0) {  // a zero first, and the last sum dropped
        Ints pads(static_cast<std::size_t>(2 * x.rank()), 0);
        pads[static_cast<std::size_t>(2 * (x.rank() - 1 - dim))] = 1;
        pads[static_cast<std::size_t>(2 * (x.rank() - 1 - dim) + 1)] = -1;
        sums = constant_pad_nd(sums, pads, 0.0);
    }
    return reverse ? flip(sums, Ints{dim}) : sums;
}

/// The k largest or smallest elements and their positions; equal elements in order of position. k was an attribute
/// before opset 10.
CallResults onnx_topk(const Call& c) {
    no_attribute(c, "k", 10);
    const V x = c.tensor("X");
    const std::int64_t dim = wrap_dim(c.integer("axis"), x.rank()), size = size_of_dim(x, dim);
    const std::int64_t k =
        opset(c) < 10 ? c.optional_integer("k").value_or(-1) : known_operand(c, "K").item().to_integer();
    if (k < 0 || k > size) throw Error("found k=" + std::to_string(k) + ", expected 0 to " + std::to_string(size));
    const bool largest = c.integer("largest") != 0;
    const auto [values, indices] = sort(x, true, dim, largest);
    return {part(values, dim, 0, k), part(indices, dim, 0, k)};
}

/// The texts order numbers only: onnx/onnx#4716.
Reason open_hardmax(std::string_view op, const Arguments<Tensor>& a) {
    return not_a_number(op, "data", a.tensor("input"));
}

Reason open_topk(std::string_view op, const Arguments<Tensor>& a) { return not_a_number(op, "data", a.tensor("X")); }

constexpr DTypeSet kScanned =
    kFloating | set_of(DType::i32) | set_of(DType::i64) | set_of(DType::u32) | set_of(DType::u64);

constexpr OpDef kSoftmaxOps[] = {
    composite("Softmax(Tensor input, *, int? axis=None) -> Tensor",
              "Exponentials normalized to sum 1. onnx Operators.md#Softmax, Changelog.md#Softmax-11", kFloating,
              onnx_softmax<_softmax>),
    composite("LogSoftmax(Tensor input, *, int? axis=None) -> Tensor",
              "Logarithm of Softmax. onnx Operators.md#LogSoftmax, Changelog.md#LogSoftmax-11", kFloating,
              onnx_softmax<_log_softmax>),
    composite("Hardmax(Tensor input, *, int? axis=None) -> Tensor",
              "One at the first of the largest elements, else zero. onnx Operators.md#Hardmax, Changelog.md#Hardmax-11",
              kFloating, hardmax, {.ask = open_hardmax, .if_different = true}),
    composite("CumSum(Tensor x, Tensor axis, *, int exclusive=0, int reverse=0) -> Tensor", "Running sums", kScanned,
              onnx_cumsum),
    composite(
        "TopK(Tensor X, Tensor? K=None, *, int axis=-1, int? k=None, int largest=1, int sorted=1) -> (Tensor, Tensor)",
        "The k largest or smallest elements and their positions", kNumbers | kLimited, onnx_topk,
        {.ask = open_topk, .if_different = true}),
};

}  // namespace

std::span<const OpDef> onnx_softmax_ops() { return kSoftmaxOps; }

}  // namespace whittle
