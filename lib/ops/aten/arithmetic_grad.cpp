// Gradients of functions of two operands and more. Operands may have been broadcast: what is set is summed.
#include <cmath>

#include "ops/aten/pointwise_grad.h"

namespace whittle {

namespace {

NodeValue compare(const Rule& r, const char* comparison, const Arg& x, const Arg& y) {
    return r.call("aten." + std::string(comparison) + (y.node() ? ".Tensor" : ".Scalar"), {x, y});
}

/// Equal operands share the gradient.
void extremum_grad(GraphBuilder& b, CallGradients& c, const char* loses, const char* wins) {
    const Rule r(b, c);
    const Arg x = r.operand("self"), y = r.operand("other");
    const NodeValue equal = compare(r, "eq", x, y);
    const NodeValue shared = r.call("aten.where.self", {arg(equal), arg(r.div(r.grad(), Arg(2))), arg(r.grad())});
    if (r.needed("self")) r.set("self", r.drop(compare(r, loses, x, y), shared));
    if (r.needed("other")) r.set("other", r.drop(compare(r, wins, x, y), shared));
}

/// Self has all of it where it is chosen, equal operands included.
void number_extremum_grad(GraphBuilder& b, CallGradients& c, const char* chosen) {
    const Rule r(b, c);
    const Arg x = r.operand("self"), y = r.operand("other");
    const NodeValue other_is_nan = compare(r, "ne", y, y);
    const NodeValue self = r.call("aten.logical_or.default", {arg(compare(r, chosen, x, y)), arg(other_is_nan)});
    if (r.needed("self")) r.set("self", r.keep(self, r.grad()));
    if (r.needed("other")) r.set("other", r.drop(self, r.grad()));
}

/// Of self - other * rounded(self / other).
void modulo_grad(GraphBuilder& b, CallGradients& c, const char* rounding) {
    const Rule r(b, c);
    r.set("self", r.grad());
    if (!r.needed("other")) return;
    const NodeValue quotient =
        b.call("aten.div.Tensor_mode", {r.operand("self"), r.operand("other")}, {{"rounding_mode", Arg(rounding)}});
    r.set("other", r.mul(r.neg(r.grad()), quotient));
}

}  // namespace

void add_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    r.set("self", r.grad());
    if (r.needed("other")) r.set("other", r.scaled(r.grad(), c.args().scalar("alpha")));
}
void sub_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    r.set("self", r.grad());
    if (r.needed("other")) r.set("other", r.scaled(r.neg(r.grad()), c.args().scalar("alpha")));
}
void rsub_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    if (r.needed("self")) r.set("self", r.scaled(r.neg(r.grad()), c.args().scalar("alpha")));
    if (r.needed("other")) r.set("other", r.grad());
}
void mul_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    if (r.needed("self")) r.set("self", r.mul(r.grad(), r.conjugate("other")));
    if (r.needed("other")) r.set("other", r.mul(r.grad(), r.conjugate("self")));
}
void maximum_grad(GraphBuilder& b, CallGradients& c) { extremum_grad(b, c, "lt", "gt"); }
void minimum_grad(GraphBuilder& b, CallGradients& c) { extremum_grad(b, c, "gt", "lt"); }
void fmax_grad(GraphBuilder& b, CallGradients& c) { number_extremum_grad(b, c, "ge"); }
void fmin_grad(GraphBuilder& b, CallGradients& c) { number_extremum_grad(b, c, "le"); }
void atan2_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const NodeValue y = r.tensor("self"), x = r.tensor("other");
    const NodeValue over = r.of("aten.reciprocal.default", r.add(r.mul(y, y), r.mul(x, x)));
    if (r.needed("self")) r.set("self", r.mul(r.grad(), r.mul(x, over)));
    if (r.needed("other")) r.set("other", r.mul(r.grad(), r.mul(r.neg(y), over)));
}

void div_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const Arg y = r.conjugate("other");
    if (r.needed("self")) r.set("self", r.div(r.grad(), y));
    if (!r.needed("other")) return;
    const NodeValue quotient = r.call("aten.div.Tensor", {r.conjugate("self"), y});
    r.set("other", r.mul(r.neg(r.grad()), r.div(quotient, y)));
}
void div_mode_grad(GraphBuilder& b, CallGradients& c) {
    if (!c.args().has("rounding_mode")) return div_grad(b, c);
    const Rule r(b, c);
    const NodeValue zero = r.zeros_like(r.grad());
    for (const char* name : {"self", "other"})
        if (r.needed(name)) r.set(name, zero);
}
void remainder_grad(GraphBuilder& b, CallGradients& c) { modulo_grad(b, c, "floor"); }
void fmod_grad(GraphBuilder& b, CallGradients& c) { modulo_grad(b, c, "trunc"); }

/// x^0 has no slope, whatever x.
void pow_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const NodeValue x = r.tensor("self"), exponent = r.tensor("exponent");
    if (r.needed("self")) {
        const NodeValue below = r.call("aten.pow.Tensor_Tensor", {arg(x), arg(r.add(exponent, -1))});
        const NodeValue slope = r.mul(r.grad(), r.mul(exponent, below));
        r.set("self", r.drop(compare(r, "eq", arg(exponent), 0), slope));
    }
    if (!r.needed("exponent")) return;
    const NodeValue flat =
        r.call("aten.logical_and.default", {arg(compare(r, "eq", arg(x), 0)), arg(compare(r, "ge", arg(exponent), 0))});
    const NodeValue slope = r.mul(r.result(), r.of("aten.log.default", x));
    r.set("exponent", r.mul(r.grad(), r.drop(flat, slope)));
}
void pow_number_grad(GraphBuilder& b, CallGradients& c) {
    const LinearOfSelf r(b, c);
    const double exponent = c.args().scalar("exponent").to_double();
    if (exponent == 0) return r.set(r.zeros_like(r.x));
    r.set(r.mul(r.g, r.conj(r.mul(r.pow(r.x, Arg(exponent - 1)), Arg(exponent)))));
}
void pow_of_number_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const double base = c.args().scalar("self").to_double();
    if (base > 0) c.takes_complex();  // of others the logarithm is complex
    const NodeValue grad = r.grad();
    NodeValue slope = r.mul(r.result(), Arg(std::log(base)));
    if (base == 0) slope = r.drop(compare(r, "ge", r.operand("exponent"), 0), slope);
    r.set("exponent", r.mul(grad, r.conj(slope)));
}

/// The bounds belong to the inside.
void clamp_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    std::optional<NodeValue> inside;
    if (const std::optional<Scalar> low = c.args().optional_scalar("min")) inside = compare(r, "ge", arg(r.x), *low);
    if (const std::optional<Scalar> high = c.args().optional_scalar("max")) {
        const NodeValue below = compare(r, "le", arg(r.x), *high);
        inside = inside ? r.call("aten.logical_and.default", {arg(*inside), arg(below)}) : below;
    }
    r.set(inside ? r.keep(*inside, r.g) : r.g);
}
void clamp_min_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.keep(compare(r, "ge", arg(r.x), Arg(c.args().scalar("min"))), r.g));
}
void clamp_max_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    r.set(r.keep(compare(r, "le", arg(r.x), Arg(c.args().scalar("max"))), r.g));
}
/// Crossed bounds give the upper one.
void clamp_tensor_grad(GraphBuilder& b, CallGradients& c) {
    const OfSelf r(b, c);
    const bool has_low = c.args().has("min"), has_high = c.args().has("max");
    const Arg x = arg(r.x), low = has_low ? r.operand("min") : Arg(), high = has_high ? r.operand("max") : Arg();
    const auto both = [&](const char* how, const NodeValue& one, const NodeValue& other) {
        return r.call("aten.logical_" + std::string(how) + ".default", {arg(one), arg(other)});
    };
    if (c.needed("self")) {
        NodeValue gradient = r.g;
        if (has_low) gradient = r.keep(compare(r, "ge", x, low), gradient);
        if (has_high) gradient = r.keep(compare(r, "le", x, high), gradient);
        r.set(gradient);
    }
    if (c.needed("min")) {
        NodeValue taken = compare(r, "lt", x, low);
        if (has_high) taken = both("and", compare(r, "lt", low, high), taken);
        c.set("min", r.keep(taken, r.g));
    }
    if (c.needed("max")) {
        NodeValue taken = compare(r, "gt", x, high);
        if (has_low) taken = both("or", compare(r, "lt", high, low), taken);
        c.set("max", r.keep(taken, r.g));
    }
}

void lerp_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const Arg weight = r.operand("weight");
    if (r.needed("self")) {
        const Arg rest =
            weight.node() ? arg(r.complement(r.conj(r.tensor("weight")))) : Arg(1 - c.args().number("weight"));
        r.set("self", r.mul(r.grad(), rest));
    }
    if (r.needed("end")) r.set("end", r.mul(r.grad(), r.conjugate("weight")));
    if (weight.node() && r.needed("weight"))
        r.set("weight", r.mul(r.grad(), r.conj(r.sub(r.tensor("end"), r.tensor("self")))));
}
void addcmul_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const Scalar value = c.args().scalar("value");
    r.set("self", r.grad());
    if (r.needed("tensor1")) r.set("tensor1", r.mul(r.grad(), r.scaled(r.conj(r.tensor("tensor2")), value)));
    if (r.needed("tensor2")) r.set("tensor2", r.mul(r.grad(), r.scaled(r.conj(r.tensor("tensor1")), value)));
}
void addcdiv_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const Scalar value = c.args().scalar("value");
    const NodeValue over = r.conj(r.tensor("tensor1")), under = r.conj(r.tensor("tensor2"));
    r.set("self", r.grad());
    if (r.needed("tensor1")) r.set("tensor1", r.mul(r.grad(), r.scaled(r.of("aten.reciprocal.default", under), value)));
    if (r.needed("tensor2")) {
        const NodeValue slope = r.div(r.scaled(over, value), arg(r.mul(under, under)));
        r.set("tensor2", r.mul(r.neg(r.grad()), slope));
    }
}

void where_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const NodeValue condition = r.tensor("condition");
    if (r.needed("self")) r.set("self", r.keep(condition, r.grad()));
    if (r.needed("other")) r.set("other", r.call("aten.where.ScalarSelf", {arg(condition), 0, arg(r.grad())}));
}
void masked_fill_grad(GraphBuilder& b, CallGradients& c) {
    const Linear r(b, c);
    const NodeValue mask = r.tensor("mask");
    if (r.needed("self")) r.set("self", r.drop(mask, r.grad()));
    if (r.needed("value")) r.set("value", r.keep(mask, r.grad()));
}

}  // namespace whittle
