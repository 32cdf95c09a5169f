// Tensor's own members: metadata, demanded values, factories.
#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/tensor.h>

#include <cmath>

#include "api/call.h"
#include "api/session.h"
#include "base/error.h"
#include "capture/graph_break.h"
#include "ops/aten/random.h"
#include "tensor/compare.h"

namespace whittle::api {
namespace {

using capture::BreakKind;

Demand demanding(BreakKind kind, const char* reason, const char* op, void* pc) {
    return {static_cast<int>(kind), reason, op, pc};
}

}  // namespace

std::string_view name(ScalarType type) { return whittle::name(to_internal(type)); }

const std::vector<std::int64_t>& Tensor::sizes() const { return api::defined(*this, "sizes").meta.sizes; }
std::vector<std::int64_t> Tensor::strides() const { return api::defined(*this, "strides").meta.strides; }
std::int64_t Tensor::size(std::int64_t dim) const {
    const auto& sizes = this->sizes();
    return sizes.at(static_cast<std::size_t>(wrap_dim(dim, static_cast<std::int64_t>(sizes.size()))));
}
std::int64_t Tensor::dim() const { return static_cast<std::int64_t>(sizes().size()); }
std::int64_t Tensor::numel() const { return element_count(sizes()); }
ScalarType Tensor::dtype() const { return to_api(api::defined(*this, "dtype").meta.dtype); }
bool Tensor::is_contiguous() const {
    const ValueMeta& meta = api::defined(*this, "is_contiguous").meta;
    return whittle::is_contiguous(meta.sizes, meta.strides);
}
bool Tensor::requires_grad() const { return api::defined(*this, "requires_grad").meta.requires_grad; }

Tensor& Tensor::requires_grad_(bool value) {
    TensorImpl& impl = api::defined(*this, "requires_grad_");
    if (value == impl.meta.requires_grad) return *this;
    if (!is_leaf())
        throw Error("you can only change requires_grad flags of leaf variables.",
                    "If you want to use a computed variable in a subgraph that doesn't require differentiation use "
                    "var_no_grad = var.detach().");
    if (value && !is_inexact(impl.meta.dtype))
        throw Error("only Tensors of floating point and complex dtype can require gradients, found " +
                    std::string(whittle::name(impl.meta.dtype)));
    if (impl.session)  // from here on it is a leaf
        demand(*this,
               demanding(BreakKind::backward, "requires_grad_()", "requires_grad_", __builtin_return_address(0)));
    impl.meta.requires_grad = value;
    if (impl.value) impl.value = impl.value->with_requires_grad(value);
    return *this;
}

namespace {

Scalar number_of(const whittle::Tensor& element) {
    const whittle::Scalar value = element.item();
    if (value.is_floating()) return {value.to_double()};
    if (value.is_boolean()) return {value.to_bool()};
    return {value.to_integer()};
}

}  // namespace

Scalar Tensor::item_value() const {
    return number_of(demand(*this, demanding(BreakKind::item, "item()", "aten.item", __builtin_return_address(0))));
}

Scalar Tensor::item() const {
    void* const pc = __builtin_return_address(0);
    const ValueMeta& meta = api::defined(*this, "item()").meta;
    const Session* const session = Session::current();
    const bool symbol = session && session->captures_scalars() && meta.numel() == 1 && !is_complex(meta.dtype);
    if (!symbol) return number_of(demand(*this, demanding(BreakKind::item, "item()", "aten.item", pc)));
    const Scalar::Kind kind = is_floating(meta.dtype)        ? Scalar::Kind::floating
                              : meta.dtype == DType::boolean ? Scalar::Kind::boolean
                                                             : Scalar::Kind::integer;
    Tensor value = meta.requires_grad ? call<Tensor>("aten.detach.default", pc, *this) : *this;
    if (!meta.sizes.empty())
        value = call<Tensor>("aten.reshape.default", pc, value, IntList(std::vector<std::int64_t>()));
    value = call<Tensor>("aten.clone.default", pc, value);  // whatever is written to this tensor afterwards
    return {kind, value.impl()};
}

Scalar Scalar::known() const {
    return number_of(
        demand(Tensor(symbol_), demanding(BreakKind::item, "item()", "aten.item", __builtin_return_address(0))));
}

Tensor::operator bool() const {
    return demand(*this, demanding(BreakKind::branch, "branch on a tensor's value", "aten.is_nonzero",
                                   __builtin_return_address(0)))
        .item()
        .to_bool();
}

void* Tensor::data_pointer(ScalarType type) const {
    demand(*this, demanding(BreakKind::data_pointer, "data_ptr()", "aten.data_ptr", __builtin_return_address(0)));
    TensorImpl& impl = *impl_;
    if (impl.meta.dtype != to_internal(type))
        throw Error("data_ptr: found a tensor of " + std::string(whittle::name(impl.meta.dtype)) +
                    ", expected a tensor of " + std::string(api::name(type)));
    return impl.value->mutable_raw();
}

template <class T>
std::vector<T> Tensor::to_vector() const {
    const whittle::Tensor& value =
        demand(*this, demanding(BreakKind::item, "to_vector()", "aten.tolist", __builtin_return_address(0)));
    const auto dtype = to_internal(scalar_type_of<T>());
    const whittle::Tensor converted = value.to(dtype).contiguous();
    const T* data = static_cast<const T*>(converted.raw());
    return std::vector<T>(data, data + converted.numel());
}
template std::vector<double> Tensor::to_vector() const;
template std::vector<float> Tensor::to_vector() const;
template std::vector<std::int64_t> Tensor::to_vector() const;
template std::vector<std::int32_t> Tensor::to_vector() const;
template std::vector<bool> Tensor::to_vector() const;
template std::vector<unsigned char> Tensor::to_vector() const;

bool Tensor::equal(const Tensor& other) const {
    void* const pc = __builtin_return_address(0);
    const whittle::Tensor a = demand(*this, demanding(BreakKind::compare, "equal()", "aten.equal", pc));
    const whittle::Tensor b = demand(other, demanding(BreakKind::compare, "equal()", "aten.equal", pc));
    if (a.sizes() != b.sizes() || a.dtype() != b.dtype()) return false;
    if (!is_floating(a.dtype())) return a.values<std::int64_t>() == b.values<std::int64_t>();
    return a.values<double>() == b.values<double>();  // as torch.equal: NaN equals nothing
}

bool Tensor::allclose(const Tensor& other, double rtol, double atol) const {
    void* const pc = __builtin_return_address(0);
    const whittle::Tensor a = demand(*this, demanding(BreakKind::compare, "allclose()", "aten.allclose", pc));
    const whittle::Tensor b = demand(other, demanding(BreakKind::compare, "allclose()", "aten.allclose", pc));
    if (a.sizes() != b.sizes()) return false;
    if (a.dtype() == b.dtype() && !is_floating(a.dtype()))  // a double does not tell large integers apart
        return differing_elements(a, b, {rtol, atol}).empty();
    const std::vector<double> x = a.values<double>(), y = b.values<double>();
    for (std::size_t i = 0; i < x.size(); ++i)  // a tolerance relative to an infinity would accept anything
        if (!(x[i] == y[i] ||
              (std::isfinite(x[i]) && std::isfinite(y[i]) && std::abs(x[i] - y[i]) <= atol + rtol * std::abs(y[i]))))
            return false;
    return true;
}

template <class T>
Tensor tensor(const std::vector<T>& values, const IntList& sizes) {
    if (element_count(sizes.values()) != static_cast<std::int64_t>(values.size()))
        throw Error("tensor: found " + std::to_string(values.size()) + " values, expected " +
                    std::to_string(element_count(sizes.values())) + ", the number of elements of sizes " +
                    to_string(sizes.values()));
    whittle::Tensor made(to_internal(scalar_type_of<T>()), sizes.values());
    auto* to = static_cast<T*>(made.mutable_raw());
    for (std::size_t i = 0; i < values.size(); ++i) to[i] = values[i];
    return wrap(std::move(made));
}
template Tensor tensor(const std::vector<double>&, const IntList&);
template Tensor tensor(const std::vector<float>&, const IntList&);
template Tensor tensor(const std::vector<std::int64_t>&, const IntList&);
template Tensor tensor(const std::vector<std::int32_t>&, const IntList&);
template Tensor tensor(const std::vector<bool>&, const IntList&);
template Tensor tensor(const std::vector<unsigned char>&, const IntList&);

Tensor scalar_tensor(const Scalar& value, std::optional<ScalarType> type) {
    return wrap(whittle::Tensor::of(to_internal(value), to_internal(type.value_or(get_default_dtype()))));
}

Tensor from_data(const void* data, const IntList& sizes, ScalarType type) {
    return wrap(whittle::Tensor::copy_of(data, to_internal(type), sizes.values(), contiguous_strides(sizes.values())));
}

void manual_seed(std::uint64_t seed) { seed_random_ops(seed); }

}  // namespace whittle::api
