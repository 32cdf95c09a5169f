#include "ops/core/pointwise.h"

#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "tensor/convert.h"
#include "tensor/strided.h"

namespace whittle {

// --- Promotion and broadcasting ---

namespace {

/// c10's combine_categories: the higher standing decides unless the lower one is of a higher category.
std::optional<DType> combine_categories(std::optional<DType> higher, std::optional<DType> lower) {
    if (!higher || !lower) return higher ? higher : lower;
    if (is_complex(*higher)) return higher;
    // bf16 has the range of f32, whose complex numbers it takes.
    if (is_floating(*higher) && is_complex(*lower)) return complex_of(*higher == DType::bf16 ? DType::f32 : *higher);
    if (is_floating(*higher)) return higher;
    if (*higher == DType::boolean || is_inexact(*lower)) return promote(*higher, *lower);
    return higher;
}

std::optional<DType> promote_all(const std::optional<DType>& sofar, DType dtype) {
    return sofar ? promote(*sofar, dtype) : dtype;
}

}  // namespace

DType result_type(const std::vector<OperandInfo>& operands) {
    std::optional<DType> dimensioned, zero_dim, wrapped;
    for (const OperandInfo& operand : operands) {
        std::optional<DType>& standing = operand.wrapped ? wrapped : operand.sizes.empty() ? zero_dim : dimensioned;
        standing = promote_all(standing, operand.dtype);
    }
    const std::optional<DType> result = combine_categories(dimensioned, combine_categories(zero_dim, wrapped));
    WHITTLE_CHECK(result.has_value(), "found no operands to promote");
    return *result;
}

Sizes broadcast_all(const std::vector<OperandInfo>& operands) {
    Sizes sizes;
    for (const OperandInfo& operand : operands) sizes = broadcast_sizes(sizes, operand.sizes);
    return sizes;
}

void reject_dtype(const Schema& schema, DType dtype) {
    throw Error("aten." + schema.name + " is not defined for dtype " + std::string(name(dtype)));
}

// --- Kernels on tensors ---

template <class T>
std::vector<T> read(const std::variant<Tensor, Scalar>& operand, const Sizes& sizes, DType common) {
    if (const auto* scalar = std::get_if<Scalar>(&operand))
        return load_broadcast<T>(Tensor::of(*scalar, common), sizes);
    return load_broadcast<T>(std::get<Tensor>(operand).to(common), sizes);
}
template std::vector<double> read(const std::variant<Tensor, Scalar>&, const Sizes&, DType);
template std::vector<float> read(const std::variant<Tensor, Scalar>&, const Sizes&, DType);
template std::vector<std::int64_t> read(const std::variant<Tensor, Scalar>&, const Sizes&, DType);
template std::vector<std::uint64_t> read(const std::variant<Tensor, Scalar>&, const Sizes&, DType);
template std::vector<bool> read(const std::variant<Tensor, Scalar>&, const Sizes&, DType);
template std::vector<Complex64> read(const std::variant<Tensor, Scalar>&, const Sizes&, DType);
template std::vector<Complex128> read(const std::variant<Tensor, Scalar>&, const Sizes&, DType);

namespace {

/// A host number as Tensor::of() and then load_broadcast() make it.
template <class T>
T element_of(const Scalar& number, DType common) {
    const bool unsigned_only = number.is_integer() && number.to_double() >= 0x1p63;
    if (dtype_of<T> != common || unsigned_only) return read<T>(number, {}, common)[0];
    if (number.is_floating()) return cast_element<T>(number.to_double());
    if (number.is_boolean()) return cast_element<T>(number.to_bool());
    return cast_element<T>(number.to_integer());
}

}  // namespace

template <class T>
Broadcast<T>::Broadcast(const std::variant<Tensor, Scalar>& operand, const Sizes& sizes, DType common) {
    if (const auto* scalar = std::get_if<Scalar>(&operand)) {
        number_ = element_of<T>(*scalar, common);
        data_ = &number_;
        step_ = 0;
        return;
    }
    const Tensor& tensor = std::get<Tensor>(operand);
    // The bytes of a bool may be others than 0 and 1, in memory that is somebody's.
    const bool as_is = dtype_of<T> == common && tensor.dtype() == common && common != DType::boolean;
    if (as_is && tensor.sizes() == sizes && tensor.is_contiguous()) {
        data_ = tensor.data<T>();
        memory_ = tensor.storage();
        return;
    }
    // One element is read again and again instead of written out.
    const bool single = tensor.numel() == 1;
    const auto memory = load_shared<T>(tensor.to(common), single ? tensor.sizes() : sizes);
    step_ = single ? 0 : 1;
    data_ = memory.get();
    memory_ = memory;
}
template class Broadcast<double>;
template class Broadcast<float>;
template class Broadcast<std::int64_t>;
template class Broadcast<std::uint64_t>;
template class Broadcast<bool>;
template class Broadcast<Complex64>;
template class Broadcast<Complex128>;

template <class T, class R>
Tensor map(const Tensor& x, DType common, DType result, R (*f)(T)) {
    const Broadcast<T> in(x, x.sizes(), common);
    return tabulate<R>(x.sizes(), result, [&](std::size_t i) { return f(in[i]); });
}

template <class T, class R>
Tensor map(const Broadcast<T>& a, const Broadcast<T>& b, const Sizes& sizes, DType result, R (*f)(T, T)) {
    return tabulate<R>(sizes, result, [&](std::size_t i) { return f(a[i], b[i]); });
}

#define WHITTLE_INSTANTIATE_MAP(T, R)                           \
    template Tensor map(const Tensor&, DType, DType, R (*)(T)); \
    template Tensor map(const Broadcast<T>&, const Broadcast<T>&, const Sizes&, DType, R (*)(T, T));
WHITTLE_INSTANTIATE_MAP(double, double)
WHITTLE_INSTANTIATE_MAP(double, bool)
WHITTLE_INSTANTIATE_MAP(float, float)
WHITTLE_INSTANTIATE_MAP(float, bool)
WHITTLE_INSTANTIATE_MAP(std::int64_t, std::int64_t)
WHITTLE_INSTANTIATE_MAP(std::int64_t, bool)
WHITTLE_INSTANTIATE_MAP(std::uint64_t, std::uint64_t)
WHITTLE_INSTANTIATE_MAP(std::uint64_t, bool)
WHITTLE_INSTANTIATE_MAP(bool, bool)
WHITTLE_INSTANTIATE_MAP(Complex64, Complex64)
WHITTLE_INSTANTIATE_MAP(Complex64, float)
WHITTLE_INSTANTIATE_MAP(Complex64, bool)
WHITTLE_INSTANTIATE_MAP(Complex128, Complex128)
WHITTLE_INSTANTIATE_MAP(Complex128, double)
WHITTLE_INSTANTIATE_MAP(Complex128, bool)
#undef WHITTLE_INSTANTIATE_MAP

// --- Tensor expressions ---

namespace {

Expr if_in_range(const Expr& in_range, DType to, const Expr& value, double otherwise) {
    const Expr inside = expr::select(in_range, value, constant(value, 0));
    const Scalar smallest(static_cast<std::int64_t>(otherwise));
    return expr::select(in_range, expr::cast(to, inside), expr::constant(to, smallest));
}

/// cvttsd2si: truncates; NaN and values out of range give the smallest integer.
Expr truncate_to_i64(const Expr& value) {
    constexpr double kBound = 9223372036854775808.0;  // 2^63
    return if_in_range(constant(value, -kBound) <= value && value < constant(value, kBound), DType::i64, value,
                       -kBound);
}

/// As truncate_to_uint64() of tensor/convert.h.
Expr truncate_to_u64(const Expr& value) {
    constexpr double kBound = 9223372036854775808.0;  // 2^63
    const Expr below = expr::cast(DType::u64, truncate_to_i64(value)),
               above = expr::cast(DType::u64, truncate_to_i64(value - constant(value, kBound)));
    const Expr top = expr::constant(DType::u64, Scalar(std::uint64_t{1} << 63));
    return expr::select(constant(value, kBound) <= value, expr::binary(expr::Op::bit_xor, above, top), below);
}

Expr truncate_to_i32(const Expr& value) {
    constexpr double kBound = 2147483648.0;  // 2^31
    // Truncation takes anything above -2^31 - 1 into range, which f32 cannot represent.
    const Expr above =
        value->dtype == DType::f64 ? constant(value, -kBound - 1) < value : constant(value, -kBound) <= value;
    return if_in_range(above && value < constant(value, kBound), DType::i32, value, -kBound);
}

}  // namespace

Expr convert(DType to, const Expr& value) {
    const DType from = value->dtype;
    if (from == to) return value;
    if (compute_dtype(from) != from) return convert(to, expr::cast(DType::f32, value));
    if (compute_dtype(to) != to) return expr::cast(to, expr::cast(DType::f32, value));
    if (!is_floating(from) || !is_integer(to)) return expr::cast(to, value);
    if (to == DType::u64) return truncate_to_u64(value);
    const bool wide = to == DType::i64 || to == DType::u32 || to == DType::u8;
    return expr::cast(to, wide ? truncate_to_i64(value) : truncate_to_i32(value));
}

expr::Value convert(DType to, const expr::Value& value) {
    if (value.dtype() == to) return value;
    return expr::Value(to, value.sizes(), [=](const expr::Index& index) { return convert(to, value(index)); });
}

expr::Value broadcast(const expr::Value& value, const Sizes& sizes) {
    if (value.sizes() == sizes) return value;
    WHITTLE_CHECK(value.sizes().size() <= sizes.size(), "broadcast to fewer dimensions");
    const std::size_t skipped = sizes.size() - value.sizes().size();
    return expr::Value(value.dtype(), sizes, [=](const expr::Index& index) {
        expr::Index inner;
        for (std::size_t d = 0; d < value.sizes().size(); ++d)
            inner.push_back(value.sizes()[d] == 1 ? expr::index(0) : index[skipped + d]);
        return value(inner);
    });
}

expr::Value constant_value(DType dtype, const Scalar& number) {
    // Through a tensor, so that a number that does not fit becomes what ATen's 0-d tensor of it would hold.
    const DType compute = compute_dtype(dtype);
    const Expr element = expr::constant(compute, Tensor::of(number, dtype).to(compute).item());
    return expr::Value(dtype, {}, [=](const expr::Index&) { return expr::cast(dtype, element); });
}

expr::Value read(const std::variant<expr::Value, Scalar>& operand, const Sizes& sizes, DType common) {
    if (const auto* scalar = std::get_if<Scalar>(&operand)) {
        const DType compute = compute_dtype(common);
        const Expr element = expr::constant(compute, Tensor::of(*scalar, common).to(compute).item());
        return expr::Value(compute, sizes, [=](const expr::Index&) { return element; });
    }
    return convert(compute_dtype(common), convert(common, broadcast(std::get<expr::Value>(operand), sizes)));
}

expr::Value pointwise(const std::vector<expr::Value>& operands, const Sizes& sizes, DType result,
                      std::function<Expr(const std::vector<Expr>&)> f) {
    return expr::Value(result, sizes, [=, f = std::move(f)](const expr::Index& index) {
        std::vector<Expr> elements;
        for (const expr::Value& operand : operands) elements.push_back(operand(index));
        return convert(result, f(elements));
    });
}

Expr is_nan(const Expr& x) {
    if (!is_floating(x->dtype)) return expr::constant(DType::boolean, Scalar(false));
    return expr::unary(expr::Op::is_nan, x);
}
Expr is_infinite(const Expr& x) {
    if (!is_floating(x->dtype)) return expr::constant(DType::boolean, Scalar(false));
    return expr::equal(expr::unary(expr::Op::abs, x), constant(x, std::numeric_limits<double>::infinity()));
}

}  // namespace whittle
