// Complex numbers and their parts. Definitions: https://pytorch.org/docs/stable/complex_numbers.html
//
// A conjugate is computed where it is asked for: what LibTorch marks by a flag on a view is a tensor of its own here,
// so no kernel has to know of it. Parts are views, as in ATen.
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/pointwise.h"
#include "tensor/complex.h"

namespace whittle {
namespace {

// --- Parts, which are views ---

/// The metas of the real view under the sizes and strides of the complex one.
ValueMeta part_meta(const ValueMeta& self) {
    ValueMeta part = self;
    part.dtype = real_of(self.dtype);
    for (std::int64_t& stride : part.strides) stride *= 2;
    return part;
}

/// kPart 0: real, which real tensors are themselves; 1: imaginary.
template <int kPart>
std::vector<ValueMeta> infer_part(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self");
    return {is_complex(self.dtype) ? part_meta(self) : self};
}
template <int kPart>
std::vector<Tensor> eval_part(const Arguments<Tensor>& arguments) {
    const Tensor self = arguments.tensor("self");
    return {is_complex(self.dtype()) ? part_of(self, kPart) : self};
}

std::vector<ValueMeta> infer_as_real(const Arguments<ValueMeta>& arguments) {
    ValueMeta parts = part_meta(arguments.tensor("self"));
    parts.sizes.push_back(2);
    parts.strides.push_back(1);
    return {parts};
}
std::vector<Tensor> eval_as_real(const Arguments<Tensor>& arguments) { return {as_real(arguments.tensor("self"))}; }

std::vector<ValueMeta> infer_as_complex(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self");
    Sizes sizes = self.sizes;
    Strides strides = self.strides;
    if (sizes.empty() || sizes.back() != 2 || strides.back() != 1)
        throw Error("view_as_complex: found sizes " + to_string(sizes) + " with strides " + to_string(strides) +
                    ", expected a last dimension of size 2 and stride 1");
    sizes.pop_back();
    strides.pop_back();
    for (std::int64_t& stride : strides) {
        if (stride % 2 != 0)
            throw Error("view_as_complex: found strides " + to_string(self.strides) +
                        ", expected multiples of 2 in all dimensions but the last");
        stride /= 2;
    }
    ValueMeta result = self;
    result.dtype = complex_of(self.dtype);
    result.sizes = std::move(sizes);
    result.strides = std::move(strides);
    return {result};
}
std::vector<Tensor> eval_as_complex(const Arguments<Tensor>& arguments) {
    return {as_complex(arguments.tensor("self"))};
}

// --- Conjugates ---

struct Conjugate : Arithmetic {
    static auto eval(Complex auto x) { return std::conj(x); }
};

std::vector<ValueMeta> infer_conj(const Arguments<ValueMeta>& arguments) {
    const ValueMeta self = arguments.tensor("self");
    return {is_complex(self.dtype) ? ValueMeta::contiguous(self.dtype, self.sizes) : self};
}
std::vector<Tensor> eval_conj(const Arguments<Tensor>& arguments) {
    const Tensor self = arguments.tensor("self");
    if (!is_complex(self.dtype())) return {self};
    return eval_unary<Conjugate>(arguments);
}

std::vector<ValueMeta> infer_self(const Arguments<ValueMeta>& arguments) { return {arguments.tensor("self")}; }
std::vector<Tensor> eval_self(const Arguments<Tensor>& arguments) { return {arguments.tensor("self")}; }
std::vector<expr::Value> lower_self(expr::GroupBuilder&, const Arguments<expr::Value>& arguments) {
    return {arguments.tensor("self")};
}

// --- Angles, and numbers made of parts ---

/// 0 and pi for real numbers; NaN for NaN.
struct Angle : FloatingFunction {
    static DType result(DType dtype) { return real_of(FloatingFunction::result(dtype)); }
    template <Floating T>
    static T eval(T x) {
        return x != x ? x : x < 0 ? std::numbers::pi_v<T> : T(0);
    }
    static auto eval(Complex auto x) { return std::arg(x); }
    static Expr lower(const Expr& x) {
        const Expr half_turn = expr::select(x < constant(x, 0), constant(x, std::numbers::pi), constant(x, 0));
        return expr::select(is_nan(x), x, half_turn);
    }
};

/// The complex numbers of f(left, right), element by element.
struct Pair {
    Sizes sizes;
    DType dtype;
};
Pair pair_of(const AnyArguments auto& arguments) {
    const std::string &left = arguments.schema().params[0].name, &right = arguments.schema().params[1].name;
    const OperandInfo a = operand_info(arguments.tensor(left)), b = operand_info(arguments.tensor(right));
    if (a.dtype != b.dtype)
        throw Error(arguments.schema().name + ": found dtypes " + std::string(name(a.dtype)) + " and " +
                    std::string(name(b.dtype)) + ", expected equal dtypes");
    return {broadcast_all({a, b}), complex_of(a.dtype)};
}

std::vector<ValueMeta> infer_pair(const Arguments<ValueMeta>& arguments) {
    const auto [sizes, dtype] = pair_of(arguments);
    return {ValueMeta::contiguous(dtype, sizes)};
}

template <bool kPolar>
std::vector<Tensor> eval_pair(const Arguments<Tensor>& arguments) {
    const auto [sizes, dtype] = pair_of(arguments);
    return {visit_complex(dtype, [&, &sizes = sizes, dtype = dtype]<class T>(T) {
        using Part = typename T::value_type;
        const std::vector<Part> a = load_broadcast<Part>(arguments.tensor(arguments.schema().params[0].name), sizes),
                                b = load_broadcast<Part>(arguments.tensor(arguments.schema().params[1].name), sizes);
        std::vector<T> out(a.size());
        for (std::size_t i = 0; i < out.size(); ++i)
            out[i] = kPolar ? T(a[i] * std::cos(b[i]), a[i] * std::sin(b[i])) : T(a[i], b[i]);
        return store(out, dtype, sizes);
    })};
}

constexpr DTypeSet kParts = set_of(DType::f32) | set_of(DType::f64);

// --- Gradients ---
// A gradient is PyTorch's: by the real part, plus i times by the imaginary part, so that of a function f with a
// derivative it is the result's times the conjugate of f'.
// https://pytorch.org/docs/stable/notes/autograd.html#autograd-for-complex-numbers

using namespace aten;

V times_i(const V& x) { return complex(-imag(x), real_part(x)); }

V imag_grad(const OfSelf& r) { return complex(zeros_like(r.g), r.g); }
V view_as_real_grad(const OfSelf& r) {
    const auto part = [&](int i) { return select(r.g, -1, i); };
    return complex(part(0), part(1));
}
V view_as_complex_grad(const OfSelf& r) { return view_as_real(r.g); }
V conj_grad(const OfSelf& r) { return conjugate(r.g); }
/// 0 of real numbers, and at 0.
V angle_grad(const OfSelf& r) {
    if (!is_complex(r.x.dtype())) return zeros_like(r.g);
    const V magnitude = abs(r.x);
    const V around = times_i(r.x) / (magnitude * magnitude);
    return drop(eq(magnitude, 0), around * r.g);
}
void complex_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("real")) c.set("real", real_part(c.grad()));
    if (c.needed("imag")) c.set("imag", imag(c.grad()));
}
void polar_grad(Gradients& c) {
    c.takes_complex();
    const V turned = conjugate(c.grad());
    if (c.needed("abs")) c.set("abs", real_part(turned * sgn(c.result())));
    if (c.needed("angle")) c.set("angle", real_part(turned * times_i(c.result())));
}

constexpr OpDef conj_op(std::string_view schema, DTypeSet dtypes = kAnyDType | kComplex) {
    return primitive(schema, "the complex conjugate as a new tensor; a real tensor is returned unchanged", dtypes,
                     {infer_conj, eval_conj}, conj_grad);
}
/// A view's flag is resolved: there are none.
constexpr OpDef resolve_op(std::string_view schema) {
    return primitive(schema, "self, because tensors in graphs have no conjugate or negative bit", kAnyDType | kComplex,
                     {infer_self, eval_self, lower_self}, aten::pass_gradient, kBoundExact);
}

constexpr OpDef kComplexOps[] = {
    primitive("real(Tensor(a) self) -> Tensor(a)", "the real parts, a view", kAnyDType | kComplex,
              {infer_part<0>, eval_part<0>, lower_self}, aten::pass_gradient, kBoundExact),
    primitive("imag(Tensor(a) self) -> Tensor(a)", "the imaginary parts, a view", kComplex,
              {infer_part<1>, eval_part<1>}, imag_grad),
    primitive("view_as_real(Tensor(a) self) -> Tensor(a)", "both parts in a last dimension, a view", kComplex,
              {infer_as_real, eval_as_real}, view_as_real_grad),
    primitive("view_as_complex(Tensor(a) self) -> Tensor(a)", "a view of pairs of numbers as complex numbers", kParts,
              {infer_as_complex, eval_as_complex}, view_as_complex_grad),
    conj_op("conj(Tensor(a) self) -> Tensor(a)"),
    conj_op("_conj(Tensor(a) self) -> Tensor(a)", kComplex),
    conj_op("conj_physical(Tensor self) -> Tensor"),
    resolve_op("resolve_{conj|neg}(Tensor(a) self) -> Tensor(a)"),
    primitive("angle(Tensor self) -> Tensor", "the angle of each number in the complex plane", kAnyDType | kComplex,
              {infer_unary<Angle>, eval_unary<Angle>, lower_unary<Angle>}, angle_grad),
    primitive("complex(Tensor real, Tensor imag) -> Tensor", "complex numbers with given real and imaginary parts",
              kParts, {infer_pair, eval_pair<false>}, complex_grad),
    primitive("polar(Tensor abs, Tensor angle) -> Tensor", "complex numbers with given magnitude and angle", kParts,
              {infer_pair, eval_pair<true>}, polar_grad),
};

}  // namespace

std::span<const OpDef> complex_ops() { return kComplexOps; }

}  // namespace whittle
