// Samples for ops: tensors with interesting values and interesting memory, for every dtype. A sample that an op does
// not exclude on purpose runs through infer, eval, decompose, lower and Halide.
#pragma once

#include <concepts>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/joined.h"
#include "ops/samples/sample.h"

namespace whittle::samples {

// --- Values ---

/// The values converted to `dtype` (u8 wraps, bool is != 0; complex numbers have no imaginary part).
Tensor values(DType dtype, const std::vector<double>& values, Sizes sizes);
Tensor values(DType dtype, const std::vector<double>& values);  ///< 1-d
Tensor scalar(DType dtype, double value);                       ///< 0-d
Tensor integers(const std::vector<std::int64_t>& values);       ///< 1-d, of i64
/// -n/2 … n/2 in steps of one (floats: of a half); non-negative for u8, alternating for bool. Distinct while they fit.
/// The imaginary parts of complex numbers go the other way, in steps of a quarter.
Tensor ramp(DType dtype, Sizes sizes);
/// Seeded: normal floats, integers in [-9, 9] (u8: [0, 18]), coins for bool.
Tensor random(DType dtype, Sizes sizes, std::uint64_t seed = 1);
/// Seeded floats in [low, high), integers in [low, high), for ops with a domain.
Tensor uniform(DType dtype, Sizes sizes, double low, double high, std::uint64_t seed = 1);
/// One dimension of corner cases, for complex numbers of both parts. Floats: NaN, infinities, zeros of both signs,
/// halves (ties), the largest, smallest normal and a denormal value; integers: the extremes and small numbers; bool:
/// both.
Tensor special(DType dtype);

/// Of complex numbers: NaN and infinities in one part or both.
Tensor not_finite(DType dtype);

// --- Memory: the same elements, lying differently ---

Tensor transposed(const Tensor& tensor);       ///< dimensions lie in reverse order
Tensor strided(const Tensor& tensor);          ///< every second element of its memory, from offset 1
Tensor negative(const Tensor& tensor);         ///< every stride negative
Tensor expanded(const Tensor& tensor, Sizes);  ///< broadcast by strides of 0
/// As contiguous, transposed, strided and negative variants with their labels.
std::vector<std::pair<std::string, Tensor>> layouts(const Tensor& tensor);
/// Those that are not contiguous.
std::vector<std::pair<std::string, Tensor>> other_layouts(const Tensor& tensor);

// --- Samples of usual ops ---

/// Tensors on which a unary op is worth trying, with labels: "ramp" "random" "0-d" "empty" "special" "transposed"
/// "strided" "negative stride" "expanded"; for complex numbers also "not finite", and their "special" is finite.
std::vector<std::pair<std::string, Tensor>> inputs(DType dtype);

/// op(tensor, rest...) for each of inputs(dtype).
Samples unary(DType dtype, const ArgList& rest, const std::string& suffix = {});
Samples unary(DType dtype);

/// What the right operand of a binary op must not be.
enum class Right { any, nonzero, shift };
/// op(a, b, rest...): broadcasting, 0-d, empty, all pairs of special values, layouts, and operands of every other dtype
/// of `partners`.
Samples binary(DType dtype, DTypeSet partners = kAnyDType, Right right = Right::any, const ArgList& rest = {},
               const std::string& suffix = {});

template <DTypeSet kPartners, Right kRight = Right::any>
Samples binary_with(DType dtype) {
    return binary(dtype, kPartners, kRight);
}

/// The reference to tensor i of the sample.
inline Arg t(int i) { return Arg(NodeRef{i}); }

/// An argument of call_of(): a tensor, or a value.
struct Given {
    std::variant<Tensor, Arg> value;
    Given(Tensor tensor) : value(std::move(tensor)) {}
    template <std::convertible_to<Arg> T>
    Given(T&& argument) : value(Arg(std::forward<T>(argument))) {}
};
/// op(given..., kwargs...), whose tensors are those among `given`, in order; t(i) is one of them again.
Sample call_of(std::string label, const std::vector<Given>& given, std::vector<std::pair<std::string, Arg>> kwargs = {},
               std::vector<std::size_t> constants = {});

/// Appends b's samples to a's.
Samples operator+(Samples a, Samples b);

// --- Samples of ops that move elements: values that show where each went, special ones among them ---

/// A ramp in which every third element is a special value of the dtype (NaN, infinities, extremes).
Tensor mixed(DType dtype, const Sizes& sizes);

/// op(mixed, rest...) with the tensor contiguous, transposed, strided and with negative strides.
Samples moved(DType dtype, const std::string& label, const Sizes& sizes, const ArgList& rest = {});

/// op(mixed, rest...) once.
Sample once(DType dtype, const std::string& label, const Sizes& sizes, const ArgList& rest = {});

/// op(self, dim, index, rest...) with the tensors self, index and source.
Sample scattered(const std::string& label, std::vector<Tensor> tensors, std::int64_t dim, const ArgList& rest);

/// Indices in 0..bound-1, seeded, or the given ones.
Tensor indices(const Sizes& sizes, std::int64_t bound, std::uint64_t seed = 1);
inline Tensor positions(const std::vector<std::int64_t>& values, const Sizes& sizes) {
    return Tensor::of(values, sizes);
}

// --- Samples of reductions ---

/// Tensors on which a reduction is worth trying. With `special`, NaN and infinities too.
std::vector<std::pair<std::string, Tensor>> reduced(DType dtype, bool special = true);

/// op(tensor, [dims], keepdim, rest...) over them: one dimension, several, all, none given, negative, kept or not.
Samples dim_lists(DType dtype, const ArgList& rest = {}, bool empty_rows = true);
/// op(tensor, dim, keepdim).
Samples single_dims(DType dtype, bool empty_rows = true);
/// op(tensor).
Samples whole(DType dtype, bool empty_rows = true);

}  // namespace whittle::samples
