// Complex numbers and their parts. Definitions: https://pytorch.org/docs/stable/complex_numbers.html
//
// A conjugate is computed where it is asked for: what LibTorch marks by a flag on a view is a tensor of its own here,
// so no kernel has to know of it. Parts are views, as in ATen.
#include <cmath>
#include <numbers>

#include "base/error.h"
#include "ops/aten/complex_grad.h"
#include "ops/aten/families.h"
#include "ops/aten/view_grad.h"
#include "ops/core/complex.h"
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
    template <Complex T>
    static T eval(T x) {
        return std::conj(x);
    }
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

// --- Angles, and numbers made of parts ---

/// 0 and pi for real numbers; NaN for NaN.
struct Angle : FloatingFunction {
    static DType result(DType dtype) { return real_of(FloatingFunction::result(dtype)); }
    template <Floating T>
    static T eval(T x) {
        return x != x ? x : x < 0 ? std::numbers::pi_v<T> : T(0);
    }
    template <Complex T>
    static typename T::value_type eval(T x) {
        return std::arg(x);
    }
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
template <class T>
Pair pair_of(const Arguments<T>& arguments) {
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

// --- Records ---

constexpr DTypeSet kParts = set_of(DType::f32) | set_of(DType::f64);

constexpr OpDef conj_op(std::string_view schema, DTypeSet dtypes = kAnyDType | kComplex) {
    return {.doc = "the complex conjugate, a tensor of its own; real tensors are their own",
            .schema = schema,
            .dtypes = dtypes,
            .infer = infer_conj,
            .eval = eval_conj,
            .grad = conj_grad};
}
/// A view's flag is resolved: there are none.
constexpr OpDef resolve_op(std::string_view schema) {
    return {.doc = "self: no tensor has a conjugate or negative bit",
            .schema = schema,
            .dtypes = kAnyDType | kComplex,
            .infer = infer_self,
            .eval = eval_self,
            .lower = [](expr::GroupBuilder&, const Arguments<expr::Value>& arguments) -> std::vector<expr::Value> {
                return {arguments.tensor("self")};
            },
            .grad = aten::pass_gradient,
            .bound = kBoundExact};
}

constexpr OpDef kComplexOps[] = {
    {.doc = "the real parts, a view",
     .schema = "real(Tensor(a) self) -> Tensor(a)",
     .dtypes = kAnyDType | kComplex,
     .infer = infer_part<0>,
     .eval = eval_part<0>,
     .lower = [](expr::GroupBuilder&, const Arguments<expr::Value>& arguments) -> std::vector<expr::Value> {
         return {arguments.tensor("self")};
     },
     .grad = aten::pass_gradient,
     .bound = kBoundExact},
    {.doc = "the imaginary parts, a view",
     .schema = "imag(Tensor(a) self) -> Tensor(a)",
     .dtypes = kComplex,
     .infer = infer_part<1>,
     .eval = eval_part<1>,
     .grad = imag_grad},
    {.doc = "both parts in a last dimension, a view",
     .schema = "view_as_real(Tensor(a) self) -> Tensor(a)",
     .dtypes = kComplex,
     .infer = infer_as_real,
     .eval = eval_as_real,
     .grad = view_as_real_grad},
    {.doc = "pairs seen as complex numbers, a view",
     .schema = "view_as_complex(Tensor(a) self) -> Tensor(a)",
     .dtypes = kParts,
     .infer = infer_as_complex,
     .eval = eval_as_complex,
     .grad = view_as_complex_grad},
    conj_op("conj(Tensor(a) self) -> Tensor(a)"),
    conj_op("_conj(Tensor(a) self) -> Tensor(a)", kComplex),
    conj_op("conj_physical(Tensor self) -> Tensor"),
    resolve_op("resolve_conj(Tensor(a) self) -> Tensor(a)"),
    resolve_op("resolve_neg(Tensor(a) self) -> Tensor(a)"),
    {.doc = "the angle in the plane",
     .schema = "angle(Tensor self) -> Tensor",
     .dtypes = kAnyDType | kComplex,
     .infer = infer_unary<Angle>,
     .eval = eval_unary<Angle>,
     .lower = lower_unary<Angle>,
     .grad = angle_grad},
    {.doc = "of real and imaginary parts",
     .schema = "complex(Tensor real, Tensor imag) -> Tensor",
     .dtypes = kParts,
     .infer = infer_pair,
     .eval = eval_pair<false>,
     .grad = complex_grad},
    {.doc = "of magnitude and angle",
     .schema = "polar(Tensor abs, Tensor angle) -> Tensor",
     .dtypes = kParts,
     .infer = infer_pair,
     .eval = eval_pair<true>,
     .grad = polar_grad},
};

}  // namespace

std::span<const OpDef> complex_ops() { return kComplexOps; }

}  // namespace whittle
