#include "ops/aten/open_rules.h"

#include <algorithm>
#include <numeric>

#include "base/number_text.h"
#include "ops/core/elements.h"
#include "ops/core/open_rules.h"
#include "ops/core/pointwise.h"

namespace whittle::aten_open {

namespace {

/// For each element of `index`, in row-major order, its place in a contiguous tensor of the sizes of `self` when it
/// stands for the element's own index along `dim`. The index tensor is no larger than self but along dim.
std::vector<std::int64_t> places_along(const Tensor& self, std::int64_t dim, const Tensor& index) {
    const Tensor to = at_least_1d(self), at = at_least_1d(index);
    const auto d = static_cast<std::size_t>(wrap_dim(dim, to.rank()));
    if (to.rank() != at.rank())
        throw Error("found an index of rank " + std::to_string(at.rank()) + ", expected the tensor's rank, " +
                    std::to_string(to.rank()));
    const Strides strides = contiguous_strides(to.sizes());
    const std::vector<std::int64_t> positions = at.values<std::int64_t>();
    std::vector<std::int64_t> places;
    for_each_index(at.sizes(), [&](std::vector<std::int64_t> i) {
        i[d] = positions[places.size()];
        places.push_back(element_offset(i, strides));
    });
    return places;
}

bool is_mask(const std::optional<Tensor>& index) { return index && !is_integer(index->dtype()); }

/// `values` as index_put writes them: the dimensions of the index tensors, which broadcast to `positions`, come first.
Tensor put_slices(const Tensor& values, const Sizes& self, const std::vector<std::optional<Tensor>>& indices,
                  const Sizes& positions) {
    const auto indexed = [&](std::size_t d) { return d < indices.size() && indices[d].has_value(); };
    Sizes sizes;
    std::size_t at = 0, runs = 0;
    for (std::size_t d = 0; d < self.size(); ++d) {
        if (!indexed(d))
            sizes.push_back(self[d]);
        else if (d == 0 || !indexed(d - 1))
            at = ++runs == 1 ? sizes.size() : 0;
    }
    const auto first = static_cast<std::ptrdiff_t>(at), count = static_cast<std::ptrdiff_t>(positions.size());
    sizes.insert(sizes.begin() + first, positions.begin(), positions.end());
    if (broadcast_sizes(values.sizes(), sizes) != sizes)
        throw Error("found values of sizes " + to_string(values.sizes()) + ", expected sizes that broadcast to " +
                    to_string(sizes));
    Strides strides = broadcast_strides(values.sizes(), values.strides(), sizes);
    std::rotate(sizes.begin(), sizes.begin() + first, sizes.begin() + first + count);
    std::rotate(strides.begin(), strides.begin() + first, strides.begin() + first + count);
    return values.as_strided(sizes, strides, values.offset());
}

/// Descends somewhere along its last dimension, or holds a NaN that is not last.
template <class T>
bool descends(const Tensor& lines) {
    const std::vector<T> values = lines.values<T>();
    const auto length = static_cast<std::size_t>(extent(lines, -1));
    for (std::size_t i = 1; i < values.size(); ++i)
        if (i % length != 0 && !(values[i - 1] <= values[i]) && values[i] == values[i]) return true;
    return false;
}

Answer ascending(std::string_view op, std::string_view what, const Tensor& lines) {
    const bool open = visit_ordered(lines.dtype(), [&]<class T>(T) {
        if constexpr (std::is_same_v<T, bool>)
            return descends<std::int64_t>(lines);
        else
            return descends<T>(lines);
    });
    if (!open) return std::nullopt;
    return "the " + std::string(what) + " of " + std::string(op) + " is not in ascending order";
}

}  // namespace

Answer index_along_dim(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("index"), extent(a.tensor("self"), a.integer("dim")), false);
}

Answer any_index_along_dim(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("index"), extent(a.tensor("self"), a.integer("dim")), true);
}

Answer indices_along_dim(std::string_view op, const Operands& a) {
    const Tensor self = a.tensor("self");
    const std::optional<std::int64_t> dim = a.optional_integer("dim");
    return bad_index(op, a.tensor("indices"), dim ? extent(self, *dim) : self.numel(), false);
}

Answer scattered(std::string_view op, const Operands& a) {
    if (Answer reason = index_along_dim(op, a)) return reason;
    const Tensor index = a.tensor("index"), source = a.tensor("src");
    if (index.rank() != source.rank() && index.rank() + source.rank() > 1)
        return std::nullopt;  // the kernel refuses it
    const Tensor used = index.rank() == source.rank()
                            ? source.as_strided(index.sizes(), source.strides(), source.offset())
                            : at_least_1d(source);
    return written_twice(op, places_along(a.tensor("self"), a.integer("dim"), index), used, index);
}

Answer copied_slices(std::string_view op, const Operands& a) {
    if (Answer reason = index_along_dim(op, a)) return reason;
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

Answer index_anywhere(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("index"), a.tensor("self").numel(), true);
}

Answer put_anywhere(std::string_view op, const Operands& a) {
    if (Answer reason = index_anywhere(op, a)) return reason;
    if (a.boolean("accumulate")) return std::nullopt;
    const Tensor index = a.tensor("index");
    std::vector<std::int64_t> places = index.values<std::int64_t>();
    for (std::int64_t& place : places)
        if (place < 0) place += a.tensor("self").numel();
    return written_twice(op, places, a.tensor("source"), index);
}

Answer index_per_dim(std::string_view op, const Operands& a) {
    const Tensor self = a.tensor("self");
    const std::vector<std::optional<Tensor>> indices = a.optional_tensors("indices");
    for (std::size_t d = 0; d < indices.size(); ++d)
        if (indices[d] && !is_mask(indices[d]))
            if (Answer reason = bad_index(op, *indices[d], extent(self, static_cast<std::int64_t>(d)), true))
                return reason;
    return std::nullopt;
}

/// "If accumulate is False, the behavior is undefined if indices contain duplicate elements":
/// https://pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html. Not where they get the same values: then any
/// order gives one result (y[i] += y[i] is a pattern of programs).
Answer put_per_dim(std::string_view op, const Operands& a) {
    if (Answer reason = index_per_dim(op, a)) return reason;
    const std::vector<std::optional<Tensor>> indices = a.optional_tensors("indices");
    if (a.boolean("accumulate") || std::ranges::any_of(indices, is_mask))
        return std::nullopt;  // a mask meets each element once
    const Sizes self = a.tensor("self").sizes();
    Sizes sizes;
    for (const std::optional<Tensor>& index : indices)
        if (index) sizes = broadcast_sizes(sizes, index->sizes());
    std::vector<Sizes> tuples(static_cast<std::size_t>(element_count(sizes)));
    std::vector<std::int64_t> places(tuples.size());
    for (std::size_t d = 0; d < indices.size(); ++d) {
        if (!indices[d]) continue;
        const std::int64_t size = extent(a.tensor("self"), static_cast<std::int64_t>(d));
        const std::vector<std::int64_t> positions = load_broadcast<std::int64_t>(*indices[d], sizes);
        for (std::size_t k = 0; k < tuples.size(); ++k) {
            tuples[k].push_back(positions[k] < 0 ? positions[k] + size : positions[k]);
            places[k] = places[k] * size + tuples[k].back();
        }
    }
    return written_twice(op, places, put_slices(a.tensor("values"), self, indices, sizes),
                         [&](std::size_t k) { return to_string(tuples[k]); });
}

Answer table_rows(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("indices"), extent(a.tensor("weight"), 0), false);
}

Answer counted_rows(std::string_view op, const Operands& a) {
    return bad_index(op, a.tensor("indices"), a.integer("num_weights"), false);
}

Answer hot_class(std::string_view op, const Operands& a) {
    return out_of_range(op, "class", a.tensor("self"), 0, a.integer("num_classes") - 1);
}

Answer target_class(std::string_view op, const Operands& a) {
    const Tensor self = a.tensor("self"), target = a.tensor("target");
    if (!is_integer(target.dtype())) return std::nullopt;  // cross_entropy_loss takes probabilities, too
    const std::int64_t classes = extent(self, self.rank() < 2 ? 0 : 1);
    return out_of_range(op, "target", target, 0, classes - 1, a.integer("ignore_index"));
}

Answer margin_target(std::string_view op, const Operands& a) {
    return out_of_range(op, "target", a.tensor("target"), 0, extent(a.tensor("self"), -1) - 1);
}

Answer margin_targets(std::string_view op, const Operands& a) {
    return out_of_range(op, "target", a.tensor("target"), -1, extent(a.tensor("self"), -1) - 1);
}

Answer unpooled(std::string_view op, const Operands& a) {
    const std::vector<std::int64_t> image = a.integers("output_size");
    const std::int64_t elements = element_count(image);
    const Tensor indices = a.tensor("indices"), self = a.tensor("self");
    if (Answer reason = bad_index(op, indices, elements, false)) return reason;
    const Sizes& sizes = indices.sizes();
    if (sizes.size() < image.size()) return std::nullopt;  // the kernel refuses it
    const std::int64_t pooled =
        element_count(Sizes(sizes.end() - static_cast<std::ptrdiff_t>(image.size()), sizes.end()));
    std::vector<std::int64_t> places = indices.values<std::int64_t>();
    for (std::size_t k = 0; k < places.size(); ++k) places[k] += static_cast<std::int64_t>(k) / pooled * elements;
    return written_twice(op, places, self, indices);
}

template <int Dims>
Answer pooled_positions(std::string_view op, const Operands& a) {
    const Tensor self = a.tensor("self");
    if (self.rank() < Dims) return std::nullopt;  // the decomposition refuses it
    return bad_index(op, a.tensor("indices"), element_count(Sizes(self.sizes().end() - Dims, self.sizes().end())),
                     false);
}
template Answer pooled_positions<2>(std::string_view op, const Operands& a);
template Answer pooled_positions<3>(std::string_view op, const Operands& a);

/// https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html. Padding behind a row's length is not read.
Answer ctc_targets(std::string_view op, const Operands& a) {
    const Tensor targets = a.tensor("targets");
    const std::vector<std::int64_t> lengths = a.integers("target_lengths"), values = targets.values<std::int64_t>();
    const std::int64_t classes = extent(a.tensor("log_probs"), -1), blank = a.integer("blank");
    const std::int64_t columns = targets.rank() == 2 ? extent(targets, 1) : 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i);
        const auto row = static_cast<std::size_t>(columns > 0 ? k / columns : 0);
        if (columns > 0 && (row >= lengths.size() || k % columns >= lengths[row])) continue;
        if (values[i] < 0 || values[i] >= classes || values[i] == blank)
            return "target " + std::to_string(values[i]) + " of " + std::string(op) + " is " +
                   (values[i] == blank ? "the blank class"
                                       : "out of range: expected 0 to " + std::to_string(classes - 1));
    }
    return std::nullopt;
}

Answer divided(std::string_view op, const Operands& a) {
    return bad_division(op, a.operand("self"), a.operand("other"));
}
Answer shifted(std::string_view op, const Operands& a) { return bad_shift(op, a.operand("self"), a.operand("other")); }

Answer converted(std::string_view op, const Operands& a) {
    const std::optional<DType> dtype = a.dtype("dtype");
    return dtype ? bad_conversion(op, a.tensor("self"), *dtype) : std::nullopt;
}

Answer converted_as(std::string_view op, const Operands& a) {
    return bad_conversion(op, a.tensor("self"), a.tensor("other").dtype());
}

Answer copied(std::string_view op, const Operands& a) {
    return bad_conversion(op, a.tensor("src"), a.tensor("self").dtype());
}

Answer sorted_sequence(std::string_view op, const Operands& a) {
    if (a.has("sorter")) return std::nullopt;  // the kernel refuses it
    return ascending(op, "sorted_sequence", a.tensor("sorted_sequence"));
}

Answer sorted_boundaries(std::string_view op, const Operands& a) {
    return ascending(op, "boundaries", a.tensor("boundaries"));
}

Answer masked_source(std::string_view op, const Operands& a) {
    const Tensor self = a.tensor("self"), source = a.tensor("source");
    const std::vector<bool> mask =
        load_broadcast<bool>(a.tensor("mask"), broadcast_sizes(self.sizes(), a.tensor("mask").sizes()));
    const std::int64_t taken = std::ranges::count(mask, true);
    if (taken <= source.numel()) return std::nullopt;
    return std::string(op) + " takes " + std::to_string(taken) + " elements of a source of " +
           std::to_string(source.numel());
}

Answer quantized_scale(std::string_view op, const Operands& a) {
    return zero_scale(op, Tensor::of(Scalar(a.number("scale")), DType::f64));
}
Answer quantized_scales(std::string_view op, const Operands& a) { return zero_scale(op, a.tensor("scale")); }

Answer probabilities(std::string_view op, const Operands& a) {
    for (const double p : a.tensor("self").values<double>())
        if (!(p >= 0 && p <= 1))
            return std::string(op) + " is given " + shortest(p) + ": expected a probability, 0 to 1";
    return std::nullopt;
}

}  // namespace whittle::aten_open
