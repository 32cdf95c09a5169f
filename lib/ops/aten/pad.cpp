// Pads: a tensor surrounded by a number or by elements of its own.
#include <algorithm>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/linear_map.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"

namespace whittle {
namespace {

using namespace aten;

// --- Amounts of padding ----------------------------------------------------------------------------------------------

/// Elements added before and after each dimension; negative amounts crop.
struct Padding {
    std::vector<std::int64_t> before, after;
    Sizes sizes;  ///< of the result
};

/// ATen lists the last dimension first, as (before, after) pairs.
Padding plan_padding(const Sizes& self, const std::vector<std::int64_t>& pad, const std::string& op) {
    if (pad.size() % 2 != 0 || pad.size() > 2 * self.size())
        throw Error(op + ": found a pad of " + std::to_string(pad.size()) + " numbers for a tensor of " +
                    std::to_string(self.size()) + " dimensions, expected two numbers for each padded dimension");
    Padding plan{std::vector<std::int64_t>(self.size(), 0), std::vector<std::int64_t>(self.size(), 0), self};
    for (std::size_t i = 0; i < pad.size() / 2; ++i) {
        const std::size_t d = self.size() - 1 - i;
        plan.before[d] = pad[2 * i];
        plan.after[d] = pad[2 * i + 1];
        std::int64_t& size = plan.sizes[d];
        if (__builtin_add_overflow(size, plan.before[d], &size) || __builtin_add_overflow(size, plan.after[d], &size) ||
            size < 0 || (plan.before[d] < 0 && self[d] < -plan.before[d]) ||
            (plan.after[d] < 0 && self[d] + std::min<std::int64_t>(plan.before[d], 0) < -plan.after[d]))
            throw Error(op + ": found padding " + to_string(pad) + " for a tensor of sizes " + to_string(self) +
                        ", expected negative numbers that remove at most all elements of a dimension");
    }
    element_count(plan.sizes);
    return plan;
}

// --- constant_pad_nd -------------------------------------------------------------------------------------------------

std::vector<ValueMeta> infer_constant_pad_nd(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self");
    return {ValueMeta::contiguous(self.dtype, plan_padding(self.sizes, a.integers("pad"), "constant_pad_nd").sizes)};
}

std::vector<Tensor> eval_constant_pad(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    const Padding plan = plan_padding(self.sizes(), a.integers("pad"), "constant_pad_nd");
    const Tensor fill = checked_number(a.scalar("value"), self.dtype(), "constant_pad_nd");
    Tensor result = pick(fill, plan.sizes, [](const std::vector<std::int64_t>&) { return std::int64_t{0}; });
    // What of self is kept, and where it begins in the result.
    Sizes kept = self.sizes();
    std::int64_t from = self.offset(), to = 0;
    for (std::size_t d = 0; d < kept.size(); ++d) {
        const std::int64_t cut = std::max<std::int64_t>(-plan.before[d], 0);
        kept[d] = std::max<std::int64_t>(kept[d] - cut - std::max<std::int64_t>(-plan.after[d], 0), 0);
        from += cut * self.strides()[d];
        to += std::max<std::int64_t>(plan.before[d], 0) * result.strides()[d];
    }
    if (element_count(kept) > 0) copy_into(result, result.strides(), to, self.as_strided(kept, self.strides(), from));
    return {result};
}

std::vector<expr::Value> lower_constant_pad(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self");
    const Padding plan = plan_padding(self.sizes(), a.integers("pad"), "constant_pad_nd");
    const expr::Expr fill =
        expr::constant(self.dtype(), checked_number(a.scalar("value"), self.dtype(), "constant_pad_nd").item());
    const bool empty = element_count(self.sizes()) == 0;
    return {expr::Value(self.dtype(), plan.sizes, [self, plan, fill, empty](const expr::Index& i) {
        if (empty) return fill;
        expr::Index from;
        expr::Expr inside;
        const auto require = [&](const expr::Expr& condition) { inside = inside ? inside && condition : condition; };
        for (std::size_t d = 0; d < i.size(); ++d) {
            const std::int64_t size = self.sizes()[d];
            const bool low = plan.before[d] > 0, high = plan.after[d] > 0;
            const expr::Expr at = i[d] - expr::index(plan.before[d]);
            if (low) require(at >= expr::index(0));
            if (high) require(at < expr::index(size));
            from.push_back(low || high ? clamp_index(at, size) : at);
        }
        return inside ? expr::select(inside, self(from), fill) : self(from);
    })};
}

// --- Pads by elements of the tensor's own ----------------------------------------------------------------------------

/// The element at x outside 0..size-1 is the one mirrored at the border, which is not repeated.
struct Reflection {
    static constexpr std::string_view doc =
        "padded with the elements mirrored at the borders: https://pytorch.org/docs/stable/nn.html#padding-layers";
    static constexpr const char* name = "reflection_pad";
    static void check(std::int64_t size, std::int64_t before, std::int64_t after) {
        if (before >= size || after >= size)
            throw Error("reflection_pad: found padding " + std::to_string(before) + " and " + std::to_string(after) +
                        " for a dimension of size " + std::to_string(size) +
                        ", expected both to be less than the size");
    }
    static std::int64_t source(std::int64_t x, std::int64_t size) {
        return x < 0 ? -x : x >= size ? 2 * (size - 1) - x : x;
    }
    static expr::Expr source(const expr::Expr& x, std::int64_t size) {
        const expr::Expr mirrored = expr::max(x, expr::index(0) - x);
        return clamp_index(expr::min(mirrored, expr::index(2 * (size - 1)) - mirrored), size);
    }
};

/// The element outside is the nearest inside.
struct Replication {
    static constexpr std::string_view doc =
        "padded with the elements at the borders: https://pytorch.org/docs/stable/nn.html#padding-layers";
    static constexpr const char* name = "replication_pad";
    static void check(std::int64_t size, std::int64_t, std::int64_t) {
        if (size == 0)
            throw Error("replication_pad: found a dimension of size 0, expected at least one element to repeat");
    }
    static std::int64_t source(std::int64_t x, std::int64_t size) { return std::clamp<std::int64_t>(x, 0, size - 1); }
    static expr::Expr source(const expr::Expr& x, std::int64_t size) { return clamp_index(x, size); }
};

template <class Rule, std::size_t N>
Padding plan_border(const Sizes& self, const std::vector<std::int64_t>& padding) {
    const std::string op = Rule::name + std::to_string(N) + "d";
    if (padding.size() != 2 * N || (self.size() != N + 1 && self.size() != N + 2))
        throw Error(op + ": found " + std::to_string(padding.size()) + " padding numbers for a tensor of sizes " +
                    to_string(self) + ", expected " + std::to_string(2 * N) + " numbers for a tensor of " +
                    std::to_string(N + 1) + " or " + std::to_string(N + 2) + " dimensions");
    Padding plan = plan_padding(self, padding, op);
    for (std::size_t d = self.size() - N; d < self.size(); ++d) {
        Rule::check(self[d], plan.before[d], plan.after[d]);
        if (plan.sizes[d] == 0) throw Error(op + ": found a result size of 0, expected at least 1");
    }
    return plan;
}

/// What was added is cropped, what was cropped is zero.
V constant_pad_grad(const OfSelf& r) { return constant_pad_nd(r.g, all_negated(r.call.integers("pad"))); }
V border_pad_grad(const OfSelf& r) {
    return r.call.builder().call(
        "aten." + r.call.schema().name + "_backward.default",  // reflection, replication; 1d to 3d
        {r.g, r.x, Arg::ints(r.call.integers("padding"))});
}

template <class Rule, std::size_t N>
constexpr OpDef border_op(std::string_view schema) {
    OpDef def{.doc = Rule::doc, .schema = schema, .dtypes = kFloating, .grad = border_pad_grad};
    def.infer = [](const Arguments<ValueMeta>& a) -> std::vector<ValueMeta> {
        const ValueMeta self = a.tensor("self");
        return {ValueMeta::contiguous(self.dtype, plan_border<Rule, N>(self.sizes, a.integers("padding")).sizes)};
    };
    def.eval = [](const Arguments<Tensor>& a) -> std::vector<Tensor> {
        const Tensor self = a.tensor("self");
        const Padding plan = plan_border<Rule, N>(self.sizes(), a.integers("padding"));
        return {pick(self, plan.sizes, [&](const std::vector<std::int64_t>& i) {
            std::int64_t offset = 0;
            for (std::size_t d = 0; d < i.size(); ++d)
                offset += Rule::source(i[d] - plan.before[d], self.sizes()[d]) * self.strides()[d];
            return offset;
        })};
    };
    def.lower = [](expr::GroupBuilder&, const Arguments<expr::Value>& a) -> std::vector<expr::Value> {
        const expr::Value self = a.tensor("self");
        const Padding plan = plan_border<Rule, N>(self.sizes(), a.integers("padding"));
        return {expr::Value(self.dtype(), plan.sizes, [self, plan](const expr::Index& i) {
            expr::Index from;
            for (std::size_t d = 0; d < i.size(); ++d) {
                const bool padded = plan.before[d] != 0 || plan.after[d] != 0;
                from.push_back(padded ? Rule::source(i[d] - expr::index(plan.before[d]), self.sizes()[d]) : i[d]);
            }
            return self(from);
        })};
    };
    def.bound = kBoundExact;
    return def;
}

/// Each element gets the gradients of the results that show it, dimension by dimension.
template <class Rule, std::size_t N>
CallResults decompose_border_gradient(const Call& c) {
    const V grad = c.tensor("grad_output");
    const Sizes self = c.tensor("self").sizes();
    const Padding plan = plan_border<Rule, N>(self, c.integers("padding"));
    if (grad.sizes() != plan.sizes)
        throw Error(c.schema().name + ": found a gradient of sizes " + to_string(grad.sizes()) + ", expected " +
                    to_string(plan.sizes));
    std::vector<LinearMap> maps;
    for (std::size_t d = self.size() - N; d < self.size(); ++d) {
        maps.push_back({plan.sizes[d], self[d]});
        for (std::int64_t i = 0; i < plan.sizes[d]; ++i)
            maps.back().add(i, Rule::source(i - plan.before[d], self[d]), 1);
    }
    return apply_all(grad, maps);
}

/// The gradient of a border_op.
template <class Rule, std::size_t N>
constexpr OpDef border_gradient_op(std::string_view schema) {
    OpDef def{.schema = schema, .dtypes = kFloating};
    def.doc = "the gradient of the padded operand: https://pytorch.org/docs/stable/nn.html#padding-layers";
    def.decompose = decompose_border_gradient<Rule, N>;
    def.bound = kBoundSums;
    return def;
}

/// Copies of both ends around the tensor, dimension by dimension.
V pad_circular(V self, const std::vector<std::int64_t>& pad) {
    const Padding plan = plan_padding(self.sizes(), pad, "pad");
    for (std::size_t d = 0; d < plan.before.size(); ++d) {
        const std::int64_t size = self.sizes()[d], before = plan.before[d], after = plan.after[d];
        if (before == 0 && after == 0) continue;
        if (before < 0 || after < 0 || before > size || after > size)
            throw Error("pad: found circular padding " + to_string(pad) + " for a tensor of sizes " +
                        to_string(self.sizes()) +
                        ", expected each number to be from 0 to the size of the padded dimension");
        const auto dim = static_cast<std::int64_t>(d);
        const V tail = slice(self, dim, size - before, size);
        const V head = slice(self, dim, 0, after);
        self = cat(Vs{tail, self, head}, dim);
    }
    return self;
}

CallResults decompose_pad(const Call& c) {
    const V self = c.tensor("self");
    const std::vector<std::int64_t> pad = c.integers("pad");
    const std::string mode = c.text("mode");
    if (mode == "constant") return constant_pad_nd(self, pad, c.optional_number("value").value_or(0));
    if (mode == "circular") return pad_circular(self, pad);
    const std::size_t dims = pad.size() / 2;
    if ((mode != "reflect" && mode != "replicate") || dims < 1 || dims > 3)
        throw Error("pad: found mode='" + mode + "' with " + std::to_string(pad.size()) +
                    " padding numbers, expected mode 'constant' or 'circular', or mode 'reflect' or 'replicate' with "
                    "2, 4 or 6 padding numbers");
    return c.builder().call("aten." + std::string(mode == "reflect" ? "reflection" : "replication") + "_pad" +
                                std::to_string(dims) + "d.default",
                            {self, Arg::ints(pad)});
}

}  // namespace

std::span<const OpDef> pad_ops() {
    static const OpDef ops[] = {
        primitive("constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor",
                  "surrounded by a number, or cropped where amounts are negative: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
                  kMoved, {infer_constant_pad_nd, eval_constant_pad, lower_constant_pad}, constant_pad_grad,
                  kBoundExact),
        border_op<Reflection, 1>("reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor"),
        border_op<Reflection, 2>("reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor"),
        border_op<Reflection, 3>("reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor"),
        border_op<Replication, 1>("replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor"),
        border_op<Replication, 2>("replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor"),
        border_op<Replication, 3>("replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor"),
        border_gradient_op<Reflection, 1>(
            "reflection_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor"),
        border_gradient_op<Reflection, 2>(
            "reflection_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor"),
        border_gradient_op<Reflection, 3>(
            "reflection_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor"),
        border_gradient_op<Replication, 1>(
            "replication_pad1d_backward(Tensor grad_output, Tensor self, SymInt[2] padding) -> Tensor"),
        border_gradient_op<Replication, 2>(
            "replication_pad2d_backward(Tensor grad_output, Tensor self, SymInt[4] padding) -> Tensor"),
        border_gradient_op<Replication, 3>(
            "replication_pad3d_backward(Tensor grad_output, Tensor self, SymInt[6] padding) -> Tensor"),
        composite(
            "pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor",
            "padding with a mode given by name: https://pytorch.org/docs/stable/generated/torch.nn.functional.pad.html",
            kFloating, decompose_pad),
    };
    return ops;
}

}  // namespace whittle
