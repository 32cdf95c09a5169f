// Advanced indexing, x[i, :, j] and x[i, :, j] = v, with tensors of positions that broadcast against each other:
// https://numpy.org/doc/stable/user/basics.indexing.html#advanced-indexing. Positions may be negative. Boolean masks
// are refused by index, whose result would be of a size that depends on data; index_put takes one mask with one value.
#include <algorithm>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"
#include "ops/core/combine.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"

namespace whittle {
namespace {

using namespace aten;

struct IndexPlan {
    std::vector<bool> indexed = {};  ///< per dimension of self
    Sizes positions = {};            ///< what the index tensors broadcast to
    std::size_t at = 0;  ///< where its dimensions stand in the result: at the only run of index tensors, or first
    Sizes sizes = {};    ///< of the result
};

IndexPlan plan_index(const Sizes& self, const std::vector<std::optional<OperandInfo>>& indices, const std::string& op) {
    if (indices.size() > self.size())
        throw Error(op + ": found " + std::to_string(indices.size()) + " indices for a tensor of " +
                    std::to_string(self.size()) + " dimensions, expected at most one per dimension");
    IndexPlan plan{.indexed = std::vector<bool>(self.size(), false)};
    std::size_t runs = 0;
    for (std::size_t d = 0; d < indices.size(); ++d) {
        if (!indices[d]) continue;
        if (indices[d]->dtype == DType::boolean || indices[d]->dtype == DType::u8)
            throw Error(op + ": found a mask of dtype " + std::string(name(indices[d]->dtype)) +
                            ", expected positions of dtype i64 or i32",
                        "use where() or masked_fill(), whose results have known sizes: how many elements a mask "
                        "selects depends on the data");
        check_index_dtype(indices[d]->dtype, op);
        plan.indexed[d] = true;
        if (d == 0 || !plan.indexed[d - 1]) ++runs;
        plan.positions = broadcast_sizes(plan.positions, indices[d]->sizes);
    }
    for (std::size_t d = 0; d < self.size(); ++d) {
        if (!plan.indexed[d]) plan.sizes.push_back(self[d]);
        if (plan.indexed[d] && runs == 1 && (d == 0 || !plan.indexed[d - 1])) plan.at = plan.sizes.size();
        if (plan.indexed[d] && self[d] == 0 && element_count(plan.positions) > 0) require_elements(0, op);
    }
    plan.sizes.insert(plan.sizes.begin() + static_cast<std::ptrdiff_t>(plan.at), plan.positions.begin(),
                      plan.positions.end());
    return plan;
}

template <class T>
IndexPlan plan_index(const Arguments<T>& a) {
    std::vector<std::optional<OperandInfo>> indices;
    for (const std::optional<T>& index : a.optional_tensors("indices"))
        indices.push_back(index ? std::optional(operand_info(*index)) : std::nullopt);
    return plan_index(operand_info(a, "self").sizes, indices, a.schema().name);
}

/// For every element of the result in row-major order: f(offset in `strides` of self).
template <class F>
void for_each_indexed(const IndexPlan& plan, const Arguments<Tensor>& a, const Sizes& self, const Strides& strides,
                      F&& f) {
    const std::vector<std::optional<Tensor>> indices = a.optional_tensors("indices");
    std::vector<std::vector<std::int64_t>> positions(self.size());
    for (std::size_t d = 0; d < indices.size(); ++d) {
        if (!indices[d]) continue;
        positions[d] = load_broadcast<std::int64_t>(*indices[d], plan.positions);
        for (std::int64_t& at : positions[d]) at = checked_index(at, self[d], true, a.schema().name);
    }
    const Strides order = contiguous_strides(plan.positions);
    for_each_index(plan.sizes, [&](const std::vector<std::int64_t>& i) {
        std::int64_t which = 0, offset = 0;
        for (std::size_t k = 0; k < order.size(); ++k) which += i[plan.at + k] * order[k];
        std::size_t next = 0;
        for (std::size_t d = 0; d < self.size(); ++d) {
            if (plan.indexed[d]) {
                offset += positions[d][static_cast<std::size_t>(which)] * strides[d];
            } else {
                if (next == plan.at) next += order.size();
                offset += i[next++] * strides[d];
            }
        }
        f(offset);
    });
}

/// The index tensors' elements at `at`, as indices of self's dimensions that they choose in; null elsewhere.
std::vector<Expr> index_elements(const std::vector<std::optional<expr::Value>>& indices, const IndexPlan& plan,
                                 const Sizes& self, const expr::Index& at) {
    std::vector<Expr> result(self.size());
    for (std::size_t d = 0; d < indices.size(); ++d)
        if (indices[d]) result[d] = data_index(broadcast(*indices[d], plan.positions)(at), self[d], true);
    return result;
}

// --- index -----------------------------------------------------------------------------------------------------------

std::vector<ValueMeta> infer_index_tensor(const Arguments<ValueMeta>& a) {
    return {ValueMeta::contiguous(a.tensor("self").dtype, plan_index(a).sizes)};
}

std::vector<Tensor> eval_index(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    const IndexPlan plan = plan_index(a);
    std::vector<std::int64_t> offsets;
    for_each_indexed(plan, a, self.sizes(), self.strides(), [&](std::int64_t offset) { offsets.push_back(offset); });
    std::size_t next = 0;
    return {pick(self, plan.sizes, [&](const std::vector<std::int64_t>&) { return offsets[next++]; })};
}

std::vector<expr::Value> lower_index(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self");
    const IndexPlan plan = plan_index(a);
    if (element_count(plan.sizes) == 0) return {empty_value(self.dtype(), plan.sizes)};
    return {expr::Value(self.dtype(), plan.sizes, [=, indices = a.optional_tensors("indices")](const expr::Index& i) {
        const auto first = i.begin() + static_cast<std::ptrdiff_t>(plan.at);
        const expr::Index at(first, first + static_cast<std::ptrdiff_t>(plan.positions.size()));
        expr::Index from = index_elements(indices, plan, self.sizes(), at);
        std::size_t next = 0;
        for (std::size_t d = 0; d < from.size(); ++d) {
            if (plan.indexed[d]) continue;
            if (next == plan.at) next += at.size();
            from[d] = i[next++];
        }
        return self(from);
    })};
}

// --- index_put -------------------------------------------------------------------------------------------------------

/// Where the one mask of x[mask] = value begins, if that is what the call says.
template <class T>
std::optional<std::size_t> mask_position(const Arguments<T>& a) {
    std::optional<std::size_t> found;
    const std::vector<std::optional<T>> indices = a.optional_tensors("indices");
    for (std::size_t d = 0; d < indices.size(); ++d) {
        if (!indices[d]) continue;
        if (found || operand_info(*indices[d]).dtype != DType::boolean) return std::nullopt;
        found = d;
    }
    if (!found) return std::nullopt;
    const Sizes self = operand_info(a, "self").sizes, mask = operand_info(*indices[*found]).sizes;
    const std::string select = "call where() in place of index_put(), with a tensor of the new values";
    if (a.boolean("accumulate"))
        throw Error("index_put: found a mask with accumulate=true, expected accumulate=false", select);
    if (const Sizes values = operand_info(a, "values").sizes; element_count(values) != 1)
        throw Error("index_put: found a mask with values of sizes " + to_string(values) + ", expected one value",
                    select);
    if (*found + mask.size() > self.size() ||
        !std::equal(mask.begin(), mask.end(), self.begin() + static_cast<std::ptrdiff_t>(*found)))
        throw Error("index_put: found a mask of sizes " + to_string(mask) + ", which begins at dimension " +
                    std::to_string(*found) + " of a tensor of sizes " + to_string(self) +
                    ", expected the mask to have the same sizes as the dimensions that it covers");
    return found;
}

void check_values(const AnyArguments auto& a) {
    const DType self = operand_info(a, "self").dtype, values = operand_info(a, "values").dtype;
    if (self != values)
        throw Error("index_put: found values of dtype " + std::string(name(values)) + " for a tensor of dtype " +
                    std::string(name(self)) + ", expected equal dtypes");
}

/// Throws Error unless `values` broadcasts to what is indexed.
void check_broadcast(const Sizes& values, const Sizes& indexed) {
    if (broadcast_sizes(values, indexed) != indexed)
        throw Error("index_put: found values of sizes " + to_string(values) + ", expected sizes that broadcast to " +
                    to_string(indexed));
}

std::vector<ValueMeta> infer_index_put(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self");
    check_values(a);
    if (!mask_position(a)) check_broadcast(a.tensor("values").sizes, plan_index(a).sizes);
    return {ValueMeta::contiguous(self.dtype, self.sizes)};
}

Tensor put_masked(const Tensor& self, const Tensor& mask, std::size_t at, const Tensor& value) {
    Tensor result = self.clone().with_requires_grad(false);
    const Tensor number = value.as_strided({}, {}, value.offset());
    Strides strides(self.sizes().size(), 0);
    std::copy(mask.strides().begin(), mask.strides().end(), strides.begin() + static_cast<std::ptrdiff_t>(at));
    const std::vector<bool> chosen = mask.as_strided(self.sizes(), strides, mask.offset()).values<bool>();
    for (std::size_t k = 0; k < chosen.size(); ++k)
        if (chosen[k]) copy_into(result, {}, static_cast<std::int64_t>(k), number);
    return result;
}

std::vector<Tensor> eval_index_put(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self"), values = a.tensor("values");
    check_values(a);
    if (const auto at = mask_position(a)) return {put_masked(self, *a.optional_tensors("indices")[*at], *at, values)};
    const IndexPlan plan = plan_index(a);
    check_broadcast(values.sizes(), plan.sizes);
    std::vector<std::int64_t> targets;
    for_each_indexed(plan, a, self.sizes(), contiguous_strides(self.sizes()),
                     [&](std::int64_t offset) { targets.push_back(offset); });
    const Combine how = a.boolean("accumulate") ? Combine::sum : Combine::assign;
    return {visit_arithmetic(self.dtype(), [&]<class T>(T) {
        std::vector<T> result = self.values<T>();
        const std::vector<T> added = load_broadcast<T>(values, plan.sizes);
        for (std::size_t k = 0; k < targets.size(); ++k) {
            const auto target = static_cast<std::size_t>(targets[k]);
            result[target] = combine<T>(how, result[target], added[k]);
        }
        return store<T>(result, self.dtype(), self.sizes());
    })};
}

expr::Value lower_masked(const expr::Value& self, const expr::Value& mask, std::size_t at, const expr::Value& value) {
    const expr::Value number = reshape_value(value, {});
    return expr::Value(self.dtype(), self.sizes(), [=](const expr::Index& i) {
        const auto first = i.begin() + static_cast<std::ptrdiff_t>(at);
        const expr::Index inside(first, first + mask.rank());
        return expr::select(mask(inside), number({}), self(i));
    });
}

std::vector<expr::Value> lower_index_put(expr::GroupBuilder& g, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self"), given = a.tensor("values");
    std::vector<std::optional<expr::Value>> indices = a.optional_tensors("indices");
    if (const auto at = mask_position(a)) return {lower_masked(self, *indices[*at], *at, given)};
    const IndexPlan plan = plan_index(a);
    if (element_count(plan.sizes) == 0) return {self};
    const Combine how = a.boolean("accumulate") ? Combine::sum : Combine::assign;
    const DType work = how == Combine::assign ? self.dtype() : compute_dtype(self.dtype());
    const expr::Value init = convert(work, self), values = convert(work, broadcast(given, plan.sizes));
    for (std::optional<expr::Value>& index : indices)
        if (index) index = g.materialize(*index, "index");
    // One update: the positions in order, the other dimensions in the stage's own loops.
    const auto update = [&](const expr::Index& i, const std::function<Expr(const expr::Index&)>& stage) {
        expr::Update update;
        expr::Index at, from;
        for (const std::int64_t extent : plan.positions) {
            update.domain.push_back(g.domain_variable(extent));
            at.push_back(expr::variable(update.domain.back().name));
        }
        update.where = index_elements(indices, plan, self.sizes(), at);
        for (std::size_t d = 0; d < i.size(); ++d) {
            if (plan.indexed[d]) continue;
            update.where[d] = i[d];
            from.push_back(i[d]);
        }
        from.insert(from.begin() + static_cast<std::ptrdiff_t>(plan.at), at.begin(), at.end());
        update.value = combine(how, stage(update.where), values(from));
        return std::vector<expr::Update>{update};
    };
    const expr::Value result = g.stage(
        work, self.sizes(), [&](const expr::Index& i) { return init(i); }, update, "index_put");
    return {convert(self.dtype(), result)};
}

// --- put: index_put of all elements as one line ----------------------------------------------------------------------

CallResults decompose_put(const Call& c) {
    const V self = c.tensor("self"), index = c.tensor("index"), source = c.tensor("source");
    check_index_dtype(index.dtype(), "put");
    if (index.numel() != source.numel())
        throw Error("put: found " + std::to_string(source.numel()) + " source elements for " +
                    std::to_string(index.numel()) + " positions, expected one element for each position");
    const auto line = [&](const V& value) { return reshape(value, Ints{value.numel()}); };
    const V put = index_put(line(self), {line(index)}, line(source), c.boolean("accumulate"));
    return reshape(put, self.sizes());
}

// --- Gradients ---

/// The mask among the indices, over as many dimensions of sizes `sizes` as it has, seen from all of them.
OptionalV mask_of(Gradients& c, const Sizes& sizes) {
    std::size_t at = 0;
    for (const OptionalV& index : c.optional_tensors("indices")) {
        if (index && index->meta.dtype == DType::boolean) {
            Sizes wide = index->meta.sizes;
            wide.resize(sizes.size() - at, 1);
            return reshaped(*index, wide);
        }
        ++at;
    }
    return std::nullopt;
}
V index_grad(const OfSelf& r) {
    const V zeros = aten::zeros(r.call.builder(), r.x.sizes(), r.g.dtype());
    return index_put(zeros, r.call.optional_tensors("indices"), r.g, true);
}
void index_put_grad(Gradients& c) {
    c.takes_complex();
    const std::vector<OptionalV> indices = c.optional_tensors("indices");
    const bool added = c.boolean("accumulate");
    if (const OptionalV mask = mask_of(c, c.grad().sizes())) {  // of one value
        if (c.needed("self")) c.set("self", added ? c.grad() : drop(*mask, c.grad()));
        if (c.needed("values")) c.set("values", keep(*mask, c.grad()));
        return;
    }
    if (c.needed("self")) {
        const V zeros = zeros_like(c.tensor("values"));
        c.set("self", added ? c.grad() : index_put(c.grad(), indices, zeros));
    }
    if (c.needed("values")) c.set("values", index(c.grad(), indices));
}

bool is_mask(const std::optional<Tensor>& index) { return index && !is_integer(index->dtype()); }

/// `values` as index_put writes them: the dimensions of the index tensors, which broadcast to `positions`, come first.
Tensor put_slices(const Tensor& values, const Sizes& self, const std::vector<std::optional<Tensor>>& indices,
                  const Sizes& positions) {
    const auto indexed = [&](std::size_t d) { return d < indices.size() && indices[d].has_value(); };
    Sizes sizes;
    std::size_t at = 0, runs = 0;
    for (std::size_t d = 0; d < self.size(); ++d) {
        if (!indexed(d))
            sizes.push_back(self[d]);
        else if (d == 0 || !indexed(d - 1))
            at = ++runs == 1 ? sizes.size() : 0;
    }
    const auto first = static_cast<std::ptrdiff_t>(at), count = static_cast<std::ptrdiff_t>(positions.size());
    sizes.insert(sizes.begin() + first, positions.begin(), positions.end());
    if (broadcast_sizes(values.sizes(), sizes) != sizes)
        throw Error("found values of sizes " + to_string(values.sizes()) + ", expected sizes that broadcast to " +
                    to_string(sizes));
    Strides strides = broadcast_strides(values.sizes(), values.strides(), sizes);
    std::rotate(sizes.begin(), sizes.begin() + first, sizes.begin() + first + count);
    std::rotate(strides.begin(), strides.begin() + first, strides.begin() + first + count);
    return values.as_strided(sizes, strides, values.offset());
}

Reason open_put_anywhere(std::string_view op, const Arguments<Tensor>& a) {
    if (Reason reason = aten_open::index_anywhere(op, a)) return reason;
    if (a.boolean("accumulate")) return std::nullopt;
    const Tensor index = a.tensor("index");
    std::vector<std::int64_t> places = index.values<std::int64_t>();
    for (std::int64_t& place : places)
        if (place < 0) place += a.tensor("self").numel();
    return written_twice(op, places, a.tensor("source"), index);
}

/// Of index and index_put, one per dimension.
Reason open_index_per_dim(std::string_view op, const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    const std::vector<std::optional<Tensor>> indices = a.optional_tensors("indices");
    for (std::size_t d = 0; d < indices.size(); ++d)
        if (indices[d] && !is_mask(indices[d]))
            if (Reason reason = bad_index(op, *indices[d], extent(self, static_cast<std::int64_t>(d)), true))
                return reason;
    return std::nullopt;
}

/// "If accumulate is False, the behavior is undefined if indices contain duplicate elements":
/// https://pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html. Not where they get the same values: then any
/// order gives one result (y[i] += y[i] is a pattern of programs).
Reason open_put_per_dim(std::string_view op, const Arguments<Tensor>& a) {
    if (Reason reason = open_index_per_dim(op, a)) return reason;
    const std::vector<std::optional<Tensor>> indices = a.optional_tensors("indices");
    if (a.boolean("accumulate") || std::ranges::any_of(indices, is_mask))
        return std::nullopt;  // a mask meets each element once
    const Sizes self = a.tensor("self").sizes();
    Sizes sizes;
    for (const std::optional<Tensor>& index : indices)
        if (index) sizes = broadcast_sizes(sizes, index->sizes());
    std::vector<Sizes> tuples(static_cast<std::size_t>(element_count(sizes)));
    std::vector<std::int64_t> places(tuples.size());
    for (std::size_t d = 0; d < indices.size(); ++d) {
        if (!indices[d]) continue;
        const std::int64_t size = extent(a.tensor("self"), static_cast<std::int64_t>(d));
        const std::vector<std::int64_t> positions = load_broadcast<std::int64_t>(*indices[d], sizes);
        for (std::size_t k = 0; k < tuples.size(); ++k) {
            tuples[k].push_back(positions[k] < 0 ? positions[k] + size : positions[k]);
            places[k] = places[k] * size + tuples[k].back();
        }
    }
    return written_twice(op, places, put_slices(a.tensor("values"), self, indices, sizes),
                         [&](std::size_t k) { return to_string(tuples[k]); });
}

}  // namespace

std::span<const OpDef> index_ops() {
    static const OpDef ops[] = {
        primitive("index.Tensor(Tensor self, Tensor?[] indices) -> Tensor",
                  "x[i, :, j] with tensors of positions: "
                  "https://numpy.org/doc/stable/user/basics.indexing.html#advanced-indexing",
                  kMoved, {infer_index_tensor, eval_index, lower_index}, index_grad, kBoundExact,
                  {.ask = open_index_per_dim}),
        primitive("index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
                  "a copy of x after x[i, :, j] = v, or += v; of several writes to an element, the last counts: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html",
                  kMoved, {infer_index_put, eval_index_put, lower_index_put}, index_put_grad, kBoundSums,
                  {.ask = open_put_per_dim}),
        composite(
            "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
            "index_put into the flattened tensor: https://pytorch.org/docs/stable/generated/torch.Tensor.put_.html",
            kMoved, decompose_put, {.ask = open_put_anywhere}),
    };
    return ops;
}

}  // namespace whittle
