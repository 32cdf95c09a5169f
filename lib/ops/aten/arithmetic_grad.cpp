// Gradients of functions of two operands and more. Operands may have been broadcast: what is set is summed.
#include <cmath>

#include "ops/aten/formulas.h"
#include "ops/aten/pointwise_grad.h"

namespace whittle {

namespace {

using namespace aten;

/// Either operand may be a number.
V compare(const Gradients& c, const std::string& comparison, const Arg& x, const Arg& y) {
    return c.builder().call("aten." + comparison + (y.node() ? ".Tensor" : ".Scalar"), {x, y});
}

/// Equal operands share the gradient.
void extremum_grad(Gradients& c, const char* loses, const char* wins) {
    const Arg x = c.given("self"), y = c.given("other");
    const V equal = compare(c, "eq", x, y), shared = where(equal, c.grad() / 2, c.grad());
    if (c.needed("self")) c.set("self", drop(compare(c, loses, x, y), shared));
    if (c.needed("other")) c.set("other", drop(compare(c, wins, x, y), shared));
}

/// Self has all of it where it is chosen, equal operands included.
void number_extremum_grad(Gradients& c, const char* chosen) {
    const Arg x = c.given("self"), y = c.given("other");
    const V other_is_nan = compare(c, "ne", y, y), self = logical_or(compare(c, chosen, x, y), other_is_nan);
    if (c.needed("self")) c.set("self", keep(self, c.grad()));
    if (c.needed("other")) c.set("other", drop(self, c.grad()));
}

/// Of self - other * rounded(self / other).
void modulo_grad(Gradients& c, const char* rounding) {
    c.set("self", c.grad());
    if (!c.needed("other")) return;
    const V quotient = c.builder().call("aten.div.Tensor_mode", {c.given("self"), c.given("other")},
                                        {{"rounding_mode", Arg(rounding)}});
    c.set("other", -c.grad() * quotient);
}

}  // namespace

void add_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", c.grad());
    if (c.needed("other")) c.set("other", scaled(c.grad(), c.scalar("alpha")));
}
void sub_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", c.grad());
    if (c.needed("other")) c.set("other", scaled(-c.grad(), c.scalar("alpha")));
}
void rsub_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", scaled(-c.grad(), c.scalar("alpha")));
    if (c.needed("other")) c.set("other", c.grad());
}
void mul_grad(Gradients& c) {
    c.takes_complex();
    if (c.needed("self")) c.set("self", c.grad() * c.conjugate("other"));
    if (c.needed("other")) c.set("other", c.grad() * c.conjugate("self"));
}
void maximum_grad(Gradients& c) { extremum_grad(c, "lt", "gt"); }
void minimum_grad(Gradients& c) { extremum_grad(c, "gt", "lt"); }
void fmax_grad(Gradients& c) { number_extremum_grad(c, "ge"); }
void fmin_grad(Gradients& c) { number_extremum_grad(c, "le"); }
void atan2_grad(Gradients& c) {
    const V y = c.tensor("self"), x = c.tensor("other");
    const V over = reciprocal(y * y + x * x);
    if (c.needed("self")) c.set("self", c.grad() * (x * over));
    if (c.needed("other")) c.set("other", c.grad() * (-y * over));
}

void div_grad(Gradients& c) {
    c.takes_complex();
    const Arg y = c.conjugate("other");
    if (c.needed("self")) c.set("self", c.grad() / y);
    if (!c.needed("other")) return;
    const V quotient = c.builder().call("aten.div.Tensor", {c.conjugate("self"), y});  // self may be a number
    c.set("other", -c.grad() * (quotient / y));
}
void div_mode_grad(Gradients& c) {
    if (!c.has("rounding_mode")) return div_grad(c);
    const V zero = zeros_like(c.grad());
    for (const char* name : {"self", "other"})
        if (c.needed(name)) c.set(name, zero);
}
void remainder_grad(Gradients& c) { modulo_grad(c, "floor"); }
void fmod_grad(Gradients& c) { modulo_grad(c, "trunc"); }

/// x^0 has no slope, whatever x.
void pow_grad(Gradients& c) {
    const V x = c.tensor("self"), exponent = c.tensor("exponent");
    if (c.needed("self")) {
        const V below = pow(x, exponent + -1);
        const V slope = c.grad() * (exponent * below);
        c.set("self", drop(eq(exponent, 0), slope));
    }
    if (!c.needed("exponent")) return;
    const V flat = logical_and(eq(x, 0), ge(exponent, 0));
    const V slope = c.result() * log(x);
    c.set("exponent", c.grad() * drop(flat, slope));
}
V pow_number_grad(const OfSelf& r) {
    const double exponent = r.call.scalar("exponent").to_double();
    if (exponent == 0) return zeros_like(r.x);
    return r.g * conjugate(pow(r.x, exponent - 1) * exponent);
}
void pow_of_number_grad(Gradients& c) {
    const double base = c.scalar("self").to_double();
    if (base > 0) c.takes_complex();  // of others the logarithm is complex
    const V grad = c.grad();
    V slope = c.result() * std::log(base);
    if (base == 0) slope = drop(ge(c.tensor("exponent"), 0), slope);
    c.set("exponent", grad * conjugate(slope));
}

/// The bounds belong to the inside.
V clamp_grad(const OfSelf& r) {
    OptionalV inside;
    if (const std::optional<Scalar> low = r.call.optional_scalar("min")) inside = ge(r.x, *low);
    if (const std::optional<Scalar> high = r.call.optional_scalar("max")) {
        const V below = le(r.x, *high);
        inside = inside ? logical_and(*inside, below) : below;
    }
    return inside ? keep(*inside, r.g) : r.g;
}
V clamp_min_grad(const OfSelf& r) { return keep(ge(r.x, r.call.scalar("min")), r.g); }
V clamp_max_grad(const OfSelf& r) { return keep(le(r.x, r.call.scalar("max")), r.g); }
/// Crossed bounds give the upper one.
void clamp_tensor_grad(Gradients& c) {
    const V x = c.tensor("self"), g = c.grad();
    const OptionalV low = c.optional_tensor("min"), high = c.optional_tensor("max");
    if (c.needed("self")) {
        V gradient = g;
        if (low) gradient = keep(ge(x, *low), gradient);
        if (high) gradient = keep(le(x, *high), gradient);
        c.set("self", gradient);
    }
    if (c.needed("min")) {
        V taken = lt(x, *low);
        if (high) taken = logical_and(lt(*low, *high), taken);
        c.set("min", keep(taken, g));
    }
    if (c.needed("max")) {
        V taken = gt(x, *high);
        if (low) taken = logical_or(lt(*high, *low), taken);
        c.set("max", keep(taken, g));
    }
}

void lerp_grad(Gradients& c) {
    c.takes_complex();
    const Arg weight = c.given("weight");
    if (c.needed("self")) {
        const Arg rest = weight.node() ? complement(conjugate(c.tensor("weight"))) : Arg(1 - c.number("weight"));
        c.set("self", c.grad() * rest);
    }
    if (c.needed("end")) c.set("end", c.grad() * c.conjugate("weight"));
    if (weight.node() && c.needed("weight")) c.set("weight", c.grad() * conjugate(c.tensor("end") - c.tensor("self")));
}
void addcmul_grad(Gradients& c) {
    c.takes_complex();
    const Scalar value = c.scalar("value");
    c.set("self", c.grad());
    if (c.needed("tensor1")) c.set("tensor1", c.grad() * scaled(conjugate(c.tensor("tensor2")), value));
    if (c.needed("tensor2")) c.set("tensor2", c.grad() * scaled(conjugate(c.tensor("tensor1")), value));
}
void addcdiv_grad(Gradients& c) {
    c.takes_complex();
    const Scalar value = c.scalar("value");
    const V over = conjugate(c.tensor("tensor1")), under = conjugate(c.tensor("tensor2"));
    c.set("self", c.grad());
    if (c.needed("tensor1")) c.set("tensor1", c.grad() * scaled(reciprocal(under), value));
    if (c.needed("tensor2")) {
        const V slope = scaled(over, value) / (under * under);
        c.set("tensor2", -c.grad() * slope);
    }
}

void where_grad(Gradients& c) {
    c.takes_complex();
    const V condition = c.tensor("condition");
    if (c.needed("self")) c.set("self", keep(condition, c.grad()));
    if (c.needed("other")) c.set("other", where(condition, Scalar(0), c.grad()));
}
void masked_fill_grad(Gradients& c) {
    c.takes_complex();
    const V mask = c.tensor("mask");
    if (c.needed("self")) c.set("self", drop(mask, c.grad()));
    if (c.needed("value")) c.set("value", keep(mask, c.grad()));
}

}  // namespace whittle
