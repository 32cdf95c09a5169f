// Views: the same elements in another order. Everything here is an affine map (see geometry.h); shapes that change
// otherwise are in reshape.cpp. Definitions: https://pytorch.org/docs/stable/tensor_view.html
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"

namespace whittle {
namespace {

struct Permute {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::vector<std::int64_t> dims = wrap_dims(a.integers("dims"), self.rank(), "permute");
        if (static_cast<std::int64_t>(dims.size()) != self.rank())
            throw Error("permute: found dims with " + std::to_string(dims.size()) + " entries, expected " +
                        std::to_string(self.rank()) + ", one for each dimension of the tensor");
        return {permute_view(self, dims)};
    }
};

View swap_dims(const Geometry& self, std::int64_t a, std::int64_t b) {
    std::vector<std::int64_t> dims(self.sizes.size());
    std::iota(dims.begin(), dims.end(), 0);
    if (!dims.empty()) std::swap(dims[static_cast<std::size_t>(a)], dims[static_cast<std::size_t>(b)]);
    return permute_view(self, dims);
}

struct Transpose {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        return {swap_dims(self, wrap_dim(a.integer("dim0"), self.rank()), wrap_dim(a.integer("dim1"), self.rank()))};
    }
};

struct T2d {
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>&) {
        if (self.rank() > 2)
            throw Error("t: found a tensor of sizes " + to_string(self.sizes) + ", expected at most 2 dimensions",
                        "use transpose() for more dimensions");
        return {swap_dims(self, 0, self.rank() == 2 ? 1 : 0)};
    }
};

/// The dimensions that a parameter names, be it "int" or "int[]".
std::vector<std::int64_t> named_dims(const AnyArguments auto& a, const std::string& parameter) {
    if (a.schema().param(parameter)->type == ParamType::integer) return {a.integer(parameter)};
    return a.integers(parameter);
}

struct Movedim {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::vector<std::int64_t> from = wrap_dims(named_dims(a, "source"), self.rank(), "movedim");
        const std::vector<std::int64_t> to = wrap_dims(named_dims(a, "destination"), self.rank(), "movedim");
        if (from.size() != to.size())
            throw Error("movedim: found source=" + to_string(from) + " and destination=" + to_string(to) +
                        ", expected lists of equal lengths");
        if (self.sizes.empty()) return {View::identity(self.sizes)};
        std::vector<std::int64_t> order(self.sizes.size(), -1);
        for (std::size_t i = 0; i < from.size(); ++i) order[static_cast<std::size_t>(to[i])] = from[i];
        std::int64_t next = 0;
        for (std::int64_t& dim : order) {
            if (dim >= 0) continue;
            while (std::ranges::find(from, next) != from.end()) ++next;
            dim = next++;
        }
        return {permute_view(self, order)};
    }
};

struct Squeeze {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        std::vector<std::int64_t> dims(self.sizes.size());
        std::iota(dims.begin(), dims.end(), 0);
        if (a.schema().param("dim")) dims = wrap_dims(named_dims(a, "dim"), self.rank(), "squeeze");
        return {squeeze_view(self, dims)};
    }
};

struct Unsqueeze {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        return {unsqueeze_view(self, wrap_dim(a.integer("dim"), self.rank() + 1))};
    }
};

struct Expand {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        return {expand_view(self, a.integers("size"))};
    }
};

struct Select {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::int64_t dim = existing_dim(self, a, "dim");
        return {select_view(self, dim, checked_index(a.integer("index"), self.size(dim), true, "select"))};
    }
};

struct Slice {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::int64_t dim = existing_dim(self, a, "dim"), step = a.integer("step");
        if (step <= 0 || step > std::numeric_limits<std::int32_t>::max())
            throw Error("slice: found step=" + std::to_string(step) + ", expected 1 to 2^31 - 1",
                        "use flip() to reverse a dimension");
        const auto [start, end] = slice_bounds(self.size(dim), a.optional_integer("start"), a.optional_integer("end"));
        return {slice_view(self, dim, start, end, step)};
    }
};

struct Narrow {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        return {narrow_view(self, existing_dim(self, a, "dim"), a.integer("start"), a.integer("length"), "narrow")};
    }
};

// --- Gradients ---

using namespace aten;

V permute_grad(const OfSelf& r) {
    const Ints dims = wrap_dims(r.call.integers("dims"), r.x.rank(), "permute");
    Ints back(dims.size());
    for (std::size_t i = 0; i < dims.size(); ++i)
        back[static_cast<std::size_t>(dims[i])] = static_cast<std::int64_t>(i);
    return permute(r.g, back);
}
V transpose_grad(const OfSelf& r) { return transpose(r.g, r.call.integer("dim0"), r.call.integer("dim1")); }
V movedim_grad(const OfSelf& r) {
    const bool one = r.call.schema().name.ends_with(".int");
    if (one) return movedim(r.g, r.call.integer("destination"), r.call.integer("source"));
    return movedim(r.g, r.call.integers("destination"), r.call.integers("source"));
}
V t_grad(const OfSelf& r) { return t(r.g); }
V unsqueeze_grad(const OfSelf& r) { return squeeze(r.g, r.call.integer("dim")); }
/// New dimensions of size 1 where they were taken.
V squeeze_grad(const OfSelf& r) {
    Ints dims(r.x.sizes().size());
    std::iota(dims.begin(), dims.end(), 0);
    if (const Param* dim = r.call.schema().param("dim"))
        dims = dim->type == ParamType::int_list ? r.call.integers("dim") : Ints{r.call.integer("dim")};
    dims = wrap_dims(dims, r.x.rank(), "squeeze");
    std::ranges::sort(dims);
    V gradient = r.g;
    for (const std::int64_t dim : dims)
        if (r.x.rank() > 0 && r.x.sizes()[static_cast<std::size_t>(dim)] == 1) gradient = unsqueeze(gradient, dim);
    return gradient;
}
V select_grad(const OfSelf& r) {
    return select_backward(r.g, r.x.sizes(), r.call.integer("dim"), r.call.integer("index"));
}
V slice_grad(const OfSelf& r) {
    const Call& a = r.call;
    constexpr std::int64_t kEnd = std::numeric_limits<std::int64_t>::max();
    return slice_backward(r.g, r.x.sizes(), a.integer("dim"), a.optional_integer("start").value_or(0),
                          a.optional_integer("end").value_or(kEnd), a.integer("step"));
}
V narrow_grad(const OfSelf& r) {
    const std::int64_t dim = wrap_dim(r.call.integer("dim"), r.x.rank()), length = r.call.integer("length");
    const std::int64_t size = r.x.sizes().at(static_cast<std::size_t>(dim));
    std::int64_t start = r.call.integer("start");
    if (start < 0) start += size;
    return slice_backward(r.g, r.x.sizes(), dim, start, start + length, 1);
}

}  // namespace

std::span<const OpDef> view_ops() {
    static const OpDef ops[] = {
        view_op<Permute>("permute(Tensor(a) self, int[] dims) -> Tensor(a)", "dimensions in another order",
                         permute_grad),
        view_op<Transpose>("transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", "two dimensions swapped",
                           transpose_grad),
        view_op<T2d>("t(Tensor(a) self) -> Tensor(a)", "a matrix transposed; a vector or number unchanged", t_grad),
        view_op<Movedim>("movedim.{intlist|int}(Tensor(a) self, int{[]|} source, int{[]|} destination) -> Tensor(a)",
                         "dimensions moved to other positions; the remaining dimensions keep their order",
                         movedim_grad),
        view_op<Squeeze>("squeeze{|.dim|.dims}(Tensor(a) self{|, int dim|, int[] dim}) -> Tensor(a)",
                         "without dimensions whose size is 1: all, one, or some", squeeze_grad),
        view_op<Unsqueeze>("unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", "with a new dimension of size 1",
                           unsqueeze_grad),
        view_op<Expand>("expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
                        "dimensions of size 1 repeated without a copy: "
                        "https://pytorch.org/docs/stable/generated/torch.Tensor.expand.html",
                        aten::pass_gradient),
        view_op<Select>("select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", "one index of a dimension",
                        select_grad),
        view_op<Slice>(
            "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
            "every step-th index of a range; bounds are clamped: "
            "https://docs.python.org/3/library/functions.html#slice",
            slice_grad),
        view_op<Narrow>("narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
                        "a range of a dimension", narrow_grad),
    };
    return ops;
}

}  // namespace whittle
