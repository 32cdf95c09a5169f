// ONNX's tensors out of little: ConstantOfShape, Range, EyeLike, OneHot, Trilu.
#include <algorithm>
#include <cmath>

#include "ops/core/integer.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

CallResults constant_of_shape(const Call& c) {
    const Ints sizes = known_ints(c, "input");
    const Tensor value = c.has("value") ? known_operand(c, "value") : Tensor(DType::f32, {1});
    if (value.numel() != 1)
        throw Error("found 'value' with " + std::to_string(value.numel()) + " elements, expected one element");
    element_count(sizes);
    return full(c.builder(), sizes, value.item(), value.dtype());
}

/// start, start + delta … before limit, each start + i * delta.
CallResults range(const Call& c) {
    const Tensor start = known_operand(c, "start"), limit = known_operand(c, "limit"),
                 delta = known_operand(c, "delta");
    if (delta.item().to_double() == 0) throw Error("found delta=0, expected a nonzero delta");
    const double exact = (limit.item().to_double() - start.item().to_double()) / delta.item().to_double();
    if (!(exact < 1e15))
        throw Error("found a range of " + std::to_string(exact) + " elements, expected fewer than 10^15");
    const auto count = whole_number(std::max(std::ceil(exact), 0.0), "a range");
    const DType dtype = start.dtype();
    const V index = arange(c.builder(), 0, count, 1, dtype);
    return index * delta.item() + start.item();
}

/// Ones where column - row = k.
CallResults eye_like(const Call& c) {
    const V input = c.tensor("input");
    if (input.rank() != 2)
        throw Error("found an input with " + std::to_string(input.rank()) + " dimensions, expected 2");
    const DType dtype = c.has("dtype") ? dtype_of_code(c.integer("dtype")) : input.dtype();
    const auto counted = [&](std::int64_t size, std::int64_t first) {
        return arange(c.builder(), first, first + size, 1, DType::i64);
    };
    const std::int64_t rows = size_of_dim(input, 0), columns = size_of_dim(input, 1);
    const std::int64_t k = std::clamp<std::int64_t>(c.integer("k"), -rows - 1, columns + 1);
    const V row = reshaped(counted(rows, k), {rows, 1});
    return cast(eq(row, counted(columns, 0)), dtype);
}

/// A new dimension of `depth`: the second of `values` where it counts to the index, else the first. Negative indices
/// count from the end; those out of range have no second value.
CallResults onnx_one_hot(const Call& c) {
    const V indices = c.tensor("indices"), values = c.tensor("values");
    const Tensor depth_value = known_operand(c, "depth");
    const std::int64_t depth = depth_value.item().to_integer();
    if (depth < 0) throw Error("found depth=" + std::to_string(depth) + ", expected at least 0");
    if (values.sizes() != Sizes{2})
        throw Error("found values of sizes " + to_string(values.sizes()) +
                    ", expected 2 elements: the off value and the on value");
    const std::int64_t rank = indices.rank(), axis = wrap_dim(c.integer("axis"), rank + 1);
    const V whole = cast(indices, DType::i64);
    const V wrapped = where(lt(whole, 0), whole + depth, whole);
    Sizes spread = indices.sizes(), along(static_cast<std::size_t>(rank + 1), 1);
    spread.insert(spread.begin() + axis, 1);
    along[static_cast<std::size_t>(axis)] = depth;
    const V counted = arange(c.builder(), 0, depth, 1, DType::i64);
    const V hot = eq(reshaped(wrapped, spread), reshaped(counted, along));
    return where(hot, select(values, 0, 1), select(values, 0, 0));
}

CallResults trilu(const Call& c) {
    const std::int64_t k = c.has("k") ? known_operand(c, "k").item().to_integer() : 0;
    return c.integer("upper") != 0 ? triu(c.tensor("input"), k) : tril(c.tensor("input"), k);
}

constexpr DTypeSet kRanges =
    set_of(DType::f32) | set_of(DType::f64) | set_of(DType::i16) | set_of(DType::i32) | set_of(DType::i64);

constexpr OpDef kCreateOps[] = {
    composite("ConstantOfShape(Tensor input, *, Tensor? value=None) -> Tensor", "One value everywhere",
              set_of(DType::i64), constant_of_shape),
    composite("Range(Tensor start, Tensor limit, Tensor delta) -> Tensor", "Numbers in equal steps", kRanges, range),
    composite("EyeLike(Tensor input, *, DataType? dtype=None, int k=0) -> Tensor", "Ones on one diagonal", kAnyDType,
              eye_like),
    composite("OneHot(Tensor indices, Tensor depth, Tensor values, *, int axis=-1) -> Tensor",
              "One value at each index, another elsewhere", kNumbers, onnx_one_hot),
    composite("Trilu(Tensor input, Tensor? k=None, *, int upper=1) -> Tensor", "Upper or lower triangle, else zero",
              kAnyDType, trilu),
};

}  // namespace

std::span<const OpDef> onnx_create_ops() { return kCreateOps; }

}  // namespace whittle
