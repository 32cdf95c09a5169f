#include "ops/onnx/rewrite.h"

#include <algorithm>
#include <numeric>

#include "ops/onnx/opset.h"

namespace whittle::onnx_dialect {

using namespace aten;

/// A graph that does not say gets the newest meaning.
std::int64_t opset(const Call& call) {
    const std::int64_t opset = call.builder().opset();
    return opset == 0 ? kMaxOpset : opset;
}

double number32(const Call& call, std::string_view name) { return static_cast<float>(call.number(name)); }

Ints known_ints(const Call& call, std::string_view name) {
    const Tensor value = known_operand(call, name);
    if (is_floating(value.dtype()))
        throw Error("found the operand '" + std::string(name) + "' of type " +
                    std::string(whittle::name(value.dtype())) + ", expected integers");
    return value.values<std::int64_t>();
}

std::optional<Ints> known_ints_if(const Call& call, std::string_view name) {
    return call.has(name) ? std::optional(known_ints(call, name)) : std::nullopt;
}

void no_attribute(const Call& call, std::string_view name, std::int64_t since) {
    if (opset(call) >= since && call.has(name))
        throw Error("found attribute '" + std::string(name) + "' at opset " + std::to_string(opset(call)) +
                    ", expected an operand: the op has the attribute only before opset " + std::to_string(since));
}

V ints(const Call& call, const Ints& values) {
    return call.constant(Tensor::of(values, {static_cast<std::int64_t>(values.size())}));
}

V cast(const V& value, DType dtype) { return value.dtype() == dtype ? value : _to_copy(value, dtype); }

V permuted(const V& value, const Ints& dims) { return dims == all_dims(value.rank()) ? value : permute(value, dims); }

V part(const V& value, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
    const bool whole = start == 0 && step == 1 && end >= size_of_dim(value, dim);
    return whole ? value : slice(value, dim, start, end, step);
}

V joined(const Vs& values, std::int64_t dim) { return values.size() == 1 ? values[0] : cat(values, dim); }

Ints all_dims(std::int64_t rank) {
    Ints dims(static_cast<std::size_t>(rank));
    std::iota(dims.begin(), dims.end(), std::int64_t{0});
    return dims;
}

Ints wrap_dims(const Ints& dims, std::int64_t rank) {
    Ints wrapped;
    for (const std::int64_t dim : dims) wrapped.push_back(wrap_dim(dim, rank));
    std::sort(wrapped.begin(), wrapped.end());
    if (std::adjacent_find(wrapped.begin(), wrapped.end()) != wrapped.end())
        throw Error("found repeated dimensions in " + to_string(dims) + ", expected distinct dimensions");
    return wrapped;
}

std::int64_t size_of_dim(const V& value, std::int64_t dim) {
    if (dim >= value.rank())
        throw Error("found a value of rank " + std::to_string(value.rank()) + ", expected a rank of at least " +
                    std::to_string(dim + 1));
    return value.sizes()[static_cast<std::size_t>(dim)];
}

DType dtype_of_code(std::int64_t code) {
    if (const auto dtype = dtype_from_onnx(code)) return *dtype;
    std::string known;
    for (const DType dtype : kAllDTypes)
        known += (known.empty() ? "" : ", ") + std::string(info_of(dtype).onnx_name) + " (" +
                 std::to_string(info_of(dtype).onnx) + ")";
    throw Error("found the TensorProto element type " + std::to_string(code) + ", expected one of " + known);
}

DType float_of_code(std::string_view attribute, std::int64_t code) {
    const DType dtype = dtype_of_code(code);
    if (!is_floating(dtype) || !is_computed(dtype))
        throw Error("found dtype " + std::string(name(dtype)) + " as " + std::string(attribute) +
                    ", expected f64, f32, f16 or bf16");
    return dtype;
}

}  // namespace whittle::onnx_dialect
