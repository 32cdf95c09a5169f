// Other shapes of the same elements in the same order: views where the strides allow one, else copies.
// https://pytorch.org/docs/stable/generated/torch.Tensor.view.html states when they do.
#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"

namespace whittle {
namespace {

using namespace aten;

// Each rule gives the sizes that an op reshapes to.

struct View_ {
    static constexpr const char* name = "view";
    static Sizes sizes(const Sizes& self, const AnyArguments auto& a) {
        return infer_reshape(a.integers("size"), element_count(self), name);
    }
};

struct Reshape {
    static Sizes sizes(const Sizes& self, const AnyArguments auto& a) {
        return infer_reshape(a.integers("shape"), element_count(self), "reshape");
    }
};

struct UnsafeView {
    static Sizes sizes(const Sizes& self, const AnyArguments auto& a) {
        return infer_reshape(a.integers("size"), element_count(self), "_unsafe_view");
    }
};

struct Flatten {
    static Sizes sizes(const Sizes& self, const AnyArguments auto& a) {
        const auto rank = static_cast<std::int64_t>(self.size());
        const std::int64_t first = wrap_dim(a.integer("start_dim"), rank), last = wrap_dim(a.integer("end_dim"), rank);
        if (first > last)
            throw Error("flatten: found start_dim=" + std::to_string(first) + " after end_dim=" + std::to_string(last) +
                        ", expected start_dim to be at most end_dim");
        if (self.empty()) return {1};
        Sizes result(self.begin(), self.begin() + first);
        result.push_back(element_count(
            std::span(self).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(last - first + 1))));
        result.insert(result.end(), self.begin() + last + 1, self.end());
        return result;
    }
};

struct Unflatten {
    static Sizes sizes(const Sizes& self, const AnyArguments auto& a) {
        if (self.empty()) throw Error("unflatten: found a 0-d tensor, expected at least 1 dimension");
        const std::int64_t dim = wrap_dim(a.integer("dim"), self);
        if (a.integers("sizes").empty()) throw Error("unflatten: found no sizes, expected at least 1");
        const Sizes inner = infer_reshape(a.integers("sizes"), self[static_cast<std::size_t>(dim)], "unflatten");
        Sizes result(self.begin(), self.begin() + dim);
        result.insert(result.end(), inner.begin(), inner.end());
        result.insert(result.end(), self.begin() + dim + 1, self.end());
        return result;
    }
};

/// Whether the rule's op promises a view, and so refuses strides that allow none.
template <class Rule>
constexpr bool kViewOnly = std::is_same_v<Rule, View_> || std::is_same_v<Rule, UnsafeView>;

template <class Rule>
std::optional<Strides> view_strides(const Geometry& self, const Sizes& sizes) {
    std::optional<Strides> strides = reshape_strides(self, sizes);
    if (!strides && kViewOnly<Rule>)
        throw Error("view: found sizes " + to_string(self.sizes) + " with strides " + to_string(self.strides) +
                        ", expected strides that can be viewed as " + to_string(sizes),
                    "use reshape(), which copies the elements if a view is not possible");
    return strides;
}

template <class Rule>
std::vector<ValueMeta> infer_reshaped(const Arguments<ValueMeta>& a) {
    const ValueMeta self = a.tensor("self");
    const Sizes sizes = Rule::sizes(self.sizes, a);
    const std::optional<Strides> strides = view_strides<Rule>(geometry(self), sizes);
    return {{self.dtype, sizes, strides ? *strides : contiguous_strides(sizes), self.requires_grad}};
}

template <class Rule>
std::vector<Tensor> eval_reshaped(const Arguments<Tensor>& a) {
    const Tensor self = a.tensor("self");
    const Sizes sizes = Rule::sizes(self.sizes(), a);
    view_strides<Rule>(geometry(self), sizes);
    return {reshape_tensor(self, sizes)};
}

template <class Rule>
std::vector<expr::Value> lower_reshaped(expr::GroupBuilder&, const Arguments<expr::Value>& a) {
    const expr::Value self = a.tensor("self");
    return {reshape_value(self, Rule::sizes(self.sizes(), a))};
}

V restore_grad(const OfSelf& r) { return reshaped(r.g, r.x.sizes()); }

template <class Rule>
constexpr OpDef reshape_op(std::string_view schema, std::string_view doc) {
    return primitive(schema, doc, kMoved, {infer_reshaped<Rule>, eval_reshaped<Rule>, lower_reshaped<Rule>},
                     restore_grad, kBoundExact);
}

// --- as_strided ----------------------------------------------------------------------------------------------------

void check_as_strided(const AnyArguments auto& a) {
    const Sizes sizes = a.integers("size");
    element_count(sizes);
    if (a.integers("stride").size() != sizes.size())
        throw Error("as_strided: found size=" + to_string(sizes) + " and stride=" + to_string(a.integers("stride")) +
                    ", expected one stride for each size");
}

std::vector<ValueMeta> infer_as_strided(const Arguments<ValueMeta>& a) {
    check_as_strided(a);
    const ValueMeta self = a.tensor("self");
    return {{self.dtype, a.integers("size"), a.integers("stride"), self.requires_grad}};
}

std::vector<Tensor> eval_as_strided(const Arguments<Tensor>& a) {
    check_as_strided(a);
    const Tensor self = a.tensor("self");
    return {self.as_strided(a.integers("size"), a.integers("stride"),
                            a.optional_integer("storage_offset").value_or(self.offset()))};
}

/// Memory is not a matter of expressions, so strides become indices: of the tensor flattened in the order in which its
/// elements lie. Only what `self` itself holds can be reached, where eager reaches the whole storage behind it.
CallResults decompose_as_strided(const Call& c) {
    const V self = c.tensor("self");
    const Geometry from = geometry(self.meta);
    std::vector<std::int64_t> order(from.sizes.size());  // dimensions from the widest stride to the narrowest
    std::iota(order.begin(), order.end(), 0);
    std::ranges::stable_sort(order, [&](std::int64_t x, std::int64_t y) { return from.stride(x) > from.stride(y); });
    const View dense = permute_view(from, order);
    if (!is_contiguous(dense.sizes, dense.strides(from.strides)))
        throw Error("as_strided: found a tensor of strides " + to_string(from.strides) +
                        ", expected a tensor without gaps between the elements",
                    "call as_strided() on the whole tensor, not on a view: compiled code reads only the elements "
                    "of the operand");
    const std::int64_t start = c.optional_integer("storage_offset").value_or(0);
    const Sizes sizes = c.integers("size");
    const Strides strides = c.integers("stride");
    std::vector<std::int64_t> positions;
    for_each_index(sizes, [&](const std::vector<std::int64_t>& index) {
        const std::int64_t at = start + element_offset(index, strides);
        positions.push_back(checked_index(at, self.numel(), false, "as_strided"));
    });
    const V flat = permute(self, order);
    return take(flat, c.constant(Tensor::of(positions, sizes), "positions"));
}

}  // namespace

std::span<const OpDef> reshape_ops() {
    static const OpDef ops[] = {
        reshape_op<View_>("view(Tensor(a) self, SymInt[] size) -> Tensor(a)",
                          "a view of the same elements with other sizes: "
                          "https://pytorch.org/docs/stable/generated/torch.Tensor.view.html"),
        reshape_op<Reshape>("reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)",
                            "the same elements with other sizes; a copy if no view is possible"),
        reshape_op<UnsafeView>(
            "_unsafe_view(Tensor self, SymInt[] size) -> Tensor",
            "view of a temporary (same values as view): "
            "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/native_functions.yaml"),
        reshape_op<Flatten>("flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
                            "consecutive dimensions joined into one"),
        reshape_op<Unflatten>("unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)",
                              "one dimension split into several"),
        {
            .doc = "a view of the same memory with any sizes and strides",
            .schema = "as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> "
                      "Tensor(a)",
            .dtypes = kMoved,
            .infer = infer_as_strided,
            .eval = eval_as_strided,
            .decompose = decompose_as_strided,
            .bound = kBoundExact,
        },
    };
    return ops;
}

}  // namespace whittle
