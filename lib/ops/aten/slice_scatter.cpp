// Ops that replace a part of a copy: select_scatter and slice_scatter, which functional programs write in place of
// x[i] = v and x[a:b] = v, and a diagonal.
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/pointwise.h"
#include "tensor/reach.h"

namespace whittle {
namespace {

using namespace aten;

/// The part that is replaced: self[.., start : end : step, ..], without the dimension where `drops`.
struct Part {
    View view;
    std::size_t dim;
    std::int64_t start, count, step;
    bool drops;
};

Part replaced_part(const AnyArguments auto& a) {
    const Geometry self = geometry(a.tensor("self"));
    const std::int64_t dim = existing_dim(self, a, "dim"), size = self.size(dim);
    const auto d = static_cast<std::size_t>(dim);
    if (a.schema().param("index")) {
        const std::int64_t at = checked_index(a.integer("index"), size, true, a.schema().name);
        return {select_view(self, dim, at), d, at, 1, 1, true};
    }
    const std::int64_t step = a.integer("step");
    if (step <= 0 || step > std::numeric_limits<std::int32_t>::max())
        throw Error("slice_scatter: found step=" + std::to_string(step) + ", expected 1 to 2^31 - 1");
    const auto [start, end] = slice_bounds(size, a.optional_integer("start"), a.optional_integer("end"));
    const View view = slice_view(self, dim, start, end, step);
    return {view, d, start, view.sizes[d], step, false};
}

void check_source(const AnyArguments auto& a, const Part& part) {
    const Sizes source = geometry(a.tensor("src")).sizes;
    if (source != part.view.sizes)
        throw Error(a.schema().name + ": found a source of sizes " + to_string(source) +
                    ", expected the sizes of the slice, " + to_string(part.view.sizes));
}

/// Whether no stride is negative and no two elements share a place.
bool are_apart(const Sizes& sizes, const Strides& strides) {
    std::vector<std::pair<std::int64_t, std::int64_t>> dims;  // stride, size
    for (std::size_t d = 0; d < sizes.size(); ++d)
        if (sizes[d] > 1) dims.emplace_back(strides[d], sizes[d]);
    std::ranges::sort(dims);
    std::int64_t last = 0;
    for (const auto& [stride, size] : dims) {
        if (stride <= last) return false;
        last += stride * (size - 1);
    }
    return true;
}

/// The copy keeps self's strides, so that what was a view of self is one of the result: so later PyTorch, where
/// LibTorch 1.13 keeps their order at most. Row-major where elements overlap, or lie backwards, which LibTorch
/// has not.
Strides kept_strides(const Sizes& sizes, const Strides& strides) {
    return are_apart(sizes, strides) ? strides : contiguous_strides(sizes);
}

std::vector<ValueMeta> infer_overwrite(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self");
    check_source(a, replaced_part(a));
    ValueMeta result = ValueMeta::contiguous(self.dtype, self.sizes);
    result.strides = kept_strides(self.sizes, self.strides);
    return {result};
}

std::vector<Tensor> eval_overwrite(const Arguments<Tensor>& a) {
    const Part part = replaced_part(a);
    check_source(a, part);
    const Tensor self = a.tensor("self");
    const Strides strides = kept_strides(self.sizes(), self.strides());
    Tensor result = laid_out(self, strides).with_requires_grad(false);
    copy_into(result, part.view.strides(strides), part.view.offset(strides), a.tensor("src").to(self.dtype()));
    return {result};
}

std::vector<expr::Value> lower_overwrite(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const Part part = replaced_part(a);
    check_source(a, part);
    const expr::Value self = a.tensor("self"), source = convert(self.dtype(), a.tensor("src"));
    if (part.count == 0) return {self};
    return {expr::Value(self.dtype(), self.sizes(), [self, source, part](const expr::Index& i) {
        const Expr at = i[part.dim] - expr::index(part.start), step = expr::index(part.step);
        const Expr inside = at >= expr::index(0) && at < expr::index((part.count - 1) * part.step + 1) &&
                            equal(at % step, expr::index(0));
        expr::Index from = i;
        if (part.drops)
            from.erase(from.begin() + static_cast<std::ptrdiff_t>(part.dim));
        else
            from[part.dim] = clamp_index(at / step, part.count);
        return expr::select(inside, source(from), self(i));
    })};
}

// --- Diagonals -------------------------------------------------------------------------------------------------------

struct DiagonalPosition {
    std::int64_t offset = 0, dim1 = 0, dim2 = 1;
};

/// The tensor with `source` on a diagonal: the diagonal of the elements' numbers says where.
V with_diagonal(const V& self, const V& source, const DiagonalPosition& d) {
    const std::int64_t count = self.numel();
    const V range = arange(*self.builder, count, DType::i64);
    const V at = diagonal(reshaped(range, self.sizes()), d.offset, d.dim1, d.dim2);
    if (at.sizes() != source.sizes())
        throw Error("found a source of sizes " + to_string(source.sizes()) + ", expected the sizes of the diagonal, " +
                    to_string(at.sizes()));
    const V flat = reshaped(self, Ints{count}), places = reshaped(at, Ints{at.numel()});
    const V put = index_put(flat, {places}, reshaped(source, Ints{at.numel()}));
    return reshaped(put, self.sizes());
}

CallResults decompose_diagonal_scatter(const Call& c) {
    const V self = c.tensor("self");
    return with_diagonal(self, c.builder().convert(c.tensor("src"), self.dtype()),
                         {c.integer("offset"), c.integer("dim1"), c.integer("dim2")});
}

/// The last dimension of `self` on the diagonal of two new ones.
V embedded_diagonal(const V& self, const DiagonalPosition& d) {
    const auto rank = static_cast<std::int64_t>(self.sizes().size()) + 1;
    if (rank < 2) throw Error("diag_embed: found a 0-d operand, expected at least 1 dimension");
    const std::int64_t dim1 = wrap_dim(d.dim1, rank), dim2 = wrap_dim(d.dim2, rank);
    if (dim1 == dim2)
        throw Error("diag_embed: found dimension " + std::to_string(dim1) +
                    " as both dim1 and dim2, expected two different dimensions");
    Sizes sizes(self.sizes().begin(), self.sizes().end() - 1);
    const Checked distance = d.offset < 0 ? -Checked(d.offset) : Checked(d.offset);
    const std::int64_t size = (distance + self.sizes().back()).value();
    for (const std::int64_t dim : {std::min(dim1, dim2), std::max(dim1, dim2)}) sizes.insert(sizes.begin() + dim, size);
    return with_diagonal(zeros(*self.builder, sizes, self.dtype()), self, {d.offset, dim1, dim2});
}

CallResults decompose_diag_embed(const Call& c) {
    return embedded_diagonal(c.tensor("self"), {c.integer("offset"), c.integer("dim1"), c.integer("dim2")});
}

/// Of a row a matrix, of a matrix a copy of its diagonal.
CallResults decompose_diag(const Call& c) {
    const V self = c.tensor("self");
    const std::int64_t offset = c.integer("diagonal");
    if (self.sizes().size() == 1) return embedded_diagonal(self, {offset, 0, 1});
    if (self.sizes().size() != 2)
        throw Error("diag: found an operand of sizes " + to_string(self.sizes()) + ", expected a vector or a matrix");
    return own_copy(diagonal(self, offset));
}

void select_scatter_grad(Gradients& c) {
    c.takes_complex();
    const std::int64_t dim = c.integer("dim"), index = c.integer("index");
    if (c.needed("self")) {
        const V source = c.tensor("src"), none = zeros(c.builder(), source.sizes(), source.dtype());
        c.set("self", select_scatter(c.grad(), none, dim, index));
    }
    if (c.needed("src")) c.set("src", select(c.grad(), dim, index));
}
void slice_scatter_grad(Gradients& c) {
    c.takes_complex();
    const std::int64_t dim = c.integer("dim"), step = c.integer("step");
    const auto start = c.optional_integer("start"), end = c.optional_integer("end");
    if (c.needed("self")) {
        const V source = c.tensor("src"), none = zeros(c.builder(), source.sizes(), source.dtype());
        c.set("self", slice_scatter(c.grad(), none, dim, start, end, step));
    }
    if (c.needed("src")) c.set("src", slice(c.grad(), dim, start, end, step));
}

}  // namespace

std::span<const OpDef> slice_scatter_ops() {
    static const OpDef ops[] = {
        primitive("select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
                  "one index of a dimension replaced", kMoved, {infer_overwrite, eval_overwrite, lower_overwrite},
                  select_scatter_grad, kBoundExact),
        primitive("slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
                  "step=1) -> Tensor",
                  "a range of a dimension replaced", kMoved, {infer_overwrite, eval_overwrite, lower_overwrite},
                  slice_scatter_grad, kBoundExact),
        composite("diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
                  "a diagonal replaced", kAnyDType | kComplex, decompose_diagonal_scatter),
        composite("diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
                  "rows as the diagonals of matrices", kAnyDType | kComplex, decompose_diag_embed),
        composite("diag(Tensor self, int diagonal=0) -> Tensor",
                  "a matrix with a given diagonal, or the diagonal of a matrix", kAnyDType | kComplex, decompose_diag),
    };
    return ops;
}

}  // namespace whittle
