// Ops that replace a part of a copy: select_scatter and slice_scatter, which functional programs write in place of
// x[i] = v and x[a:b] = v.
#include <algorithm>
#include <limits>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/view_grad.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/move_samples.h"
#include "ops/core/pointwise.h"
#include "tensor/reach.h"

namespace whittle {

namespace {

/// The part that is replaced: self[.., start : end : step, ..], without the dimension where `drops`.
struct Part {
    View view;
    std::size_t dim;
    std::int64_t start, count, step;
    bool drops;
};

template <class T>
Part part_of(const Arguments<T>& a) {
    const Geometry self = geometry(a.tensor("self"));
    const std::int64_t dim = existing_dim(self, a, "dim"), size = self.size(dim);
    const auto d = static_cast<std::size_t>(dim);
    if (a.schema().param("index")) {
        const std::int64_t at = checked_index(a.integer("index"), size, true, a.schema().name);
        return {select_view(self, dim, at), d, at, 1, 1, true};
    }
    const std::int64_t step = a.integer("step");
    if (step <= 0 || step > std::numeric_limits<std::int32_t>::max())
        throw Error("slice_scatter: found step " + std::to_string(step) + ", expected 1 to 2^31 - 1");
    const auto [start, end] = slice_bounds(size, a.optional_integer("start"), a.optional_integer("end"));
    const View view = slice_view(self, dim, start, end, step);
    return {view, d, start, view.sizes[d], step, false};
}

template <class T>
void check_source(const Arguments<T>& a, const Part& part) {
    const Sizes source = geometry(a.tensor("src")).sizes;
    if (source != part.view.sizes)
        throw Error(a.schema().name + ": found a source of sizes " + to_string(source) + ", expected the part's " +
                    to_string(part.view.sizes));
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
    check_source(a, part_of(a));
    ValueMeta result = ValueMeta::contiguous(self.dtype, self.sizes);
    result.strides = kept_strides(self.sizes, self.strides);
    return {result};
}

std::vector<Tensor> eval_overwrite(const Arguments<Tensor>& a) {
    const Part part = part_of(a);
    check_source(a, part);
    const Tensor self = a.tensor("self");
    const Strides strides = kept_strides(self.sizes(), self.strides());
    Tensor result = laid_out(self, strides).with_requires_grad(false);
    copy_into(result, part.view.strides(strides), part.view.offset(strides), a.tensor("src").to(self.dtype()));
    return {result};
}

std::vector<expr::Value> lower_overwrite(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const Part part = part_of(a);
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

Sample replaced(const std::string& label, const Tensor& self, const Tensor& source, const ArgList& rest) {
    Sample sample{.label = label, .tensors = {self, source}, .args = {samples::t(0), samples::t(1)}};
    sample.args.insert(sample.args.end(), rest.begin(), rest.end());
    return sample;
}

}  // namespace

using samples::mixed;
using samples::ramp;

std::span<const OpDef> slice_scatter_ops() {
    static const OpDef ops[] = {
        {
            .name = "aten.select_scatter.default",
            .doc = "one index of a dimension replaced: "
                   "https://pytorch.org/docs/stable/generated/torch.select_scatter.html",
            .schema = "select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor",
            .dtypes = kMoved,
            .infer = infer_overwrite,
            .eval = eval_overwrite,
            .lower = lower_overwrite,
            .grad = select_scatter_grad,
            .samples = [](DType dtype) -> std::vector<Sample> {
                return {replaced("row", mixed(dtype, {3, 4}), ramp(dtype, {4}), {0, 1}),
                        replaced("column from the end", samples::transposed(mixed(dtype, {3, 4})),
                                 samples::negative(ramp(dtype, {3})), {1, -4}),
                        replaced("1-d", mixed(dtype, {3}), mixed(dtype, {}), {0, 2})};
            },
        },
        {
            .name = "aten.slice_scatter.default",
            .doc = "a range of a dimension replaced: "
                   "https://pytorch.org/docs/stable/generated/torch.slice_scatter.html",
            .schema = "slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt "
                      "step=1) -> Tensor",
            .dtypes = kMoved,
            .infer = infer_overwrite,
            .eval = eval_overwrite,
            .lower = lower_overwrite,
            .grad = slice_scatter_grad,
            .samples = [](DType dtype) -> std::vector<Sample> {
                return {replaced("range", mixed(dtype, {4, 3}), ramp(dtype, {2, 3}), {0, 1, 3}),
                        replaced("step", samples::transposed(mixed(dtype, {2, 7})), ramp(dtype, {2, 3}), {1, 1, 6, 2}),
                        replaced("all", mixed(dtype, {3}), mixed(dtype, {3}), {}),
                        replaced("converted", mixed(dtype, {3}), ramp(DType::i32, {2}), {0, -2}),
                        replaced("nothing", mixed(dtype, {3}), ramp(dtype, {0}), {0, 2, 1})};
            },
        },
    };
    return ops;
}

}  // namespace whittle
