// Ops whose results' sizes are data: nonzero, masked_select, _unique2. Of a constant they decompose into constants;
// else a graph has the sizes that were observed (ops/core/known.h), and only the reference runs them.
#include "ops/aten/data_sizes.h"

#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/core/data_sizes.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"
#include "ops/core/known.h"
#include "ops/core/samples.h"

namespace whittle {

namespace {

using samples::t;
using Ints = std::vector<std::int64_t>;

constexpr std::string_view kNonzero = "aten.nonzero.default", kMaskedSelect = "aten.masked_select.default",
                           kUnique = "aten._unique2.default";

Tensor known(GraphBuilder& builder, const Arguments<NodeValue>& a, std::string_view name) {
    if (std::optional<Tensor> value = builder.known(a.tensor(name))) return *value;
    throw NeedsConstant(std::string(name),
                        "the operand '" + std::string(name) + "' is computed while running, expected a constant",
                        "the sizes of the result depend on it");
}

/// One row per element that is not zero.
Tensor rows_of_nonzero(const Tensor& self) {
    const std::vector<Ints> positions = nonzero_positions(self);
    const std::int64_t count = nonzero_count(self), rank = self.rank();
    Ints rows;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i)
        for (const Ints& column : positions) rows.push_back(column[i]);
    return Tensor::of(rows, {count, rank});
}

std::vector<Tensor> eval_nonzero(const Arguments<Tensor>& a) { return {rows_of_nonzero(a.tensor("self"))}; }

std::vector<NodeRef> decompose_nonzero(GraphBuilder& b, const Arguments<NodeValue>& a) {
    return {b.constant(rows_of_nonzero(known(b, a, "self"))).ref};
}

Tensor spread(const Tensor& tensor, const Sizes& sizes) {
    return tensor.as_strided(sizes, broadcast_strides(tensor.sizes(), tensor.strides(), sizes), tensor.offset());
}

/// Places of the selected elements, in row-major order of the sizes that both are broadcast to.
Ints selected(const Tensor& mask, const Sizes& sizes) {
    if (mask.dtype() != DType::boolean)
        throw Error("masked_select: found a mask of " + std::string(name(mask.dtype())) + ", expected bool");
    const std::vector<bool> chosen = spread(mask, sizes).values<bool>();
    Ints places;
    for (std::size_t i = 0; i < chosen.size(); ++i)
        if (chosen[i]) places.push_back(static_cast<std::int64_t>(i));
    return places;
}

std::vector<Tensor> eval_masked_select(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self"), mask = a.tensor("mask");
    const Sizes sizes = broadcast_sizes(self.sizes(), mask.sizes());
    const Tensor all = spread(self, sizes).contiguous();
    const Ints places = selected(mask, sizes);
    return {pick(all, {static_cast<std::int64_t>(places.size())},
                 [&](const std::vector<std::int64_t>& index) { return places[static_cast<std::size_t>(index[0])]; })};
}

std::vector<NodeRef> decompose_masked_select(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue self = a.tensor("self");
    const Tensor mask = known(b, a, "mask");
    const Sizes sizes = broadcast_sizes(self.meta.sizes, mask.sizes());
    const Ints places = selected(mask, sizes);
    NodeValue all = b.call("aten.expand.default", {arg(self), Arg::ints(sizes)});
    all = b.call("aten.reshape.default", {arg(all), Arg::ints({element_count(sizes)})});
    const Tensor index = Tensor::of(places, {static_cast<std::int64_t>(places.size())});
    return {b.call("aten.index_select.default", {arg(all), Arg(0), arg(b.constant(index))}).ref};
}

Tensor list(const Ints& values) { return Tensor::of(values, {static_cast<std::int64_t>(values.size())}); }

/// Ascending, whatever `sorted` says, which promises no order otherwise; each NaN is different.
template <class T>
std::vector<Tensor> unique_of(const Tensor& self, const Arguments<T>& a) {
    const bool inverse = a.boolean("return_inverse"), counts = a.boolean("return_counts");
    const Tensor whole = self.contiguous(), flat = whole.as_strided({self.numel()}, {1}, whole.offset());
    const Distinct distinct = distinct_slices(flat, 0, true, NaNs::different);
    const Tensor values = pick(flat, {static_cast<std::int64_t>(distinct.first.size())},
                               [&](const Ints& index) { return distinct.first[static_cast<std::size_t>(index[0])]; });
    return {values, inverse || counts ? Tensor::of(distinct.inverse, self.sizes()) : list({}),
            counts ? list(distinct.counts) : list({})};
}

std::vector<Tensor> eval_unique(const Arguments<Tensor>& a) { return unique_of(a.tensor("self"), a); }

std::vector<NodeRef> decompose_unique(GraphBuilder& b, const Arguments<NodeValue>& a) {
    std::vector<NodeRef> results;
    for (const Tensor& result : unique_of(known(b, a, "self"), a)) results.push_back(b.constant(result).ref);
    return results;
}

std::vector<Sample> nonzero_samples(DType dtype) {
    const auto sample = [&](const char* label, const Tensor& x) {
        return Sample{.label = label, .tensors = {x}, .args = {t(0)}, .constants = {0}};
    };
    return {sample("matrix", samples::values(dtype, {1, 0, 0, 3, 0, 2}, {2, 3})),
            sample("transposed", samples::transposed(samples::values(dtype, {1, 0, 0, 3, 0, 2}, {2, 3}))),
            sample("none", samples::values(dtype, {0, 0}, {2})), sample("0-d", samples::values(dtype, {2}, {})),
            sample("empty", Tensor(dtype, {0, 3}))};
}

std::vector<Sample> masked_select_samples(DType dtype) {
    const Tensor x = samples::ramp(dtype, {2, 3});
    const auto sample = [&](const char* label, const Tensor& self, const Tensor& mask) {
        return Sample{.label = label, .tensors = {self, mask}, .args = {t(0), t(1)}, .constants = {1}};
    };
    const auto mask = [](const std::vector<double>& values, Sizes sizes) {
        return samples::values(DType::boolean, values, std::move(sizes));
    };
    return {sample("same sizes", x, mask({1, 0, 1, 0, 0, 1}, {2, 3})),
            sample("broadcast mask", x, mask({0, 1}, {2, 1})),
            sample("broadcast self", samples::ramp(dtype, {3}), mask({1, 0}, {2, 1})),
            sample("transposed", samples::transposed(x), mask({1, 0, 1, 1, 0, 1}, {2, 3})),
            sample("none", x, mask({0}, {})),
            sample("0-d", samples::values(dtype, {2}, {}), mask({1}, {}))};
}

std::vector<Sample> unique_samples(DType dtype) {
    const Tensor x = samples::values(dtype, {2, 1, 1, 2, 0, 1}, {2, 3});
    const auto sample = [&](const char* label, const Tensor& self, bool inverse, bool counts) {
        return Sample{
            .label = label, .tensors = {self}, .args = {t(0), Arg(true), Arg(inverse), Arg(counts)}, .constants = {0}};
    };
    std::vector<Sample> result = {sample("values", x, false, false),
                                  sample("inverse", x, true, false),
                                  sample("all", x, true, true),
                                  sample("transposed", samples::transposed(x), true, true),
                                  sample("counts", x, false, true),
                                  sample("empty", Tensor(dtype, {0, 3}), true, true),
                                  sample("0-d", samples::values(dtype, {2}, {}), true, true)};
    if (is_floating(dtype))
        result.push_back(
            sample("special", samples::values(dtype, {NAN, INFINITY, 2, NAN, -INFINITY, 2}, {6}), false, false));
    return result;
}

constexpr OpDef kOps[] = {
    {.name = kNonzero,
     .doc = "where elements are != 0, one row each: https://pytorch.org/docs/stable/generated/torch.nonzero.html",
     .schema = "nonzero(Tensor self) -> Tensor",
     .dtypes = kMoved,
     .eval = eval_nonzero,
     .decompose = decompose_nonzero,
     .grad = no_gradient,
     .samples = nonzero_samples},
    {.name = kMaskedSelect,
     .doc = "elements where a mask is true: https://pytorch.org/docs/stable/generated/torch.masked_select.html",
     .schema = "masked_select(Tensor self, Tensor mask) -> Tensor",
     .dtypes = kMoved,
     .eval = eval_masked_select,
     .decompose = decompose_masked_select,
     .samples = masked_select_samples},
    {.name = kUnique,
     .doc = "different elements, ascending: https://pytorch.org/docs/stable/generated/torch.unique.html",
     .schema = "_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> "
               "(Tensor, Tensor, Tensor)",
     .eval = eval_unique,
     .decompose = decompose_unique,
     .samples = unique_samples},
};

}  // namespace

std::span<const OpDef> data_size_ops() { return kOps; }

std::vector<std::size_t> data_sized_results(const Node& call) {
    if (call.kind != NodeKind::call) return {};
    if (call.target == kNonzero || call.target == kMaskedSelect) return {0};
    if (call.target != kUnique) return {};
    const Arg* const counts = call.args.size() > 3 ? &call.args[3] : call.kwarg("return_counts");
    if (counts && *counts == Arg(true)) return {0, 2};
    return {0};
}

bool has_data_sizes(const Graph& graph) {
    return std::ranges::any_of(graph.nodes, [](const Node& node) { return !data_sized_results(node).empty(); });
}

}  // namespace whittle
