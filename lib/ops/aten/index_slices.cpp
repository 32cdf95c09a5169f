// Slices of a dimension at indices: added to, copied, filled, combined. All are composites of scatters, whose order
// they have where an index is there twice.
#include <algorithm>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/open_rules.h"
#include "ops/core/elements.h"

namespace whittle {
namespace {

using namespace aten;

/// The indices under the sizes of a source with a slice for each, as scatter wants them.
V index_of_slices(const char* op, const V& self, std::int64_t dim, const V& index, const Sizes& source) {
    const auto rank = static_cast<std::int64_t>(self.sizes().size());
    Sizes expected = self.sizes(), column(self.sizes().size(), 1);
    if (rank > 0) {
        expected[static_cast<std::size_t>(dim)] = index.numel();
        column[static_cast<std::size_t>(dim)] = index.numel();
    }
    if (index.sizes().size() > 1 || source != expected || (rank == 0 && index.numel() != 1))
        throw Error(
            std::string(op) + ": found an index of sizes " + to_string(index.sizes()) + " and a source of sizes " +
            to_string(source) + " for a tensor of sizes " + to_string(self.sizes()) +
            ", expected at most 1 dimension in the index, and one slice of the source for each element of the index");
    const V at = reshape(index, column);
    return expand(at, source);
}

CallResults decompose_index_add(const Call& c) {
    const V self = c.tensor("self");
    V source = c.tensor("source");
    const std::int64_t dim = wrap_dim(c.integer("dim"), self.sizes());
    const V wide = index_of_slices("index_add", self, dim, c.tensor("index"), source.sizes());
    const Scalar alpha = c.scalar("alpha");
    if (alpha.is_floating() && !is_inexact(self.dtype()))
        throw Error("index_add: found a floating-point alpha for a tensor of dtype " + std::string(name(self.dtype())) +
                    ", expected an integer");
    if (alpha.to_double() != 1) source = source * alpha;
    return scatter_add(self, dim, wide, source);
}

CallResults decompose_index_copy(const Call& c) {
    const V self = c.tensor("self"), source = c.tensor("source");
    if (source.dtype() != self.dtype())
        throw Error("index_copy: found a source of dtype " + std::string(name(source.dtype())) +
                    " for a tensor of dtype " + std::string(name(self.dtype())) + ", expected equal dtypes");
    const std::int64_t dim = wrap_dim(c.integer("dim"), self.sizes());
    const V wide = index_of_slices("index_copy", self, dim, c.tensor("index"), source.sizes());
    return scatter(self, dim, wide, source);
}

CallResults decompose_index_fill(const Call& c) {
    const V self = c.tensor("self"), index = c.tensor("index");
    const std::int64_t dim = wrap_dim(c.integer("dim"), self.sizes());
    Sizes slices = self.sizes();
    if (!slices.empty()) slices[static_cast<std::size_t>(dim)] = index.numel();
    const V wide = index_of_slices("index_fill", self, dim, index, slices);
    return scatter(self, dim, wide, c.scalar("value"));
}

/// The value is 0-d, and converted as a number is. It goes to an element once, however often the index is there.
CallResults decompose_index_fill_tensor(const Call& c) {
    const V self = c.tensor("self"), index = c.tensor("index"), value = c.tensor("value");
    if (!value.sizes().empty())
        throw Error("index_fill: found a value of sizes " + to_string(value.sizes()) + ", expected a 0-d tensor");
    const std::int64_t dim = wrap_dim(c.integer("dim"), self.sizes());
    Sizes slices = self.sizes();
    if (!slices.empty()) slices[static_cast<std::size_t>(dim)] = index.numel();
    const V wide = index_of_slices("index_fill", self, dim, index, slices);
    const V none = zeros(c.builder(), self.sizes(), DType::boolean);
    const V filled = scatter(none, dim, wide, true);
    return where(filled, c.builder().convert(value, self.dtype()), self);
}

/// prod, amax and amin are scatter_reduce's; a mean is the sum over the count, of integers rounded down.
CallResults decompose_index_reduce(const Call& c) {
    const V self = c.tensor("self"), source = c.tensor("source");
    const std::int64_t dim = wrap_dim(c.integer("dim"), self.sizes());
    const V wide = index_of_slices("index_reduce", self, dim, c.tensor("index"), source.sizes());
    const std::string reduce = c.text("reduce");
    const bool include = c.boolean("include_self");
    const auto reduced = [&](const V& to, const V& from, const std::string& how, bool with_self) {
        return scatter_reduce(to, dim, wide, from, how, with_self);
    };
    if (reduce == "prod" || reduce == "amax" || reduce == "amin") return reduced(self, source, reduce, include);
    if (reduce != "mean")
        throw Error("index_reduce: found reduce='" + reduce + "', expected 'prod', 'mean', 'amax' or 'amin'");
    const DType dtype = self.dtype();
    const V sum = reduced(self, source, "sum", include),
            counts = reduced(ones_like(self), ones_like(source), "sum", include);
    if (is_floating(dtype)) return sum / counts;
    return div(sum, counts, "floor");
}

void index_add_grad(Gradients& c) {
    c.takes_complex();
    c.set("self", c.grad());
    if (!c.needed("source")) return;
    const V read = index_select(c.grad(), c.integer("dim"), c.tensor("index"));
    c.set("source", reshaped(scaled(read, c.scalar("alpha")), c.tensor("source").sizes()));
}

/// The same, from the end where it is negative.
Reason open_any_index_along_dim(std::string_view op, const Arguments<Tensor>& a) {
    return bad_index(op, a.tensor("index"), extent(a.tensor("self"), a.integer("dim")), true);
}

/// Of index_copy: "the output is nondeterministic" where an index is there twice.
Reason open_copied_slices(std::string_view op, const Arguments<Tensor>& a) {
    if (Reason reason = aten_open::index_along_dim(op, a)) return reason;
    const Tensor index = a.tensor("index"), source = at_least_1d(a.tensor("source"));
    // The slices one behind another: the dimension that is indexed comes first.
    const auto d = static_cast<std::size_t>(wrap_dim(a.integer("dim"), source.rank()));
    Sizes sizes = source.sizes();
    Strides strides = source.strides();
    std::rotate(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(d),
                sizes.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    std::rotate(strides.begin(), strides.begin() + static_cast<std::ptrdiff_t>(d),
                strides.begin() + static_cast<std::ptrdiff_t>(d) + 1);
    return written_twice(op, index.values<std::int64_t>(), source.as_strided(sizes, strides, source.offset()), index);
}

}  // namespace

std::span<const OpDef> index_slice_ops() {
    static const OpDef ops[] = {
        composite("index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
                  "slices of a source added to slices of a dimension: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html",
                  kMoved, decompose_index_add, index_add_grad, {.ask = aten_open::index_along_dim}),
        composite("index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
                  "slices of a source in place of slices of a dimension: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.index_copy_.html",
                  kMoved, decompose_index_copy, {.ask = open_copied_slices}),
        composite("index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                  "a number in slices of a dimension: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.index_fill_.html",
                  kMoved, decompose_index_fill, {.ask = open_any_index_along_dim}),
        composite("index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
                  "a 0-d tensor in slices of a dimension: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.index_fill_.html",
                  kMoved, decompose_index_fill_tensor, {.ask = open_any_index_along_dim}),
        composite("index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
                  "include_self=True) -> Tensor",
                  "slices of a source combined with slices of a dimension: "
                  "https://pytorch.org/docs/stable/generated/torch.Tensor.index_reduce_.html",
                  kNumbers, decompose_index_reduce, {.ask = aten_open::index_along_dim}),
    };
    return ops;
}

}  // namespace whittle
