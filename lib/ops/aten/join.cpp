// Ops that put tensors together or repeat them: cat and what is made of it, repeat, tile, repeat_interleave.

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

// --- cat -----------------------------------------------------------------------------------------------------------

/// Operands beyond this many are copied into a stage one by one instead of selected among at every element.
constexpr std::size_t kSelectLimit = 8;

struct CatPlan {
    DType dtype = DType::f32;
    Sizes sizes = {};
    std::size_t dim = 0;
    std::vector<std::size_t> parts = {};  ///< operands that count, in order
};

/// A 1-d tensor of size 0 fits anywhere and adds nothing (at::native::cat_should_skip_tensor).
bool skipped(const Sizes& sizes) { return sizes == Sizes{0}; }

CatPlan plan_cat(const std::vector<OperandInfo>& operands, std::int64_t dim) {
    if (operands.empty()) throw Error("cat: found no tensors, expected at least 1");
    CatPlan plan{.dtype = result_type(operands)};
    for (std::size_t i = 0; i < operands.size(); ++i) {
        const Sizes& sizes = operands[i].sizes;
        if (sizes.empty())
            throw Error("cat: found a 0-d tensor at index " + std::to_string(i) + ", expected at least 1 dimension",
                        "use stack() for 0-d tensors");
        if (!skipped(sizes)) plan.parts.push_back(i);
    }
    if (plan.parts.empty()) {
        wrap_dim(dim, 1);
        plan.sizes = {0};
        return plan;
    }
    plan.sizes = operands[plan.parts[0]].sizes;
    plan.dim = static_cast<std::size_t>(wrap_dim(dim, plan.sizes));
    std::int64_t total = 0;
    for (const std::size_t part : plan.parts) {
        Sizes sizes = operands[part].sizes;
        const std::int64_t size = sizes.size() > plan.dim ? std::exchange(sizes[plan.dim], plan.sizes[plan.dim]) : 0;
        if (sizes != plan.sizes)
            throw Error("cat: found sizes " + to_string(operands[part].sizes) + " and " +
                        to_string(operands[plan.parts[0]].sizes) + ", expected equal sizes except in dimension " +
                        std::to_string(plan.dim));
        if (__builtin_add_overflow(total, size, &total))
            throw Error("cat: found sizes that add up to 2^63 or more, expected a sum of less than 2^63");
    }
    plan.sizes[plan.dim] = total;
    return plan;
}

template <class T>
CatPlan plan_cat(const Arguments<T>& a) {
    std::vector<OperandInfo> operands;
    for (const T& tensor : a.tensors("tensors")) operands.push_back(operand_info(tensor));
    return plan_cat(operands, a.integer("dim"));
}

std::vector<ValueMeta> infer_cat(const Arguments<ValueMeta>& a) { return {result_meta(plan_cat(a))}; }

std::vector<Tensor> eval_cat(const Arguments<Tensor>& a) {
    const CatPlan plan = plan_cat(a);
    const std::vector<Tensor> tensors = a.tensors("tensors");
    Tensor result(plan.dtype, plan.sizes);
    std::int64_t start = 0;
    for (const std::size_t part : plan.parts) {
        const Tensor from = tensors[part].to(plan.dtype);
        copy_into(result, result.strides(), start * result.strides()[plan.dim], from);
        start += from.sizes()[plan.dim];
    }
    return {result};
}

/// One update per operand; the loops of an update run over its operand alone along `dim`.
expr::Value cat_stage(expr::GroupBuilder& g, const CatPlan& plan, const std::vector<expr::Value>& parts) {
    return g.stage(
        plan.dtype, plan.sizes, [&](const expr::Index&) { return expr::constant(plan.dtype, Scalar(0)); },
        [&](const expr::Index& i, const std::function<expr::Expr(const expr::Index&)>&) {
            std::vector<expr::Update> updates;
            std::int64_t start = 0;
            for (const expr::Value& part : parts) {
                const std::int64_t size = part.sizes()[plan.dim];
                const expr::LoopVar r = g.domain_variable(size);
                expr::Index from = i, to = i;
                from[plan.dim] = expr::variable(r.name);
                to[plan.dim] = expr::variable(r.name) + expr::index(start);
                updates.push_back({.domain = {r}, .where = to, .value = part(from)});
                start += size;
            }
            return updates;
        },
        "cat");
}

std::vector<expr::Value> lower_cat(expr::GroupBuilder& g, const Arguments<expr::Value>& a) {
    const CatPlan plan = plan_cat(a);
    const std::vector<expr::Value> tensors = a.tensors("tensors");
    std::vector<expr::Value> parts;
    for (const std::size_t part : plan.parts)
        if (element_count(tensors[part].sizes()) > 0) parts.push_back(convert(plan.dtype, tensors[part]));
    if (parts.empty()) return {empty_value(plan.dtype, plan.sizes)};
    if (parts.size() > kSelectLimit) return {cat_stage(g, plan, parts)};
    return {expr::Value(plan.dtype, plan.sizes, [dim = plan.dim, parts](const expr::Index& i) {
        std::int64_t end = 0;
        std::vector<std::int64_t> starts;
        for (const expr::Value& part : parts) {
            starts.push_back(end);
            end += part.sizes()[dim];
        }
        expr::Expr result;
        for (std::size_t p = parts.size(); p-- > 0;) {
            expr::Index from = i;
            // The side of a select that is not taken must still load inside its operand.
            if (parts.size() > 1) from[dim] = clamp_index(i[dim] - expr::index(starts[p]), parts[p].sizes()[dim]);
            const expr::Expr element = parts[p](from);
            result = result ? expr::select(i[dim] < expr::index(starts[p] + parts[p].sizes()[dim]), element, result)
                            : element;
        }
        return result;
    })};
}

// --- stack, hstack, vstack -----------------------------------------------------------------------------------------

CallResults decompose_stack(const Call& c) {
    const Vs tensors = c.tensors("tensors");
    if (tensors.empty()) throw Error("stack: found no tensors, expected at least 1");
    const Sizes& sizes = tensors[0].sizes();
    const std::int64_t dim = wrap_dim(c.integer("dim"), static_cast<std::int64_t>(sizes.size()) + 1);
    Vs parts;
    for (const V& tensor : tensors) {
        if (tensor.sizes() != sizes)
            throw Error("stack: found sizes " + to_string(tensor.sizes()) + " and " + to_string(sizes) +
                        ", expected equal sizes");
        parts.push_back(unsqueeze(tensor, dim));
    }
    return cat(parts, dim);
}

/// The tensor with dimensions of size 1 in front until it has `rank`.
V at_least(V tensor, std::size_t rank) {
    while (tensor.sizes().size() < rank) tensor = unsqueeze(tensor, 0);
    return tensor;
}

CallResults decompose_hstack(const Call& c) {
    Vs parts;
    for (const V& tensor : c.tensors("tensors")) parts.push_back(at_least(tensor, 1));
    if (parts.empty()) throw Error("hstack: found no tensors, expected at least 1");
    return cat(parts, parts[0].sizes().size() == 1 ? 0 : 1);
}

CallResults decompose_vstack(const Call& c) {
    Vs parts;
    for (const V& tensor : c.tensors("tensors")) parts.push_back(at_least(tensor, 2));
    return cat(parts);
}

// --- repeat, tile, repeat_interleave -------------------------------------------------------------------------------

Sizes repeat_sizes(const Sizes& self, const AnyArguments auto& a) {
    Sizes sizes = a.integers("repeats");
    if (sizes.size() < self.size())
        throw Error("repeat: found " + std::to_string(sizes.size()) +
                    " repeats, expected at least one for each of the " + std::to_string(self.size()) + " dimensions");
    element_count(sizes);
    for (std::size_t d = 0; d < self.size(); ++d) {
        std::int64_t& size = sizes[sizes.size() - self.size() + d];
        if (__builtin_mul_overflow(size, self[d], &size))
            throw Error("repeat: found repeats=" + to_string(a.integers("repeats")) + " for a tensor of sizes " +
                        to_string(self) + ", expected a result of fewer than 2^63 elements");
    }
    element_count(sizes);
    return sizes;
}

std::vector<ValueMeta> infer_repeat(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self");
    return {ValueMeta::contiguous(self.dtype, repeat_sizes(self.sizes, a))};
}

std::vector<Tensor> eval_repeat(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    const Sizes sizes = repeat_sizes(self.sizes(), a);
    const std::size_t added = sizes.size() - self.sizes().size();
    return {pick(self, sizes, [&](const std::vector<std::int64_t>& i) {
        std::int64_t offset = 0;
        for (std::size_t d = added; d < i.size(); ++d)
            offset += i[d] % self.sizes()[d - added] * self.strides()[d - added];
        return offset;
    })};
}

std::vector<expr::Value> lower_repeat(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self");
    const Sizes sizes = repeat_sizes(self.sizes(), a);
    if (element_count(sizes) == 0) return {empty_value(self.dtype(), sizes)};
    return {expr::Value(self.dtype(), sizes, [self, sizes](const expr::Index& i) {
        const std::size_t added = sizes.size() - self.sizes().size();
        expr::Index from;
        for (std::size_t d = added; d < i.size(); ++d) {
            const std::int64_t size = self.sizes()[d - added];
            from.push_back(size == sizes[d] ? i[d] : i[d] % expr::index(size));
        }
        return self(from);
    })};
}

CallResults decompose_tile(const Call& c) {
    const V self = c.tensor("self");
    std::vector<std::int64_t> repeats = c.integers("dims");
    if (repeats.size() < self.sizes().size()) repeats.insert(repeats.begin(), self.sizes().size() - repeats.size(), 1);
    return repeat(self, repeats);
}

/// Each index of a dimension, or of the flattened tensor, `repeats` times: a new dimension, expanded and merged.
CallResults decompose_repeat_interleave(const Call& c) {
    V self = c.tensor("self");
    const std::int64_t repeats = c.integer("repeats");
    if (repeats < 0)
        throw Error("repeat_interleave: found " + std::to_string(repeats) + " repeats, expected 0 or more");
    const std::optional<std::int64_t> given = c.optional_integer("dim");
    if (given && self.sizes().empty())
        throw Error("repeat_interleave: found a tensor of 0 dimensions, expected at least 1 dimension");
    if (!given) self = reshape(self, Ints{self.numel()});
    const std::int64_t dim = wrap_dim(given.value_or(0), self.sizes());
    Sizes expanded = self.sizes(), merged = self.sizes();
    expanded.insert(expanded.begin() + dim + 1, repeats);
    std::int64_t& size = merged[static_cast<std::size_t>(dim)];
    if (__builtin_mul_overflow(size, repeats, &size))
        throw Error("repeat_interleave: found " + std::to_string(repeats) +
                    " repeats, expected a result of fewer than 2^63 elements");
    if (c.optional_integer("output_size").value_or(size) != size)
        throw Error("repeat_interleave: found output_size=" + std::to_string(*c.optional_integer("output_size")) +
                    ", expected " + std::to_string(size));
    const V column = unsqueeze(self, dim + 1);
    const V repeated = expand(column, expanded);
    return reshape(own_copy(repeated), merged);
}

// --- Gradients ---

/// A dimension repeated n times is n dimensions of its size: those are summed.
V repeat_grad(const OfSelf& r) {
    const Ints repeats = r.call.integers("repeats");
    const std::size_t added = repeats.size() - r.x.sizes().size();
    Sizes apart;
    Ints copies;
    for (std::size_t d = 0; d < repeats.size(); ++d) {
        copies.push_back(static_cast<std::int64_t>(apart.size()));
        apart.push_back(repeats[d]);
        if (d >= added) apart.push_back(r.x.sizes()[d - added]);
    }
    return summed(reshaped(r.g, apart), copies);
}
/// Each tensor's part. [0], which cat takes beside any sizes, has none.
void cat_grad(Gradients& c) {
    c.takes_complex();
    const V grad = c.grad();
    const std::int64_t dim = wrap_dim(c.integer("dim"), grad.rank());
    std::int64_t start = 0;
    for (const V& tensor : c.tensors("tensors")) {
        const bool skipped = tensor.sizes() == Sizes{0} && grad.rank() != 1;
        const std::int64_t size = skipped ? 0 : tensor.sizes().at(static_cast<std::size_t>(dim));
        if (c.needed(tensor))
            c.set(tensor, skipped ? zeros(c.builder(), Ints{0}, grad.dtype()) : sliced(grad, dim, start, start + size));
        start += size;
    }
}
void stack_grad(Gradients& c) {
    c.takes_complex();
    const V grad = c.grad();
    const std::int64_t dim = wrap_dim(c.integer("dim"), grad.rank());
    std::int64_t i = 0;
    for (const V& tensor : c.tensors("tensors")) {
        if (c.needed(tensor)) c.set(tensor, select(grad, dim, i));
        ++i;
    }
}

}  // namespace

std::span<const OpDef> join_ops() {
    static const OpDef ops[] = {
        primitive("cat(Tensor[] tensors, int dim=0) -> Tensor", "tensors one after the other along a dimension", kMoved,
                  {infer_cat, eval_cat, lower_cat}, cat_grad, kBoundExact),
        composite("stack(Tensor[] tensors, int dim=0) -> Tensor", "tensors along a new dimension", kMoved,
                  decompose_stack, stack_grad),
        composite("hstack(Tensor[] tensors) -> Tensor", "tensors side by side", kMoved, decompose_hstack),
        composite("vstack(Tensor[] tensors) -> Tensor", "tensors on top of each other", kMoved, decompose_vstack),
        primitive("repeat(Tensor self, SymInt[] repeats) -> Tensor",
                  "the tensor repeated along each dimension: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.repeat.html",
                  kMoved, {infer_repeat, eval_repeat, lower_repeat}, repeat_grad, kBoundExact),
        composite("tile(Tensor self, SymInt[] dims) -> Tensor", "repeat, where missing repeats are 1 and come first",
                  kMoved, decompose_tile),
        composite("repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) "
                  "-> Tensor",
                  "each slice repeated directly after itself", kMoved, decompose_repeat_interleave),
    };
    return ops;
}

}  // namespace whittle
