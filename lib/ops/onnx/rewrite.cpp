#include "ops/onnx/rewrite.h"

#include <numeric>

#include "ops/core/known.h"
#include "ops/onnx/opset.h"

namespace whittle::onnx_dialect {

/// A graph that does not say gets the newest meaning.
std::int64_t Rewrite::opset() const {
    const std::int64_t opset = builder_.opset();
    return opset == 0 ? kMaxOpset : opset;
}

NodeValue Rewrite::ints(const Ints& values) const {
    return constant(Tensor::of(values, {static_cast<std::int64_t>(values.size())}));
}

NodeValue Rewrite::cast(const NodeValue& value, DType dtype) const {
    return value.meta.dtype == dtype ? value
                                     : builder_.call("aten._to_copy.default", {arg(value)}, {{"dtype", Arg(dtype)}});
}

NodeValue Rewrite::reshape(const NodeValue& value, const Sizes& sizes) const {
    return value.meta.sizes == sizes ? value : (*this)("aten.reshape.default", value, sizes);
}

NodeValue Rewrite::permute(const NodeValue& value, const Ints& dims) const {
    return dims == all_dims(rank_of(value)) ? value : (*this)("aten.permute.default", value, dims);
}

NodeValue Rewrite::full(const Sizes& sizes, const Scalar& value, DType dtype) const {
    return builder_.call("aten.full.default", {Arg::ints(sizes), Arg(value)}, {{"dtype", Arg(dtype)}});
}

NodeValue Rewrite::slice(const NodeValue& value, std::int64_t dim, std::int64_t start, std::int64_t end,
                         std::int64_t step) const {
    const bool whole = start == 0 && step == 1 && end >= size_of_dim(value, dim);
    return whole ? value : (*this)("aten.slice.Tensor", value, dim, start, end, step);
}

NodeValue Rewrite::concat(const std::vector<NodeValue>& values, std::int64_t dim) const {
    return values.size() == 1 ? values[0] : (*this)("aten.cat.default", values, dim);
}

Tensor Rewrite::known(std::string_view name) const {
    if (std::optional<Tensor> value = builder_.known(tensor(name))) return *value;
    throw NeedsConstant(std::string(name),
                        "the operand '" + std::string(name) + "' is computed at run time, expected a constant",
                        "the result's sizes depend on it; give the model constant sizes");
}

Ints Rewrite::known_ints(std::string_view name) const {
    const Tensor value = known(name);
    if (is_floating(value.dtype()))
        throw Error("found the operand '" + std::string(name) + "' of type " +
                    std::string(whittle::name(value.dtype())) + ", expected integers");
    return value.values<std::int64_t>();
}

std::optional<Ints> Rewrite::known_ints_if(std::string_view name) const {
    return has(name) ? std::optional(known_ints(name)) : std::nullopt;
}

void Rewrite::no_attribute(std::string_view name, std::int64_t since) const {
    if (opset() >= since && has(name))
        throw Error("found attribute '" + std::string(name) + "' at opset " + std::to_string(opset()) +
                    ", expected an operand: the op has the attribute only before opset " + std::to_string(since));
}

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

std::int64_t size_of_dim(const NodeValue& value, std::int64_t dim) {
    if (dim >= rank_of(value))
        throw Error("found a value of rank " + std::to_string(rank_of(value)) + ", expected a rank of at least " +
                    std::to_string(dim + 1));
    return value.meta.sizes[static_cast<std::size_t>(dim)];
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
