#include "ops/core/gradients.h"

#include "base/error.h"
#include "tensor/dtype.h"

namespace whittle {

void Gradients::check(DType dtype) const {
    if (is_complex(dtype) && !takes_complex_)
        throw Error("found a complex gradient in aten." + schema().name +
                        ", expected a real gradient: the op has no gradient rule for complex numbers",
                    "call detach() on the inputs of the op");
}

V Gradients::grad(std::size_t index) const {
    check(results_.at(index).meta.dtype);
    if (const OptionalV& given = grads_.at(index)) return *given;
    const ValueMeta& meta = results_.at(index).meta;
    return builder().call("aten.zeros.default", {Arg::ints(meta.sizes)}, {{"dtype", meta.dtype}});
}

bool Gradients::needed(const V& operand) const { return is_inexact(operand.meta.dtype) && needed_(operand.ref); }

OptionalV Gradients::tensor_if_any(std::string_view parameter) const {
    if (!has(parameter)) return std::nullopt;
    const std::variant<V, Scalar> value = operand(parameter);
    const V* tensor = std::get_if<V>(&value);
    return tensor ? std::optional(*tensor) : std::nullopt;
}

bool Gradients::needed(std::string_view parameter) const {
    const OptionalV tensor = tensor_if_any(parameter);
    return tensor && needed(*tensor);
}

void Gradients::set(std::string_view parameter, const V& gradient) {
    if (const OptionalV tensor = tensor_if_any(parameter)) set(*tensor, gradient);
}

void Gradients::set(const V& operand, const V& gradient) {
    if (!needed(operand)) return;
    check(operand.meta.dtype);
    check(gradient.meta.dtype);
    V sum = sum_to_size(gradient, operand.meta.sizes);
    if (is_complex(sum.meta.dtype) && !is_complex(operand.meta.dtype)) sum = builder().call("aten.real.default", {sum});
    parts_.push_back({operand.ref, builder().convert(sum, operand.meta.dtype)});
}

Arg Gradients::conjugate(std::string_view name) const {
    const OptionalV x = tensor_if_any(name);
    if (!x) return given(name);
    return is_complex(x->dtype()) ? builder().call("aten.conj_physical.default", {*x}) : *x;
}

void GradientRule::operator()(Gradients& call) const {
    if (general_) return general_(call);
    call.takes_complex();
    call.set("self", formula_(of_self(call)));
}

void no_gradient(Gradients&) {}

void zero_gradient(Gradients& call) {
    call.takes_complex();
    call.set("self", call.builder().call("aten.zeros_like.default", {call.grad()}));
}

V sum_to_size(const V& value, const Sizes& sizes) {
    const Sizes& from = value.meta.sizes;
    if (from == sizes) return value;
    const auto misfit = [&] {
        return Error("found a gradient of sizes " + to_string(from) + " for an operand of sizes " + to_string(sizes) +
                     ", expected sizes to which the operand broadcasts");
    };
    if (from.size() < sizes.size()) throw misfit();
    const std::size_t added = from.size() - sizes.size();
    std::vector<std::int64_t> leading, stretched;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (i < added)
            leading.push_back(static_cast<std::int64_t>(i));
        else if (sizes[i - added] == 1 && from[i] != 1)
            stretched.push_back(static_cast<std::int64_t>(i - added));
        else if (sizes[i - added] != from[i])
            throw misfit();
    }
    V sum = value;
    if (!leading.empty()) sum = value.builder->call("aten.sum.dim_IntList", {sum, Arg::ints(leading), false});
    if (!stretched.empty()) sum = value.builder->call("aten.sum.dim_IntList", {sum, Arg::ints(stretched), true});
    return sum;
}

}  // namespace whittle
