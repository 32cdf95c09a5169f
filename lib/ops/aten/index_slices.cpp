// Slices of a dimension at indices: added to, copied, filled, combined. All are composites of scatters, whose order
// they have where an index is there twice.
#include "base/error.h"
#include "ops/aten/backward.h"
#include "ops/aten/families.h"
#include "ops/aten/index_grad.h"
#include "ops/aten/open_rules.h"

namespace whittle {

namespace {

/// The indices under the sizes of a source with a slice for each, as scatter wants them.
NodeValue index_of_slices(GraphBuilder& b, const char* op, const NodeValue& self, std::int64_t dim,
                          const NodeValue& index, const Sizes& source) {
    const auto rank = static_cast<std::int64_t>(self.meta.sizes.size());
    Sizes expected = self.meta.sizes, column(self.meta.sizes.size(), 1);
    if (rank > 0) {
        expected[static_cast<std::size_t>(dim)] = index.meta.numel();
        column[static_cast<std::size_t>(dim)] = index.meta.numel();
    }
    if (index.meta.sizes.size() > 1 || source != expected || (rank == 0 && index.meta.numel() != 1))
        throw Error(
            std::string(op) + ": found an index of sizes " + to_string(index.meta.sizes) + " and a source of sizes " +
            to_string(source) + " for a tensor of sizes " + to_string(self.meta.sizes) +
            ", expected at most 1 dimension in the index, and one slice of the source for each element of the index");
    const NodeValue at = b.call("aten.reshape.default", {arg(index), Arg::ints(column)});
    return b.call("aten.expand.default", {arg(at), Arg::ints(source)});
}

std::vector<NodeRef> decompose_index_add(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue self = a.tensor("self");
    NodeValue source = a.tensor("source");
    const std::int64_t dim = wrap_dim(a.integer("dim"), static_cast<std::int64_t>(self.meta.sizes.size()));
    const NodeValue wide = index_of_slices(b, "index_add", self, dim, a.tensor("index"), source.meta.sizes);
    const Scalar alpha = a.scalar("alpha");
    if (alpha.is_floating() && !is_inexact(self.meta.dtype))
        throw Error("index_add: found a floating-point alpha for a tensor of dtype " +
                    std::string(name(self.meta.dtype)) + ", expected an integer");
    if (alpha.to_double() != 1) source = b.call("aten.mul.Tensor", {arg(source), Arg(alpha)});
    return {b.call("aten.scatter_add.default", {arg(self), dim, arg(wide), arg(source)}).ref};
}

std::vector<NodeRef> decompose_index_copy(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue self = a.tensor("self"), source = a.tensor("source");
    if (source.meta.dtype != self.meta.dtype)
        throw Error("index_copy: found a source of dtype " + std::string(name(source.meta.dtype)) +
                    " for a tensor of dtype " + std::string(name(self.meta.dtype)) + ", expected equal dtypes");
    const std::int64_t dim = wrap_dim(a.integer("dim"), static_cast<std::int64_t>(self.meta.sizes.size()));
    const NodeValue wide = index_of_slices(b, "index_copy", self, dim, a.tensor("index"), source.meta.sizes);
    return {b.call("aten.scatter.src", {arg(self), dim, arg(wide), arg(source)}).ref};
}

std::vector<NodeRef> decompose_index_fill(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue self = a.tensor("self"), index = a.tensor("index");
    const std::int64_t dim = wrap_dim(a.integer("dim"), static_cast<std::int64_t>(self.meta.sizes.size()));
    Sizes slices = self.meta.sizes;
    if (!slices.empty()) slices[static_cast<std::size_t>(dim)] = index.meta.numel();
    const NodeValue wide = index_of_slices(b, "index_fill", self, dim, index, slices);
    return {b.call("aten.scatter.value", {arg(self), dim, arg(wide), Arg(a.scalar("value"))}).ref};
}

/// The value is 0-d, and converted as a number is. It goes to an element once, however often the index is there.
std::vector<NodeRef> decompose_index_fill_tensor(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const NodeValue self = a.tensor("self"), index = a.tensor("index"), value = a.tensor("value");
    if (!value.meta.sizes.empty())
        throw Error("index_fill: found a value of sizes " + to_string(value.meta.sizes) + ", expected a 0-d tensor");
    const std::int64_t dim = wrap_dim(a.integer("dim"), static_cast<std::int64_t>(self.meta.sizes.size()));
    Sizes slices = self.meta.sizes;
    if (!slices.empty()) slices[static_cast<std::size_t>(dim)] = index.meta.numel();
    const NodeValue wide = index_of_slices(b, "index_fill", self, dim, index, slices);
    const NodeValue none = b.call("aten.zeros.default", {Arg::ints(self.meta.sizes)}, {{"dtype", DType::boolean}});
    const NodeValue filled = b.call("aten.scatter.value", {arg(none), dim, arg(wide), true});
    return {b.call("aten.where.self", {arg(filled), arg(b.convert(value, self.meta.dtype)), arg(self)}).ref};
}

/// prod, amax and amin are scatter_reduce's; a mean is the sum over the count, of integers rounded down.
std::vector<NodeRef> decompose_index_reduce(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue self = a.tensor("self"), source = a.tensor("source");
    const std::int64_t dim = wrap_dim(a.integer("dim"), static_cast<std::int64_t>(self.meta.sizes.size()));
    const NodeValue wide = index_of_slices(b, "index_reduce", self, dim, a.tensor("index"), source.meta.sizes);
    const std::string reduce = a.text("reduce");
    const bool include = a.boolean("include_self");
    const auto reduced = [&](const NodeValue& to, const NodeValue& from, const std::string& how, bool with_self) {
        return b.call("aten.scatter_reduce.two", {arg(to), dim, arg(wide), arg(from), how},
                      {{"include_self", with_self}});
    };
    if (reduce == "prod" || reduce == "amax" || reduce == "amin") return {reduced(self, source, reduce, include).ref};
    if (reduce != "mean")
        throw Error("index_reduce: found reduce='" + reduce + "', expected 'prod', 'mean', 'amax' or 'amin'");
    const DType dtype = self.meta.dtype;
    const auto ones = [&](const NodeValue& like) { return g.call("aten.ones_like.default", {arg(like)}); };
    const NodeValue sum = reduced(self, source, "sum", include),
                    counts = reduced(ones(self), ones(source), "sum", include);
    if (is_floating(dtype)) return {g.div(sum, arg(counts)).ref};
    return {b.call("aten.div.Tensor_mode", {arg(sum), arg(counts)}, {{"rounding_mode", "floor"}}).ref};
}

}  // namespace

std::span<const OpDef> index_slice_ops() {
    static const OpDef ops[] = {
        {
            .name = "aten.index_add.default",
            .doc = "slices of a source added to slices of a dimension: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.index_add_.html",
            .schema = "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
            .dtypes = kMoved,
            .decompose = decompose_index_add,
            .open = {.ask = aten_open::index_along_dim},
            .grad = index_add_grad,
        },
        {
            .name = "aten.index_copy.default",
            .doc = "slices of a source in place of slices of a dimension: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.index_copy_.html",
            .schema = "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
            .dtypes = kMoved,
            .decompose = decompose_index_copy,
            .open = {.ask = aten_open::copied_slices},
        },
        {
            .name = "aten.index_fill.int_Scalar",
            .doc = "a number in slices of a dimension: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.index_fill_.html",
            .schema = "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
            .dtypes = kMoved,
            .decompose = decompose_index_fill,
            .open = {.ask = aten_open::any_index_along_dim},
        },
        {
            .name = "aten.index_fill.int_Tensor",
            .doc = "a 0-d tensor in slices of a dimension: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.index_fill_.html",
            .schema = "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
            .dtypes = kMoved,
            .decompose = decompose_index_fill_tensor,
            .open = {.ask = aten_open::any_index_along_dim},
        },
        {
            .name = "aten.index_reduce.default",
            .doc = "slices of a source combined with slices of a dimension: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.index_reduce_.html",
            .schema = "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool "
                      "include_self=True) -> Tensor",
            .dtypes = kNumbers,
            .decompose = decompose_index_reduce,
            .open = {.ask = aten_open::index_along_dim},
        },
    };
    return ops;
}

}  // namespace whittle
