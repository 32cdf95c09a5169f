// Ops that read elements at positions which tensors hold. Eager refuses a position outside, as ATen does; a kernel
// cannot, so that who runs it looks before (positions.cpp).
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"

namespace whittle {
namespace {

using namespace aten;

// --- gather ----------------------------------------------------------------------------------------------------------

/// The wrapped dim, after at::native::gather_shape_check: same rank, and an index no larger than self but along dim.
std::int64_t check_gather(const Sizes& self, const Sizes& index, DType index_dtype, std::int64_t dim) {
    check_index_dtype(index_dtype, "gather");
    const Sizes from = at_least_1d(self), at = at_least_1d(index);
    const std::int64_t wrapped = wrap_dim(dim, from);
    if (element_count(index) == 0) return wrapped;
    bool fits = from.size() == at.size();
    for (std::size_t d = 0; fits && d < at.size(); ++d)
        fits = static_cast<std::int64_t>(d) == wrapped || at[d] <= from[d];
    if (!fits)
        throw Error("gather: found an index of sizes " + to_string(index) + " for a tensor of sizes " +
                    to_string(self) + ", expected an index no larger than the tensor except in dimension " +
                    std::to_string(wrapped));
    return wrapped;
}

std::vector<ValueMeta> infer_gather(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self"), index = a.tensor("index");
    check_gather(self.sizes, index.sizes, index.dtype, a.integer("dim"));
    return {ValueMeta::contiguous(self.dtype, index.sizes)};
}

std::vector<Tensor> eval_gather(const Arguments<Tensor>& a) {
    const Tensor self = at_least_1d(a.tensor("self")), index = a.tensor("index");
    const auto dim = static_cast<std::size_t>(
        check_gather(a.tensor("self").sizes(), index.sizes(), index.dtype(), a.integer("dim")));
    const std::vector<std::int64_t> positions = index.values<std::int64_t>();
    std::size_t next = 0;
    const Tensor result = pick(self, at_least_1d(index.sizes()), [&](std::vector<std::int64_t> i) {
        i[dim] = checked_index(positions[next++], self.sizes()[dim], false, "gather");
        return element_offset(i, self.strides());
    });
    return {reshape_tensor(result, index.sizes())};
}

std::vector<expr::Value> lower_gather(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const expr::Value self = at_least_1d(a.tensor("self")), given = a.tensor("index"), index = at_least_1d(given);
    const auto dim = static_cast<std::size_t>(
        check_gather(a.tensor("self").sizes(), given.sizes(), index.dtype(), a.integer("dim")));
    if (element_count(given.sizes()) == 0) return {empty_value(self.dtype(), given.sizes())};
    require_elements(self.sizes()[dim], "gather");
    const expr::Value result(self.dtype(), index.sizes(), [self, index, dim](const expr::Index& i) {
        expr::Index from = i;
        from[dim] = data_index(index(i), self.sizes()[dim], false);
        return self(from);
    });
    return {reshape_value(result, given.sizes())};
}

// --- index_select ----------------------------------------------------------------------------------------------------

struct SelectPlan {
    std::size_t dim;
    Sizes sizes;  ///< of the result
};

SelectPlan plan_index_select(const Sizes& self, const Sizes& index, DType index_dtype, std::int64_t dim) {
    check_index_dtype(index_dtype, "index_select");
    const std::int64_t count = element_count(index);
    if (index.size() > 1 || (self.empty() && count != 1))
        throw Error("index_select: found an index of sizes " + to_string(index) + " for a tensor of sizes " +
                    to_string(self) + ", expected an index with 1 dimension" + (self.empty() ? " and 1 element" : ""));
    SelectPlan plan{static_cast<std::size_t>(wrap_dim(dim, self)), self};
    if (!self.empty()) plan.sizes[plan.dim] = count;
    return plan;
}

std::vector<ValueMeta> infer_index_select(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self"), index = a.tensor("index");
    return {ValueMeta::contiguous(self.dtype,
                                  plan_index_select(self.sizes, index.sizes, index.dtype, a.integer("dim")).sizes)};
}

std::vector<Tensor> eval_index_select(const Arguments<Tensor>& a) {
    const Tensor given = a.tensor("self"), self = at_least_1d(given), index = a.tensor("index");
    const SelectPlan plan = plan_index_select(given.sizes(), index.sizes(), index.dtype(), a.integer("dim"));
    std::vector<std::int64_t> positions = index.values<std::int64_t>();
    for (std::int64_t& at : positions) at = checked_index(at, self.sizes()[plan.dim], false, "index_select");
    const Tensor result = pick(self, at_least_1d(plan.sizes), [&](std::vector<std::int64_t> i) {
        i[plan.dim] = positions[static_cast<std::size_t>(i[plan.dim])];
        return element_offset(i, self.strides());
    });
    return {reshape_tensor(result, plan.sizes)};
}

std::vector<expr::Value> lower_index_select(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const expr::Value given = a.tensor("self"), self = at_least_1d(given), index = at_least_1d(a.tensor("index"));
    const SelectPlan plan =
        plan_index_select(given.sizes(), a.tensor("index").sizes(), index.dtype(), a.integer("dim"));
    if (element_count(plan.sizes) == 0) return {empty_value(self.dtype(), plan.sizes)};
    require_elements(self.sizes()[plan.dim], "index_select");
    const expr::Value result(self.dtype(), at_least_1d(plan.sizes), [self, index, plan](const expr::Index& i) {
        expr::Index from = i;
        from[plan.dim] = data_index(index({i[plan.dim]}), self.sizes()[plan.dim], false);
        return self(from);
    });
    return {reshape_value(result, plan.sizes)};
}

// --- embedding -------------------------------------------------------------------------------------------------------

/// Sizes of the result: the indices' and a row's.
Sizes embedding_sizes(const Sizes& weight, const Sizes& indices, DType index_dtype) {
    check_index_dtype(index_dtype, "embedding");
    if (weight.size() != 2)
        throw Error("embedding: found a weight of sizes " + to_string(weight) + ", expected 2 dimensions");
    Sizes sizes = indices;
    sizes.push_back(weight[1]);
    return sizes;
}

std::vector<ValueMeta> infer_embedding(const Arguments<ValueMeta>& a) {
    const ValueMeta weight = a.tensor("weight"), indices = a.tensor("indices");
    return {ValueMeta::contiguous(weight.dtype, embedding_sizes(weight.sizes, indices.sizes, indices.dtype))};
}

std::vector<Tensor> eval_embedding(const Arguments<Tensor>& a) {
    const Tensor weight = a.tensor("weight"), indices = a.tensor("indices");
    const Sizes sizes = embedding_sizes(weight.sizes(), indices.sizes(), indices.dtype());
    std::vector<std::int64_t> rows = indices.values<std::int64_t>();
    for (std::int64_t& row : rows) row = checked_index(row, weight.sizes()[0], false, "embedding");
    const auto count = static_cast<std::int64_t>(rows.size());
    const Tensor table = pick(weight, {count, weight.sizes()[1]}, [&](const std::vector<std::int64_t>& i) {
        return rows[static_cast<std::size_t>(i[0])] * weight.strides()[0] + i[1] * weight.strides()[1];
    });
    return {reshape_tensor(table, sizes)};
}

std::vector<expr::Value> lower_embedding(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const expr::Value weight = a.tensor("weight"), indices = a.tensor("indices");
    const Sizes sizes = embedding_sizes(weight.sizes(), indices.sizes(), indices.dtype());
    if (element_count(sizes) == 0) return {empty_value(weight.dtype(), sizes)};
    require_elements(weight.sizes()[0], "embedding");
    return {expr::Value(weight.dtype(), sizes, [weight, indices](const expr::Index& i) {
        const expr::Expr row = indices(expr::Index(i.begin(), i.end() - 1));
        return weight({data_index(row, weight.sizes()[0], false), i.back()});
    })};
}

// --- take, take_along_dim, one_hot -----------------------------------------------------------------------------------

std::vector<ValueMeta> infer_take(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self"), index = a.tensor("index");
    check_index_dtype(index.dtype, "take");
    return {ValueMeta::contiguous(self.dtype, index.sizes)};
}

std::vector<Tensor> eval_take(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self"), index = a.tensor("index");
    const Tensor flat = reshape_tensor(self, {self.numel()});
    const std::vector<std::int64_t> positions = index.values<std::int64_t>();
    std::size_t next = 0;
    return {pick(flat, index.sizes(), [&](const std::vector<std::int64_t>&) {
        return checked_index(positions[next++], flat.numel(), true, "take") * flat.strides()[0];
    })};
}

std::vector<expr::Value> lower_take(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self"), index = a.tensor("index");
    if (element_count(index.sizes()) == 0) return {empty_value(self.dtype(), index.sizes())};
    const std::int64_t count = element_count(self.sizes());
    require_elements(count, "take");
    const expr::Value flat = reshape_value(self, {count});
    return {expr::Value(self.dtype(), index.sizes(), [flat, index, count](const expr::Index& i) {
        return flat({data_index(index(i), count, true)});
    })};
}

CallResults decompose_take_along_dim(const Call& c) {
    const V self = c.tensor("self"), indices = c.tensor("indices");
    const std::optional<std::int64_t> given = c.optional_integer("dim");
    if (!given) {
        const V from = reshape(self, Ints{self.numel()});
        const V at = reshape(indices, Ints{indices.numel()});
        return gather(from, 0, at);
    }
    Sizes from = self.sizes(), at = indices.sizes();
    if (from.size() != at.size() || from.empty())
        throw Error("take_along_dim: found indices of sizes " + to_string(at) + " for a tensor of sizes " +
                    to_string(from) + ", expected equal numbers of dimensions, at least 1");
    const std::int64_t dim = wrap_dim(*given, from);
    const auto d = static_cast<std::size_t>(dim);
    const std::int64_t from_size = std::exchange(from[d], 1), at_size = std::exchange(at[d], 1);
    from = at = broadcast_sizes(from, at);
    from[d] = from_size;
    at[d] = at_size;
    const V wide = expand(self, from);
    const V wide_at = expand(indices, at);
    return gather(wide, dim, wide_at);
}

CallResults decompose_one_hot(const Call& c) {
    const V self = c.tensor("self");
    const std::int64_t classes = c.integer("num_classes");
    if (classes < 1)
        throw Error("one_hot: found num_classes=" + std::to_string(classes) + ", expected at least 1",
                    "pass the number of classes: with num_classes=-1, the sizes of the result depend on the data");
    Sizes sizes = self.sizes();
    sizes.push_back(classes);
    const V zeros = full(c.builder(), sizes, 0, DType::i64);
    const V at = unsqueeze(self, -1);
    return scatter(zeros, -1, at, 1);
}

// --- Gradients ---

V gather_grad(const OfSelf& r) {
    const V zeros = aten::zeros(r.call.builder(), r.x.sizes(), r.g.dtype());
    return scatter_add(zeros, r.call.integer("dim"), r.call.tensor("index"), r.g);
}
V index_select_grad(const OfSelf& r) {
    const V zeros = aten::zeros(r.call.builder(), r.x.sizes(), r.g.dtype());
    return index_add(zeros, r.call.integer("dim"), r.call.tensor("index"), r.g);
}
void embedding_grad(Gradients& c) {
    c.takes_complex();
    const std::int64_t rows = c.tensor("weight").sizes().at(0);
    c.set("weight", embedding_dense_backward(c.grad(), c.tensor("indices"), rows, c.integer("padding_idx"),
                                             c.boolean("scale_grad_by_freq")));
}
V take_grad(const OfSelf& r) { return add_at(r.g, r.call.tensor("index"), r.x.sizes()); }

/// Of take_along_dim: along `dim`, or of all elements.
Reason open_indices_along_dim(std::string_view op, const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    const std::optional<std::int64_t> dim = a.optional_integer("dim");
    return bad_index(op, a.tensor("indices"), dim ? extent(self, *dim) : self.numel(), false);
}

/// Of one_hot.
Reason open_hot_class(std::string_view op, const Arguments<Tensor>& a) {
    return out_of_range(op, "class", a.tensor("self"), 0, a.integer("num_classes") - 1);
}

}  // namespace

std::span<const OpDef> gather_ops() {
    static const OpDef ops[] = {
        primitive("gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor",
                  "result[i][j] = self[index[i][j]][j] along dim 0", kMoved, {infer_gather, eval_gather, lower_gather},
                  gather_grad, kBoundExact, {.ask = aten_open::index_along_dim}),
        primitive("index_select(Tensor self, int dim, Tensor index) -> Tensor",
                  "the slices of a dimension at given indices", kMoved,
                  {infer_index_select, eval_index_select, lower_index_select}, index_select_grad, kBoundExact,
                  {.ask = aten_open::index_along_dim}),
        primitive("embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool "
                  "sparse=False) -> Tensor",
                  "rows of a table (padding_idx and scale_grad_by_freq only change gradients): "
                  "https://pytorch.org/docs/stable/generated/torch.nn.functional.embedding.html",
                  kAnyDType, {infer_embedding, eval_embedding, lower_embedding}, embedding_grad, kBoundExact,
                  {.ask = aten_open::table_rows}),
        primitive("take(Tensor self, Tensor index) -> Tensor", "the elements of the flattened tensor at given indices",
                  kMoved, {infer_take, eval_take, lower_take}, take_grad, kBoundExact,
                  {.ask = aten_open::index_anywhere}),
        composite("take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor",
                  "gather with operands that broadcast", kMoved, decompose_take_along_dim,
                  {.ask = open_indices_along_dim}),
        composite("one_hot(Tensor self, int num_classes=-1) -> Tensor",
                  "1 at the position of the class, else 0: "
                  "https://pytorch.org/docs/stable/generated/torch.nn.functional.one_hot.html",
                  set_of(DType::i64), decompose_one_hot, no_gradient, {.ask = open_hot_class}),
    };
    return ops;
}

}  // namespace whittle
