// Views: the same elements in another order. Everything here is an affine map (see geometry.h); shapes that change
// otherwise are in reshape.cpp. Definitions: https://pytorch.org/docs/stable/tensor_view.html
#include <algorithm>
#include <limits>
#include <numeric>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/view_grad.h"
#include "ops/core/elements.h"
#include "ops/core/geometry.h"

namespace whittle {

namespace {

struct Permute {
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>& a) {
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
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>& a) {
        return {swap_dims(self, wrap_dim(a.integer("dim0"), self.rank()), wrap_dim(a.integer("dim1"), self.rank()))};
    }
};

struct T2d {
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>&) {
        if (self.rank() > 2)
            throw Error("t: found a tensor of sizes " + to_string(self.sizes) + ", expected at most 2 dimensions",
                        "use transpose for more dimensions");
        return {swap_dims(self, 0, self.rank() == 2 ? 1 : 0)};
    }
};

/// The dimensions that a parameter names, be it "int" or "int[]".
template <class T>
std::vector<std::int64_t> named_dims(const Arguments<T>& a, const std::string& parameter) {
    if (a.schema().param(parameter)->type == ParamType::integer) return {a.integer(parameter)};
    return a.integers(parameter);
}

struct Movedim {
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>& a) {
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
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>& a) {
        std::vector<std::int64_t> dims(self.sizes.size());
        std::iota(dims.begin(), dims.end(), 0);
        if (a.schema().param("dim")) dims = wrap_dims(named_dims(a, "dim"), self.rank(), "squeeze");
        return {squeeze_view(self, dims)};
    }
};

struct Unsqueeze {
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>& a) {
        return {unsqueeze_view(self, wrap_dim(a.integer("dim"), self.rank() + 1))};
    }
};

struct Expand {
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>& a) {
        return {expand_view(self, a.integers("size"))};
    }
};

struct Select {
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>& a) {
        const std::int64_t dim = existing_dim(self, a, "dim");
        return {select_view(self, dim, checked_index(a.integer("index"), self.size(dim), true, "select"))};
    }
};

struct Slice {
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>& a) {
        const std::int64_t dim = existing_dim(self, a, "dim"), step = a.integer("step");
        if (step <= 0 || step > std::numeric_limits<std::int32_t>::max())
            throw Error("slice: found step=" + std::to_string(step) + ", expected 1 to 2^31 - 1",
                        "use flip to reverse a dimension");
        const auto [start, end] = slice_bounds(self.size(dim), a.optional_integer("start"), a.optional_integer("end"));
        return {slice_view(self, dim, start, end, step)};
    }
};

struct Narrow {
    template <class T>
    static Views views(const Geometry& self, const Arguments<T>& a) {
        return {narrow_view(self, existing_dim(self, a, "dim"), a.integer("start"), a.integer("length"), "narrow")};
    }
};

}  // namespace

std::span<const OpDef> view_ops() {
    static const OpDef ops[] = {
        view_op<Permute>({
            .doc = "dimensions in another order",
            .schema = "permute(Tensor(a) self, int[] dims) -> Tensor(a)",
            .grad = permute_grad,
        }),
        view_op<Transpose>({
            .doc = "two dimensions swapped",
            .schema = "transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)",
            .grad = transpose_grad,
        }),
        view_op<T2d>({
            .doc = "a matrix transposed, a vector or number as it is",
            .schema = "t(Tensor(a) self) -> Tensor(a)",
            .grad = t_grad,
        }),
        view_op<Movedim>({
            .doc = "dimensions moved, the others in order",
            .schema = "movedim.{intlist|int}(Tensor(a) self, int{[]|} source, int{[]|} destination) -> Tensor(a)",
            .grad = movedim_grad,
        }),
        view_op<Squeeze>({
            .doc = "without dimensions whose size is 1: all, one, or some",
            .schema = "squeeze{|.dim|.dims}(Tensor(a) self{|, int dim|, int[] dim}) -> Tensor(a)",
            .grad = squeeze_grad,
        }),
        view_op<Unsqueeze>({
            .doc = "with a new dimension of size 1",
            .schema = "unsqueeze(Tensor(a) self, int dim) -> Tensor(a)",
            .grad = unsqueeze_grad,
        }),
        view_op<Expand>({
            .doc = "dimensions of size 1 repeated without a copy: "
                   "https://pytorch.org/docs/stable/generated/torch.Tensor.expand.html",
            .schema = "expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)",
            .grad = aten::pass_gradient,
        }),
        view_op<Select>({
            .doc = "one index of a dimension",
            .schema = "select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)",
            .grad = select_grad,
        }),
        view_op<Slice>({
            .doc = "every step-th index of a range; bounds are clamped: "
                   "https://docs.python.org/3/library/functions.html#slice",
            .schema = "slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> "
                      "Tensor(a)",
            .grad = slice_grad,
        }),
        view_op<Narrow>({
            .doc = "a range of a dimension",
            .schema = "narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)",
            .grad = narrow_grad,
        }),
    };
    return ops;
}

}  // namespace whittle
