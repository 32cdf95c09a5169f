// What the ONNX dialect's decompositions share: writing ATen calls and operands that must be constants.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"
#include "ops/aten/formulas.h"
#include "ops/core/known.h"
#include "ops/onnx/families.h"

namespace whittle::onnx_dialect {

/// Version of ai.onnx; the newest that Whittle reads when the graph does not say.
std::int64_t opset(const Call& call);
/// A float attribute, or what stands for a missing one. They have 32 bits, their defaults too.
double number32(const Call& call, std::string_view name);
/// As known_operand(), of integers.
Ints known_ints(const Call& call, std::string_view name);
/// Nothing when the operand is missing.
std::optional<Ints> known_ints_if(const Call& call, std::string_view name);
/// Throws Error unless the attribute is missing: it became an input, or means nothing, since that opset.
void no_attribute(const Call& call, std::string_view name, std::int64_t since);

V ints(const Call& call, const Ints& values);
/// The value as `dtype`, itself when it is that already.
V cast(const V& value, DType dtype);
V permuted(const V& value, const Ints& dims);
/// Elements start, start + step … before end of one dimension; start and end in bounds, step > 0.
V part(const V& value, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1);
V joined(const Vs& values, std::int64_t dim);

/// 0 … rank-1.
Ints all_dims(std::int64_t rank);
/// Dimensions in 0 … rank-1, each once, in ascending order. Throws Error for others.
Ints wrap_dims(const Ints& dims, std::int64_t rank);
/// The size of dimension dim, which is not negative. Throws Error where there is none (wrap_dim allows 0 for 0-d
/// values).
std::int64_t size_of_dim(const V& value, std::int64_t dim);
/// TensorProto.DataType to dtype. Throws Error for types Whittle does not have.
DType dtype_of_code(std::int64_t code);

/// The same of an attribute that says which float is computed in. Throws Error naming it for other types.
DType float_of_code(std::string_view attribute, std::int64_t code);

/// Ops that ATen has under another name, with the same operands in the same order.
template <V (*F)(const V&)>
CallResults same_as_unary(const Call& call) {
    return F(call.tensor(call.schema().params[0].name));
}
template <V (*F)(const V&, const V&)>
CallResults same_as_binary(const Call& call) {
    return F(call.tensor(call.schema().params[0].name), call.tensor(call.schema().params[1].name));
}

}  // namespace whittle::onnx_dialect
