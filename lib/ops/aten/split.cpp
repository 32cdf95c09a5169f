// Views of parts of a tensor: pieces along a dimension, windows and diagonals. Affine maps, as in view.cpp.
#include <algorithm>

#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/core/geometry.h"

namespace whittle {
namespace {

/// Guards against a graph that asks for more results than memory could hold.
void check_count(std::int64_t count, const std::string& op) {
    constexpr std::int64_t kMost = 1 << 16;
    if (count > kMost)
        throw Error(op + ": found " + std::to_string(count) + " results, expected at most " + std::to_string(kMost));
}

Views split_at(const Geometry& self, std::int64_t dim, const std::vector<std::int64_t>& sizes) {
    Views views;
    std::int64_t start = 0;
    for (const std::int64_t size : sizes) {
        views.push_back(narrow_view(self, dim, start, size, "split"));
        start += size;
    }
    return views;
}

/// Pieces of `size` and a shorter last one; an empty dimension is one empty piece.
std::vector<std::int64_t> pieces(std::int64_t total, std::int64_t size) {
    if (total == 0) return {0};
    check_count((total - 1) / size + 1, "split");
    std::vector<std::int64_t> result;
    for (std::int64_t start = 0; start < total; start += size) result.push_back(std::min(size, total - start));
    return result;
}

struct Split {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::int64_t dim = existing_dim(self, a, "dim"), size = a.integer("split_size");
        if (size < 0 || (size == 0 && self.size(dim) != 0))
            throw Error("split: found split_size=" + std::to_string(size) + " for a dimension of size " +
                        std::to_string(self.size(dim)) + ", expected at least 1");
        return split_at(self, dim, pieces(self.size(dim), size));
    }
};

struct SplitWithSizes {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::int64_t dim = existing_dim(self, a, "dim");
        const std::vector<std::int64_t> sizes = a.integers("split_sizes");
        std::int64_t left = self.size(dim);
        for (const std::int64_t size : sizes)
            if (size < 0 || (left -= std::min(size, left + 1)) < 0) break;
        if (left != 0)
            throw Error("split_with_sizes: found split_sizes=" + to_string(sizes) +
                        ", expected sizes of at least 0 that add up to " + std::to_string(self.size(dim)));
        return split_at(self, dim, sizes);
    }
};

struct Chunk {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::int64_t dim = existing_dim(self, a, "dim"), chunks = a.integer("chunks");
        if (chunks <= 0) throw Error("chunk: found " + std::to_string(chunks) + " chunks, expected at least 1");
        check_count(chunks, "chunk");
        const std::int64_t total = self.size(dim);
        // ATen keeps the number of chunks when there is nothing to divide.
        if (total == 0) return split_at(self, dim, std::vector<std::int64_t>(static_cast<std::size_t>(chunks), 0));
        return split_at(self, dim, pieces(total, (total + chunks - 1) / chunks));
    }
};

struct Unbind {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::int64_t dim = existing_dim(self, a, "dim");
        check_count(self.size(dim), "unbind");
        Views views;
        for (std::int64_t i = 0; i < self.size(dim); ++i) views.push_back(select_view(self, dim, i));
        return views;
    }
};

/// Element [.., w, .., r] is self[.., step * w + r, ..].
struct Unfold {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::int64_t dim = wrap_dim(a.integer("dimension"), self.rank());
        const std::int64_t length = a.integer("size"), step = a.integer("step");
        const std::int64_t extent = self.sizes.empty() ? 1 : self.size(dim);
        if (length < 0 || length > extent || step <= 0)
            throw Error("unfold: found size=" + std::to_string(length) + " and step=" + std::to_string(step) +
                        " for a dimension of size " + std::to_string(extent) + ", expected a size from 0 to " +
                        std::to_string(extent) + " and a step of at least 1");
        if (self.sizes.empty()) return {View{{length}, {}, {1}}};
        View view = View::identity(self.sizes);
        const auto d = static_cast<std::size_t>(dim);
        view.sizes[d] = (extent - length) / step + 1;
        view.axes[d].terms = {{d, step}, {self.sizes.size(), 1}};
        view.sizes.push_back(length);
        return {view};
    }
};

struct Diagonal {
    static Views views(const Geometry& self, const AnyArguments auto& a) {
        const std::int64_t dim1 = existing_dim(self, a, "dim1"), dim2 = existing_dim(self, a, "dim2");
        const std::int64_t shift = std::clamp(a.integer("offset"), -self.size(dim1), self.size(dim2));
        if (dim1 == dim2)
            throw Error("diagonal: found dimension " + std::to_string(dim1) +
                        " as both dim1 and dim2, expected two different dimensions");
        const std::int64_t down = std::max<std::int64_t>(-shift, 0), right = std::max<std::int64_t>(shift, 0);
        const std::int64_t length =
            std::max<std::int64_t>(std::min(self.size(dim1) - down, self.size(dim2) - right), 0);
        View view{{}, std::vector<Axis>(self.sizes.size())};
        for (std::int64_t d = 0; d < self.rank(); ++d) {
            if (d == dim1 || d == dim2) continue;
            view.axes[static_cast<std::size_t>(d)].terms = {{view.sizes.size(), 1}};
            view.sizes.push_back(self.size(d));
        }
        view.axes[static_cast<std::size_t>(dim1)] = {down, {{view.sizes.size(), 1}}};
        view.axes[static_cast<std::size_t>(dim2)] = {right, {{view.sizes.size(), 1}}};
        view.sizes.push_back(length);
        return {view};
    }
};

// --- Gradients ---

using namespace aten;

/// The results' gradients; zeros for a part that nothing depends on.
Vs parts_of(const Gradients& c) {
    Vs gradients;
    for (std::size_t i = 0; i < c.result_count(); ++i) gradients.push_back(c.grad(i));
    return gradients;
}
V unbind_grad(const OfSelf& r) {
    const Vs parts = parts_of(r.call);
    return parts.empty() ? zeros_like(r.x) : stack(parts, r.call.integer("dim"));
}
V split_grad(const OfSelf& r) {
    const Vs parts = parts_of(r.call);
    return parts.empty() ? zeros_like(r.x) : cat(parts, r.call.integer("dim"));
}
V unfold_grad(const OfSelf& r) {
    const Call& a = r.call;
    return unfold_backward(r.g, r.x.sizes(), a.integer("dimension"), a.integer("size"), a.integer("step"));
}
/// The diagonal of the elements' numbers says where they came from.
V diagonal_grad(const OfSelf& r) {
    const V numbers = reshaped(arange(r.call.builder(), r.x.numel(), DType::i64), r.x.sizes());
    const Call& a = r.call;
    return add_at(r.g, diagonal(numbers, a.integer("offset"), a.integer("dim1"), a.integer("dim2")), r.x.sizes());
}

}  // namespace

std::span<const OpDef> split_ops() {
    static const OpDef ops[] = {
        view_op<Split>("split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]",
                       "pieces of one size, the last may be shorter", split_grad),
        view_op<SplitWithSizes>("split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
                                "pieces of given sizes: https://pytorch.org/docs/stable/generated/torch.split.html",
                                split_grad),
        view_op<Chunk>("chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]",
                       "at most `chunks` pieces of equal size", split_grad),
        view_op<Split>("unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]",
                       "split whose results are not treated as views", split_grad),
        view_op<SplitWithSizes>(
            "unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
            "unsafe_split into pieces of given sizes: "
            "https://github.com/pytorch/pytorch/blob/main/aten/src/ATen/native/native_functions.yaml",
            split_grad),
        view_op<Chunk>("unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
                       "chunk whose results are not treated as views", split_grad),
        view_op<Unbind>("unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]",
                        "the slices of a dimension, one for each index", unbind_grad),
        view_op<Unfold>("unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)",
                        "windows of a dimension, in a new last dimension: "
                        "https://pytorch.org/docs/stable/generated/torch.Tensor.unfold.html",
                        unfold_grad),
        view_op<Diagonal>("diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)",
                          "the diagonal of two dimensions, in a new last dimension", diagonal_grad),
    };
    return ops;
}

}  // namespace whittle
