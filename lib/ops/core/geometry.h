// Views as affine maps: every dimension of the viewed tensor is indexed by a base plus multiples of the view's indices.
// From that one description come the view's strides and offset (infer, eval) and its index substitution (lower).
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/core/op.h"

namespace whittle {

/// Sizes and strides of what a view looks at.
struct Geometry {
    Sizes sizes;
    Strides strides;
    std::int64_t rank() const { return static_cast<std::int64_t>(sizes.size()); }
    std::int64_t size(std::int64_t dim) const { return sizes[static_cast<std::size_t>(dim)]; }
    std::int64_t stride(std::int64_t dim) const { return strides[static_cast<std::size_t>(dim)]; }
};

inline Geometry geometry(const ValueMeta& meta) { return {meta.sizes, meta.strides}; }
inline Geometry geometry(const Tensor& tensor) { return {tensor.sizes(), tensor.strides()}; }
/// An expression has no memory; contiguous strides stand in, and only the substitution is used.
inline Geometry geometry(const expr::Value& value) { return {value.sizes(), contiguous_strides(value.sizes())}; }

/// One dimension of the viewed tensor: index = base + sum of coefficient * (index of view dimension).
struct Axis {
    std::int64_t base = 0;
    std::vector<std::pair<std::size_t, std::int64_t>> terms = {};  ///< (view dimension, coefficient)
};

struct View {
    Sizes sizes;             ///< of the view
    std::vector<Axis> axes;  ///< one per dimension of the viewed tensor
    Strides unused = {};     ///< strides ATen gives to view dimensions that no axis mentions; empty is all 0

    /// The identity on `sizes`.
    static View identity(const Sizes& sizes);
    Strides strides(const Strides& viewed) const;
    /// Offset of the view's first element from the viewed tensor's first.
    std::int64_t offset(const Strides& viewed) const;
};

using Views = std::vector<View>;

ValueMeta apply_view(const View& view, const ValueMeta& self);
Tensor apply_view(const View& view, const Tensor& self);
expr::Value apply_view(const View& view, const expr::Value& self);

/// `dims` wrapped to the rank; throws Error for one that is out of range or named twice.
std::vector<std::int64_t> wrap_dims(const std::vector<std::int64_t>& dims, std::int64_t rank, const std::string& op);

// Views that other families build on. Dimensions are wrapped already.
View permute_view(const Geometry& self, const std::vector<std::int64_t>& dims);
View unsqueeze_view(const Geometry& self, std::int64_t dim);
View squeeze_view(const Geometry& self, const std::vector<std::int64_t>& dims);  ///< those of size 1 among dims
View select_view(const Geometry& self, std::int64_t dim, std::int64_t index);    ///< 0 <= index < size
/// Elements start, start + step, … below end; start and end within 0..size.
View slice_view(const Geometry& self, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step = 1);
/// ATen's clamping of slice bounds: none is the whole dimension, negatives count from the end.
std::pair<std::int64_t, std::int64_t> slice_bounds(std::int64_t size, std::optional<std::int64_t> start,
                                                   std::optional<std::int64_t> end);
View expand_view(const Geometry& self, const Sizes& sizes);  ///< -1 keeps a size; throws Error when they do not fit
View flip_view(const Geometry& self, const std::vector<std::int64_t>& dims);

/// `length` elements from `start` (negative: from the end). Throws Error when they are not all there.
View narrow_view(const Geometry& self, std::int64_t dim, std::int64_t start, std::int64_t length,
                 const std::string& op);

/// The wrapped dimension that `parameter` names, of a tensor that has any.
std::int64_t existing_dim(const Geometry& self, const AnyArguments auto& a, std::string_view parameter) {
    if (self.sizes.empty()) throw Error(a.schema().name + ": found a 0-d tensor, expected at least 1 dimension");
    return wrap_dim(a.integer(parameter), self.rank());
}

/// Strides under which `self` can be seen with other sizes of the same count, if any (at::detail::computeStride):
/// every run of dimensions that is merged must be laid out as one.
std::optional<Strides> reshape_strides(const Geometry& self, const Sizes& sizes);
/// Fills in one -1 of a requested shape; throws Error when the counts cannot agree.
Sizes infer_reshape(const Sizes& requested, std::int64_t numel, const std::string& op);
/// The value under other sizes of the same count, by substitution: dimensions that both shapes share keep their index,
/// the rest go through a linear index.
expr::Value reshape_value(const expr::Value& self, const Sizes& sizes);
/// A tensor under other sizes of the same count: a view where strides allow, else a copy.
Tensor reshape_tensor(const Tensor& self, const Sizes& sizes);

/// infer, eval and lower of an op whose results are views of `self`. Op has
///   template <class T> static Views views(const Geometry& self, const Arguments<T>& arguments).
template <class Op, class T>
std::vector<T> run_view(const Arguments<T>& arguments) {
    const T self = arguments.tensor("self");
    std::vector<T> results;
    for (const View& view : Op::views(geometry(self), arguments)) results.push_back(apply_view(view, self));
    return results;
}
template <class Op>
constexpr OpDef view_op(std::string_view schema, std::string_view doc, GradientRule grad) {
    return {.doc = doc,
            .schema = schema,
            .dtypes = kMoved,
            .infer = &run_view<Op, ValueMeta>,
            .eval = &run_view<Op, Tensor>,
            .lower = [](expr::GroupBuilder&, const Arguments<expr::Value>& a) { return run_view<Op, expr::Value>(a); },
            .grad = grad,
            .bound = kBoundExact};
}

}  // namespace whittle
