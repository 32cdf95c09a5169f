#include "ops/core/geometry.h"

#include <algorithm>

#include "base/checked.h"

namespace whittle {

View View::identity(const Sizes& sizes) {
    View view{sizes, std::vector<Axis>(sizes.size())};
    for (std::size_t d = 0; d < sizes.size(); ++d) view.axes[d].terms = {{d, 1}};
    return view;
}

Strides View::strides(const Strides& viewed) const {
    Strides result = unused.empty() ? Strides(sizes.size(), 0) : unused;
    for (std::size_t d = 0; d < axes.size(); ++d)
        for (const auto& [dimension, coefficient] : axes[d].terms)
            result[dimension] = (result[dimension] + Checked(coefficient) * viewed[d]).value();
    return result;
}

std::int64_t View::offset(const Strides& viewed) const {
    std::int64_t result = 0;
    for (std::size_t d = 0; d < axes.size(); ++d) result += axes[d].base * viewed[d];
    return result;
}

ValueMeta apply_view(const View& view, const ValueMeta& self) {
    return {self.dtype, view.sizes, view.strides(self.strides), self.requires_grad};
}

Tensor apply_view(const View& view, const Tensor& self) {
    return self.as_strided(view.sizes, view.strides(self.strides()), self.offset() + view.offset(self.strides()));
}

expr::Value apply_view(const View& view, const expr::Value& self) {
    return expr::Value(self.dtype(), view.sizes, [self, axes = view.axes, sizes = view.sizes](const expr::Index& out) {
        expr::Index in;
        for (const Axis& axis : axes) {
            expr::Expr index;
            for (const auto& [dimension, coefficient] : axis.terms) {
                if (sizes[dimension] == 1) continue;  // its only index is 0
                const expr::Expr& variable = out[dimension];
                expr::Expr term = coefficient == 1 ? variable : variable * expr::index(coefficient);
                index = index ? index + term : term;
            }
            if (!index)
                index = expr::index(axis.base);
            else if (axis.base != 0)
                index = index + expr::index(axis.base);
            in.push_back(index);
        }
        return self(in);
    });
}

std::vector<std::int64_t> wrap_dims(const std::vector<std::int64_t>& dims, std::int64_t rank, const std::string& op) {
    std::vector<std::int64_t> result;
    for (const std::int64_t dim : dims) {
        const std::int64_t wrapped = wrap_dim(dim, rank);
        if (std::ranges::find(result, wrapped) != result.end())
            throw Error(op + ": found dimension " + std::to_string(dim) + " twice in " + to_string(dims) +
                        ", expected distinct dimensions");
        result.push_back(wrapped);
    }
    return result;
}

View permute_view(const Geometry& self, const std::vector<std::int64_t>& dims) {
    View view{{}, std::vector<Axis>(self.sizes.size())};
    for (std::size_t d = 0; d < dims.size(); ++d) {
        view.sizes.push_back(self.size(dims[d]));
        view.axes[static_cast<std::size_t>(dims[d])].terms = {{d, 1}};
    }
    return view;
}

View unsqueeze_view(const Geometry& self, std::int64_t dim) {
    const auto at = static_cast<std::size_t>(dim);
    View view{self.sizes, std::vector<Axis>(self.sizes.size()), Strides(self.sizes.size() + 1, 0)};
    view.sizes.insert(view.sizes.begin() + dim, 1);
    for (std::size_t d = 0; d < self.sizes.size(); ++d) view.axes[d].terms = {{d < at ? d : d + 1, 1}};
    view.unused[at] = dim < self.rank() ? self.size(dim) * self.stride(dim) : 1;
    return view;
}

View squeeze_view(const Geometry& self, const std::vector<std::int64_t>& dims) {
    View view{{}, std::vector<Axis>(self.sizes.size())};
    for (std::int64_t d = 0; d < self.rank(); ++d) {
        if (self.size(d) == 1 && std::ranges::find(dims, d) != dims.end()) continue;
        view.axes[static_cast<std::size_t>(d)].terms = {{view.sizes.size(), 1}};
        view.sizes.push_back(self.size(d));
    }
    return view;
}

View select_view(const Geometry& self, std::int64_t dim, std::int64_t index) {
    View view{self.sizes, std::vector<Axis>(self.sizes.size())};
    view.sizes.erase(view.sizes.begin() + dim);
    std::size_t out = 0;
    for (std::int64_t d = 0; d < self.rank(); ++d) {
        Axis& axis = view.axes[static_cast<std::size_t>(d)];
        if (d == dim)
            axis.base = index;
        else
            axis.terms = {{out++, 1}};
    }
    return view;
}

View slice_view(const Geometry& self, std::int64_t dim, std::int64_t start, std::int64_t end, std::int64_t step) {
    View view = View::identity(self.sizes);
    const auto d = static_cast<std::size_t>(dim);
    view.sizes[d] = end <= start ? 0 : (end - start - 1) / step + 1;
    view.axes[d] = {start, {{d, step}}};
    return view;
}

std::pair<std::int64_t, std::int64_t> slice_bounds(std::int64_t size, std::optional<std::int64_t> start,
                                                   std::optional<std::int64_t> end) {
    const auto clamp = [size](std::int64_t at) { return std::clamp<std::int64_t>(at < 0 ? at + size : at, 0, size); };
    const std::int64_t first = clamp(start.value_or(0));
    return {first, std::max(first, clamp(end.value_or(size)))};
}

View expand_view(const Geometry& self, const Sizes& sizes) {
    const auto fail = [&] {
        throw Error("expand: found sizes " + to_string(sizes) + " for a tensor of sizes " + to_string(self.sizes) +
                        ", expected an equal size in each dimension whose size in the tensor is not 1",
                    "pass -1 to keep the size of a dimension, and put new dimensions first");
    };
    if (sizes.size() < self.sizes.size()) fail();
    View view{sizes, std::vector<Axis>(self.sizes.size()), Strides(sizes.size(), 0)};
    const std::size_t added = sizes.size() - self.sizes.size();
    for (std::size_t d = sizes.size(); d-- > 0;) {
        if (d < added) {
            if (sizes[d] < 0) fail();
            continue;
        }
        const std::int64_t size = self.sizes[d - added];
        if (sizes[d] == -1) view.sizes[d] = size;
        if (view.sizes[d] == size)
            view.axes[d - added].terms = {{d, 1}};
        else if (size != 1 || sizes[d] < 0)
            fail();
    }
    element_count(view.sizes);  // throws where nothing could count them
    if (self.sizes.empty()) return view;
    // at::inferExpandGeometry gives a new dimension of size 1 the stride a contiguous one would have.
    const Strides known = view.strides(self.strides);
    for (std::size_t d = added; d-- > 0;)
        if (sizes[d] == 1) view.unused[d] = view.sizes[d + 1] * (d + 1 < added ? view.unused[d + 1] : known[d + 1]);
    return view;
}

View flip_view(const Geometry& self, const std::vector<std::int64_t>& dims) {
    View view = View::identity(self.sizes);
    for (const std::int64_t dim : dims)
        if (dim < self.rank())
            view.axes[static_cast<std::size_t>(dim)] = {std::max<std::int64_t>(self.size(dim) - 1, 0),
                                                        {{static_cast<std::size_t>(dim), -1}}};
    return view;
}

View narrow_view(const Geometry& self, std::int64_t dim, std::int64_t start, std::int64_t length,
                 const std::string& op) {
    const std::int64_t size = self.size(dim), first = start < 0 ? start + size : start;
    if (first < 0 || first > size || length < 0 || length > size - first)
        throw Error(op + ": found start " + std::to_string(start) + " and length " + std::to_string(length) +
                    " for a dimension of size " + std::to_string(size) + ", expected a range inside the dimension");
    return slice_view(self, dim, first, first + length);
}

std::optional<Strides> reshape_strides(const Geometry& self, const Sizes& sizes) {
    const std::int64_t numel = element_count(self.sizes);
    if (numel == 0) return self.sizes == sizes ? self.strides : contiguous_strides(sizes);
    Strides result(sizes.size(), 1);
    if (self.sizes.empty()) return result;
    // Walk both shapes from the last dimension; a chunk is a run of old dimensions laid out as one.
    auto view = static_cast<std::int64_t>(sizes.size()) - 1;
    std::int64_t chunk_stride = self.strides.back(), chunk = 1, seen = 1;
    for (std::int64_t d = self.rank() - 1; d >= 0; --d) {
        chunk *= self.size(d);
        const bool ends = d == 0 || (self.size(d - 1) != 1 && self.stride(d - 1) != chunk * chunk_stride);
        if (!ends) continue;
        while (view >= 0 && (seen < chunk || sizes[static_cast<std::size_t>(view)] == 1)) {
            result[static_cast<std::size_t>(view)] = seen * chunk_stride;
            seen *= sizes[static_cast<std::size_t>(view)];
            --view;
        }
        if (seen != chunk) return std::nullopt;
        if (d > 0) {
            chunk_stride = self.stride(d - 1);
            chunk = seen = 1;
        }
    }
    return view < 0 ? std::optional(result) : std::nullopt;
}

Sizes infer_reshape(const Sizes& requested, std::int64_t numel, const std::string& op) {
    const auto fail = [&](const std::string& why) {
        throw Error(op + ": found the shape " + to_string(requested) + " for " + std::to_string(numel) +
                    " elements, expected " + why);
    };
    std::optional<std::size_t> unknown;
    Sizes result = requested, known;
    for (std::size_t d = 0; d < requested.size(); ++d) {
        if (requested[d] >= 0) {
            known.push_back(requested[d]);
        } else {
            if (requested[d] != -1) fail("nonnegative sizes, or -1 for one size to infer");
            if (unknown) fail("at most one -1");
            unknown = d;
        }
    }
    const std::int64_t count = element_count(known);
    if (unknown) {
        if (count == 0) fail("no -1 together with a size of 0: every size would fit the -1");
        if (numel % count != 0) fail("sizes other than -1 whose product divides " + std::to_string(numel));
        result[*unknown] = numel / count;
    } else if (count != numel) {
        fail("a shape with " + std::to_string(numel) + " elements");
    }
    return result;
}

namespace {

/// A run of dimensions [first, last) of the old and of the new shape with equal counts.
struct Segment {
    std::size_t old_first, old_last, new_first, new_last;
};

/// Splits two shapes of equal, nonzero count into the shortest runs of equal count.
std::vector<Segment> common_segments(const Sizes& from, const Sizes& to) {
    std::vector<Segment> segments;
    std::size_t i = 0, j = 0;
    while (i < from.size() || j < to.size()) {
        Segment segment{i, i, j, j};
        std::int64_t a = 1, b = 1;
        if (i < from.size()) a *= from[i++];
        if (j < to.size()) b *= to[j++];
        while (a != b) {
            if (a < b)
                a *= from[i++];
            else
                b *= to[j++];
        }
        segment.old_last = i;
        segment.new_last = j;
        segments.push_back(segment);
    }
    return segments;
}

/// The indices of `segment`'s old dimensions from the new ones.
void substitute(const Segment& segment, const Sizes& from, const Sizes& to, const expr::Index& out, expr::Index& in) {
    if (segment.old_last - segment.old_first == 1 && segment.new_last - segment.new_first == 1) {
        in.push_back(out[segment.new_first]);
        return;
    }
    expr::Expr linear = expr::index(0);
    for (std::size_t d = segment.new_first; d < segment.new_last; ++d)
        if (to[d] != 1) linear = linear * expr::index(to[d]) + out[d];
    std::int64_t below = 1;
    for (std::size_t d = segment.old_first; d < segment.old_last; ++d) below *= from[d];
    for (std::size_t d = segment.old_first; d < segment.old_last; ++d) {
        const bool outermost =
            below == element_count(std::span(from).subspan(segment.old_first, segment.old_last - segment.old_first));
        below /= from[d];
        if (from[d] == 1) {
            in.push_back(expr::index(0));
            continue;
        }
        expr::Expr at = below == 1 ? linear : linear / expr::index(below);
        in.push_back(outermost ? at : at % expr::index(from[d]));
    }
}

}  // namespace

expr::Value reshape_value(const expr::Value& self, const Sizes& sizes) {
    if (self.sizes() == sizes) return self;
    if (element_count(sizes) == 0)  // never asked for an element
        return expr::Value(self.dtype(), sizes, [self](const expr::Index&) {
            return self(expr::Index(self.sizes().size(), expr::index(0)));
        });
    return expr::Value(self.dtype(), sizes,
                       [self, sizes, segments = common_segments(self.sizes(), sizes)](const expr::Index& out) {
                           expr::Index in;
                           for (const Segment& segment : segments) substitute(segment, self.sizes(), sizes, out, in);
                           return self(in);
                       });
}

Tensor reshape_tensor(const Tensor& self, const Sizes& sizes) {
    if (const auto strides = reshape_strides(geometry(self), sizes))
        return self.as_strided(sizes, *strides, self.offset());
    return self.contiguous().as_strided(sizes, contiguous_strides(sizes), 0);
}

}  // namespace whittle
