// What element-by-element families share: ATen's type promotion, broadcasting, kernels over the compute types, and
// the same in tensor expressions. An op is a functor F, from which the templates below make infer, eval and lower:
//
//   struct Maximum : Arithmetic {                      // the rule: which dtypes it computes in and results in
//       template <Number T> static T eval(T a, T b);   // the kernel, for the compute types it is defined on
//       static expr::Expr lower(Expr a, Expr b);       // the same on expressions of the compute dtype
//   };
#pragma once

#include <concepts>
#include <memory>
#include <string_view>
#include <variant>
#include <vector>

#include "base/error.h"
#include "ops/core/op.h"
#include "tensor/compute.h"

namespace whittle {

// --- Promotion and broadcasting ---

/// What promotion and broadcasting know of an operand.
struct OperandInfo {
    DType dtype = DType::f32;
    Sizes sizes = {};
    bool wrapped = false;  ///< a host number, which promotes only to another category
};

inline OperandInfo operand_info(const ValueMeta& meta) { return {meta.dtype, meta.sizes}; }
inline OperandInfo operand_info(const Tensor& tensor) { return {tensor.dtype(), tensor.sizes()}; }
inline OperandInfo operand_info(const V& value) { return operand_info(value.meta); }
inline OperandInfo operand_info(const expr::Value& value) { return {value.dtype(), value.sizes()}; }
inline OperandInfo operand_info(const Scalar& scalar) { return {scalar.dtype(), {}, true}; }
/// Of a Tensor or Scalar parameter.
template <class T>
OperandInfo operand_info(const std::variant<T, Scalar>& operand) {
    return std::visit([](const auto& given) { return operand_info(given); }, operand);
}
OperandInfo operand_info(const AnyArguments auto& arguments, std::string_view name) {
    return operand_info(arguments.operand(name));
}

/// at::result_type: tensors with dimensions decide; 0-d tensors and then numbers only raise the category (bool,
/// integer, floating). https://pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
DType result_type(const std::vector<OperandInfo>& operands);
/// The sizes all operands broadcast to. Throws Error naming two shapes that do not fit.
Sizes broadcast_all(const std::vector<OperandInfo>& operands);

/// The result of functions that are floating on integers too: integers and bool give f32, torch's default dtype.
inline DType floating_result(DType dtype) { return is_inexact(dtype) ? dtype : DType::f32; }
/// The dtype ATen's CPU kernels compute in: f32 for f16 and bf16, else the dtype itself.
inline DType compute_dtype(DType dtype) { return is_reduced(dtype) ? DType::f32 : dtype; }

/// What operands promote and broadcast to.
struct Promotion {
    Sizes sizes;
    DType dtype;
};

// --- Kernels on tensors ---

template <class T>
concept Floating = std::floating_point<T>;
/// Integers and floats, not bool.
template <class T>
concept Number = std::is_arithmetic_v<T> && !std::same_as<T, bool>;
/// Integers, floats and bool: what has an order.
template <class T>
concept Real = std::is_arithmetic_v<T>;
template <class T>
concept Complex = is_complex_type<T>;
/// Integers and bool.
template <class T>
concept Integral = std::integral<T>;

/// Row-major elements under `sizes`, converted first to `common` (what the op promotes to) and then to T, so that a
/// number or a wider tensor is rounded or wrapped as ATen does before it computes.
template <class T>
std::vector<T> read(const std::variant<Tensor, Scalar>& operand, const Sizes& sizes, DType common);

/// What read() gives, for those who only look: elements that lie in a tensor's memory as they are wanted stay there,
/// and a number is there once.
template <class T>
class Broadcast {
  public:
    Broadcast(const std::variant<Tensor, Scalar>& operand, const Sizes& sizes, DType common);
    Broadcast(const Broadcast&) = delete;
    Broadcast& operator=(const Broadcast&) = delete;
    const T& operator[](std::size_t i) const { return data_[i * step_]; }

  private:
    const T* data_;
    std::size_t step_ = 1;
    std::shared_ptr<const void> memory_ = {};
    T number_ = {};
};

/// What an operand is converted to before a kernel computes in compute_dtype(common): `common`, but where kExactNumbers
/// a host number stays exact beside a half type. ATen's add, sub, mul and div read numbers in their compute type; its
/// other ops round them to the common dtype first.
template <bool kExactNumbers, class T>
DType read_dtype(const std::variant<T, Scalar>& operand, DType common) {
    const bool exact = kExactNumbers && std::holds_alternative<Scalar>(operand);
    return exact && is_floating(common) ? (common == DType::f64 ? common : DType::f32) : common;
}

/// f at every element. `common`: see read(); visit_ordered(common) is T.
template <class T, class R>
Tensor map(const Tensor& x, DType common, DType result, R (*f)(T));
template <class T, class R>
Tensor map(const Broadcast<T>& a, const Broadcast<T>& b, const Sizes& sizes, DType result, R (*f)(T, T));
/// R f(std::size_t) at every row-major position, as a tensor of these sizes; R is result's compute type.
template <class R, class F>
Tensor tabulate(const Sizes& sizes, DType result, const F& f) {
    const auto count = static_cast<std::size_t>(element_count(sizes));
    if (dtype_of<R> == result) {
        Tensor made(result, sizes);
        R* const out = made.mutable_data<R>();
        for (std::size_t i = 0; i < count; ++i) out[i] = f(i);
        return made;
    }
    std::vector<R> out(count);
    for (std::size_t i = 0; i < count; ++i) out[i] = f(i);
    return store(out, result, sizes);
}

// --- Tensor expressions ---

using expr::Expr;

/// A cast with ATen's meaning for NaN and out-of-range floats (see tensor/convert.h), where expr::cast leaves them
/// open.
Expr convert(DType to, const Expr& value);
expr::Value convert(DType to, const expr::Value& value);
/// The same elements under the sizes they broadcast to.
expr::Value broadcast(const expr::Value& value, const Sizes& sizes);
/// A 0-d constant.
expr::Value constant_value(DType dtype, const Scalar& number);
/// An operand converted to `common` and then to compute_dtype(common), broadcast to `sizes`.
expr::Value read(const std::variant<expr::Value, Scalar>& operand, const Sizes& sizes, DType common);
/// f of the operands' elements (all of sizes `sizes`), converted to `result`.
expr::Value pointwise(const std::vector<expr::Value>& operands, const Sizes& sizes, DType result,
                      std::function<Expr(const std::vector<Expr>&)> f);

/// a < b ? … with IEEE comparisons; `x != x`, which is true for NaN. False for integers.
Expr is_nan(const Expr& x);
/// False for integers.
Expr is_infinite(const Expr& x);

// --- Rules: which dtype an op computes in and results in, given what its operands promote to ---

/// The names of a binary op's parameters.
struct Operands {
    static constexpr std::string_view left = "self", right = "other";
    static constexpr bool exact_numbers = false;  ///< see read_dtype()
};
/// Same in, same out: add, abs, maximum.
struct Arithmetic : Operands {
    static constexpr Bound bound = rounds_by(1);
    static DType common(DType promoted) { return promoted; }
    static DType result(DType promoted) { return promoted; }
};
/// Integers become floats: exp, true division.
struct FloatingFunction : Operands {
    static constexpr Bound bound = rounds_by(4);  ///< scripts/measure-ulps, with a margin
    static DType common(DType promoted) { return floating_result(promoted); }
    static DType result(DType promoted) { return floating_result(promoted); }
};
/// Computed in the promoted dtype, results in bool: eq, isnan.
struct Predicate : Operands {
    static constexpr Bound bound = kBoundStep;
    static DType common(DType promoted) { return promoted; }
    static DType result(DType) { return DType::boolean; }
};

// --- Ops from functors ---

/// F has a kernel of exactly this compute type (not one it converts to).
template <class F, class T>
concept Unary = requires {
    static_cast<decltype(F::eval(T{})) (*)(T)>(&F::eval);
};
template <class F, class T>
concept Binary = requires {
    static_cast<decltype(F::eval(T{}, T{})) (*)(T, T)>(&F::eval);
};

/// What a kernel computes in for the compute type C: C, but int64_t where there is none for uint64_t, of whose results
/// the bits are then the same.
template <class C, bool kDefined>
using KernelType = std::conditional_t<std::same_as<C, std::uint64_t> && !kDefined, std::int64_t, C>;

[[noreturn]] void reject_dtype(const Schema& schema, DType dtype);

/// One operand "self".
template <class F>
std::vector<ValueMeta> infer_unary(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self");
    return {ValueMeta::contiguous(F::result(self.dtype), self.sizes)};
}

template <class F>
std::vector<Tensor> eval_unary(const Arguments<Tensor>& arguments) {
    const Tensor self = arguments.tensor("self");
    const DType common = F::common(self.dtype());
    const auto kernel = [&]<class C>(C) -> Tensor {
        using T = KernelType<C, Unary<F, C>>;
        if constexpr (Unary<F, T>) {
            return map<T, decltype(F::eval(T{}))>(self, common, F::result(self.dtype()), &F::eval);
        } else {
            reject_dtype(arguments.schema(), self.dtype());
        }
    };
    return {is_complex(common) ? visit_complex(common, kernel) : visit_ordered(common, kernel)};
}

template <class F>
std::vector<expr::Value> lower_unary(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    const expr::Value self = arguments.tensor("self");
    return {pointwise({read(self, self.sizes(), F::common(self.dtype()))}, self.sizes(), F::result(self.dtype()),
                      [](const std::vector<Expr>& x) { return F::lower(x[0]); })};
}

template <class F>
constexpr OpDef unary_op(std::string_view schema, std::string_view doc, DTypeSet dtypes = kAnyDType,
                         GradientRule grad = nullptr) {
    return primitive(schema, doc, dtypes, {infer_unary<F>, eval_unary<F>, lower_unary<F>}, grad, F::bound);
}

/// What a binary op makes of its operands.
struct BinaryTypes {
    Sizes sizes;
    DType common, result;
};
template <class F, class T>
BinaryTypes binary_types(const Arguments<T>& arguments, const std::variant<T, Scalar>& left,
                         const std::variant<T, Scalar>& right) {
    const std::vector<OperandInfo> operands = {operand_info(left), operand_info(right)};
    const DType promoted = result_type(operands);
    const bool defined = visit_arithmetic(F::common(promoted), []<class C>(C) { return Binary<F, C>; });
    if (!defined) reject_dtype(arguments.schema(), promoted);
    return {broadcast_all(operands), F::common(promoted), F::result(promoted)};
}
template <class F, class T>
BinaryTypes binary_types(const Arguments<T>& arguments) {
    return binary_types<F>(arguments, arguments.operand(F::left), arguments.operand(F::right));
}

/// Two operands F::left and F::right, each a Tensor or a Scalar parameter.
template <class F>
std::vector<ValueMeta> infer_binary(const Arguments<ValueMeta>& arguments) {
    const BinaryTypes types = binary_types<F>(arguments);
    return {ValueMeta::contiguous(types.result, types.sizes)};
}

template <class F>
std::vector<Tensor> eval_binary(const Arguments<Tensor>& arguments) {
    const auto left = arguments.operand(F::left), right = arguments.operand(F::right);
    const BinaryTypes types = binary_types<F>(arguments, left, right);
    const auto kernel = [&]<class C>(C) -> Tensor {
        using T = KernelType<C, Binary<F, C>>;
        if constexpr (Binary<F, T>) {
            const Broadcast<T> a(left, types.sizes, read_dtype<F::exact_numbers>(left, types.common)),
                b(right, types.sizes, read_dtype<F::exact_numbers>(right, types.common));
            return map<T, decltype(F::eval(T{}, T{}))>(a, b, types.sizes, types.result, &F::eval);
        } else {
            reject_dtype(arguments.schema(), types.common);
        }
    };
    return {is_complex(types.common) ? visit_complex(types.common, kernel) : visit_ordered(types.common, kernel)};
}

template <class F>
std::vector<expr::Value> lower_binary(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    const auto left = arguments.operand(F::left), right = arguments.operand(F::right);
    const BinaryTypes types = binary_types<F>(arguments, left, right);
    return {pointwise({read(left, types.sizes, read_dtype<F::exact_numbers>(left, types.common)),
                       read(right, types.sizes, read_dtype<F::exact_numbers>(right, types.common))},
                      types.sizes, types.result, [](const std::vector<Expr>& x) { return F::lower(x[0], x[1]); })};
}

template <class F>
constexpr OpDef binary_op(std::string_view schema, std::string_view doc, DTypeSet dtypes, GradientRule grad = nullptr) {
    return primitive(schema, doc, dtypes, {infer_binary<F>, eval_binary<F>, lower_binary<F>}, grad, F::bound);
}

}  // namespace whittle
