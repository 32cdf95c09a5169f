// ONNX's resampling: Resize, Upsample. One dimension after another, each as a sum of a few weighted selections whose
// positions and weights are constants.
#include <algorithm>
#include <cmath>

#include "base/number_text.h"
#include "ops/core/integer.h"
#include "ops/core/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// Larger images cannot be meant; positions and weights of every row and column are constants of the graph.
constexpr std::int64_t kLongest = 1 << 16;

/// How one dimension is resampled.
struct Resampling {
    std::int64_t from = 0, to = 0;
    double scale = 1;
    double roi_start = 0, roi_end = 1;  ///< in units of the dimension, for tf_crop_and_resize
};

/// The options of the op, as its attributes name them.
struct Options {
    std::string mode, coordinates, nearest;
    double cubic_a = -0.75;
    bool exclude_outside = false;
    double extrapolation = 0;
    bool antialias = false;  ///< where it shrinks, terms of all that lies between results
};

/// Where result `i` lies in the original dimension. onnx Operators.md#Resize, coordinate_transformation_mode
double original_position(const Resampling& r, const std::string& mode, std::int64_t i) {
    const auto x = static_cast<double>(i), last = static_cast<double>(r.from - 1),
               grown = static_cast<double>(r.to - 1);
    if (mode == "half_pixel") return (x + 0.5) / r.scale - 0.5;
    if (mode == "half_pixel_symmetric") {  // the middle stays where rounding made the size another than the scale's
        const double grown_exactly = static_cast<double>(r.from) * r.scale;
        const double adjustment = static_cast<double>(r.to) / grown_exactly;
        return static_cast<double>(r.from) / 2 * (1 - adjustment) + (x + 0.5) / r.scale - 0.5;
    }
    if (mode == "pytorch_half_pixel") return r.to > 1 ? (x + 0.5) / r.scale - 0.5 : 0;
    if (mode == "align_corners") return r.to > 1 ? x * last / grown : 0;
    if (mode == "asymmetric") return x / r.scale;
    if (mode == "tf_half_pixel_for_nn") return (x + 0.5) / r.scale;
    if (mode == "tf_crop_and_resize")
        return r.to > 1 ? r.roi_start * last + x * (r.roi_end - r.roi_start) * last / grown
                        : 0.5 * (r.roi_start + r.roi_end) * last;
    throw Error(
        "found coordinate_transformation_mode '" + mode +
        "', expected 'half_pixel', 'half_pixel_symmetric', 'pytorch_half_pixel', 'align_corners', 'asymmetric', "
        "'tf_half_pixel_for_nn' or 'tf_crop_and_resize'");
}

/// "towards more" is what Resize did at opset 10, before it had a nearest_mode.
double rounded(const std::string& mode, double x, bool shrinks) {
    if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
    if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
    if (mode == "floor") return std::floor(x);
    if (mode == "ceil") return std::ceil(x);
    if (mode == "towards more") return shrinks ? std::ceil(x) : std::floor(x);
    throw Error("found nearest_mode '" + mode +
                "', expected 'round_prefer_floor', 'round_prefer_ceil', 'floor' or 'ceil'");
}

/// The cubic convolution kernel with parameter a at distance d (Keys 1981).
double cubic(double a, double d) {
    d = std::fabs(d);
    if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
    return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// taps[k] = position and weight of the k-th term of every result.
struct Taps {
    std::vector<Ints> positions;
    std::vector<std::vector<double>> weights;
};

/// The weight of an element at a distance.
double weight_at(const Options& options, double distance) {
    if (options.mode == "nearest") return 1;
    return options.mode == "linear" ? std::max(1 - std::fabs(distance), 0.0) : cubic(options.cubic_a, distance);
}

Taps taps_of(const Resampling& r, const Options& options) {
    const bool nearest = options.mode == "nearest", cubic = options.mode == "cubic";
    // Distances are measured in steps of results where these lie farther apart.
    const double width = options.antialias && !nearest && r.to > 0 ? std::max(1 / r.scale, 1.0) : 1;
    constexpr double kMostTerms = 1 << 24;  // of all results
    if (!(width * static_cast<double>(std::max<std::int64_t>(r.to, 1)) <= kMostTerms / 4))
        throw Error("found scale " + shortest(r.scale) + " for a dimension of " + std::to_string(r.from) +
                    " elements, expected a larger scale");
    const auto reach = whole_number(std::ceil((cubic ? 2 : 1) * width), "a reach");  // to either side
    const auto count = static_cast<std::size_t>(nearest ? 1 : 2 * reach);
    const bool outside_is_nothing = options.exclude_outside && cubic;
    Taps taps{std::vector<Ints>(count), std::vector<std::vector<double>>(count)};
    for (std::int64_t i = 0; i < r.to; ++i) {
        const double x = original_position(r, options.coordinates, i);
        const double first =
            nearest ? rounded(options.nearest, x, r.scale < 1) : std::floor(x) - static_cast<double>(reach - 1);
        double total = 0;
        for (std::size_t k = 0; k < count; ++k) {
            const double at = first + static_cast<double>(k);
            double weight = weight_at(options, (x - at) / width);
            if (outside_is_nothing && (at < 0 || at > static_cast<double>(r.from - 1))) weight = 0;
            total += weight;
            // A region that is NaN lies nowhere: extrapolated() replaces what is read.
            const double inside = std::isnan(at) ? 0 : std::clamp(at, 0.0, static_cast<double>(r.from - 1));
            taps.positions[k].push_back(whole_number(inside, "a position"));
            taps.weights[k].push_back(weight);
        }
        if ((options.exclude_outside || width > 1) && total != 0)
            for (std::size_t k = 0; k < count; ++k) taps.weights[k].back() /= total;
    }
    return taps;
}

V resample_dim(const Call& c, const V& x, std::int64_t dim, const Resampling& r, const Options& options) {
    const Taps taps = taps_of(r, options);
    if (taps.positions.size() == 1) return index_select(x, dim, ints(c, taps.positions[0]));
    Sizes along(x.sizes().size(), 1);
    along[static_cast<std::size_t>(dim)] = r.to;
    OptionalV sum;
    for (std::size_t k = 0; k < taps.positions.size(); ++k) {
        const V weights = c.constant(Tensor::of(taps.weights[k], along).to(x.dtype()));
        const V term = index_select(x, dim, ints(c, taps.positions[k])) * weights;
        sum = sum ? *sum + term : term;
    }
    return *sum;
}

/// Results whose position lies outside the original along some dimension get the extrapolation value.
V extrapolated(const Call& c, const V& y, const std::vector<Resampling>& dims, const Options& options) {
    V result = y;
    const V value = full(c.builder(), {}, options.extrapolation, y.dtype());
    for (std::size_t d = 0; d < dims.size(); ++d) {
        std::vector<std::int64_t> outside;
        for (std::int64_t i = 0; i < dims[d].to; ++i) {
            const double x = original_position(dims[d], options.coordinates, i);
            outside.push_back(!(x >= 0 && x <= static_cast<double>(dims[d].from - 1)));
        }
        if (std::none_of(outside.begin(), outside.end(), [](std::int64_t o) { return o != 0; })) continue;
        Sizes along(dims.size(), 1);
        along[d] = dims[d].to;
        const V mask = c.constant(Tensor::of(outside, along).to(DType::boolean));
        result = where(mask, value, result);
    }
    return result;
}

V resample(const Call& c, const V& x, const std::vector<Resampling>& dims, const Options& options) {
    if (options.mode != "nearest" && options.mode != "linear" && options.mode != "cubic")
        throw Error("found mode '" + options.mode + "', expected 'nearest', 'linear' or 'cubic'");
    if (options.mode != "nearest" && !is_floating(x.dtype()))
        throw Error("found mode '" + options.mode + "' for X of dtype " + std::string(name(x.dtype())) +
                    ", expected a floating-point dtype or mode 'nearest'");
    const bool crop = options.coordinates == "tf_crop_and_resize";
    const bool widen = options.mode != "nearest" && x.dtype() != DType::f64;
    V y = widen ? cast(x, DType::f32) : x;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const Resampling& r = dims[d];
        if (r.to < 0 || r.to > kLongest || (r.from == 0 && r.to > 0))
            throw Error("found size " + std::to_string(r.to) + " for dimension " + std::to_string(d) + ", which has " +
                        std::to_string(r.from) + " elements, expected " +
                        (r.from == 0 ? std::string("0") : "0 to " + std::to_string(kLongest)));
        const bool same = r.to == r.from && r.scale == 1 && (!crop || (r.roi_start == 0 && r.roi_end == 1));
        if (!same) y = resample_dim(c, y, static_cast<std::int64_t>(d), r, options);
    }
    if (crop) y = extrapolated(c, y, dims, options);
    return cast(y, x.dtype());
}

/// Every dimension by its scale.
std::vector<Resampling> by_scales(const V& x, const std::vector<double>& scales) {
    if (scales.size() != x.sizes().size())
        throw Error("found " + std::to_string(scales.size()) + " scales, expected " + std::to_string(x.rank()) +
                    ", one for each dimension");
    std::vector<Resampling> dims;
    for (std::size_t d = 0; d < scales.size(); ++d) {
        const std::int64_t size = x.sizes()[d];
        // In f32, as the scales are: 10 * 0.9f is 9 there, and less than 9 in f64.
        const double grown = std::floor(static_cast<float>(size) * static_cast<float>(scales[d]));
        if (!(scales[d] > 0) || !(grown <= static_cast<double>(kLongest)))
            throw Error("found scale " + shortest(scales[d]) + " for a dimension of " + std::to_string(size) +
                        " elements, expected a positive scale and a result of at most " + std::to_string(kLongest) +
                        " elements");
        dims.push_back({size, whole_number(grown, "a size"), scales[d]});
    }
    return dims;
}

std::vector<Resampling> by_sizes(const V& x, const Ints& sizes) {
    if (sizes.size() != x.sizes().size())
        throw Error("found " + std::to_string(sizes.size()) + " sizes, expected " + std::to_string(x.rank()) +
                    ", one for each dimension");
    std::vector<Resampling> dims;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const std::int64_t size = x.sizes()[d];
        dims.push_back({size, sizes[d], size == 0 ? 1 : static_cast<double>(sizes[d]) / static_cast<double>(size)});
    }
    return dims;
}

/// The dimensions that scales, sizes and roi are for.
Ints resized_dims(const Call& c, const V& x) {
    const Ints axes = c.optional_integers("axes").value_or(all_dims(x.rank()));
    wrap_dims(axes, x.rank());  // each once
    Ints dims;
    for (const std::int64_t axis : axes) dims.push_back(wrap_dim(axis, x.rank()));
    return dims;
}

/// Of all dimensions: what is given for some, and `other` for the rest.
template <class T>
std::vector<T> of_all(const std::vector<T>& given, const Ints& dims, std::vector<T> other, std::string_view what) {
    if (given.size() != dims.size())
        throw Error("found " + std::to_string(given.size()) + " " + std::string(what) + ", expected " +
                    std::to_string(dims.size()) + ", one for each resized dimension");
    for (std::size_t i = 0; i < dims.size(); ++i) other[static_cast<std::size_t>(dims[i])] = given[i];
    return other;
}

/// One scale for all that are resized, so that no size is larger than given, or none smaller.
void keep_aspect_ratio(const Call& c, std::vector<Resampling>& dims, const Ints& resized) {
    const std::string policy = c.text("keep_aspect_ratio_policy");
    if (policy == "stretch" || resized.empty()) return;
    if (policy != "not_larger" && policy != "not_smaller")
        throw Error("found keep_aspect_ratio_policy '" + policy +
                    "', expected 'stretch', 'not_larger' or 'not_smaller'");
    double scale = dims[static_cast<std::size_t>(resized[0])].scale;
    for (const std::int64_t dim : resized) {
        const double own = dims[static_cast<std::size_t>(dim)].scale;
        scale = policy == "not_larger" ? std::min(scale, own) : std::max(scale, own);
    }
    for (const std::int64_t dim : resized) {
        Resampling& r = dims[static_cast<std::size_t>(dim)];
        const double grown = std::floor(scale * static_cast<double>(r.from) + 0.5);
        if (!(scale > 0) || !(grown <= static_cast<double>(kLongest)))
            throw Error("found sizes that resize " + std::to_string(r.from) + " elements to " + shortest(grown) +
                        ", expected at most " + std::to_string(kLongest) + " elements");
        r.scale = scale;
        r.to = whole_number(grown, "a size");
    }
}

/// Before opset 11: from the scales alone, coordinates asymmetric.
Options old_options(const Call& c) { return {c.text("mode"), "asymmetric", "towards more"}; }

CallResults resize(const Call& c) {
    const V x = c.tensor("X");
    if (opset(c) < 11) {  // its operands are X and scales
        if (!c.has("scales")) throw Error("found no operand scales, expected the operands X and scales");
        for (const char* newer : {"roi", "sizes"})
            if (c.has(newer))
                throw Error(std::string("found the operand ") + newer +
                            ", expected only the operands X and scales before opset 11");
        return resample(c, x, by_scales(x, known_operand(c, "scales").values<double>()), old_options(c));
    }
    const Options options{c.text("mode"),
                          c.text("coordinate_transformation_mode"),
                          c.text("nearest_mode"),
                          number32(c, "cubic_coeff_a"),
                          c.integer("exclude_outside") != 0,
                          number32(c, "extrapolation_value"),
                          c.integer("antialias") != 0};
    // A missing operand may be an empty tensor, too.
    const auto given = [&](std::string_view name) { return c.has(name) && c.tensor(name).numel() > 0; };
    if (given("scales") == given("sizes") && x.rank() > 0)
        throw Error(std::string("found ") + (given("scales") ? "both scales and sizes" : "neither scales nor sizes") +
                    ", expected exactly one of the two");
    const Ints resized = resized_dims(c, x);
    const std::vector<double> ones(x.sizes().size(), 1);
    std::vector<Resampling> dims;
    if (given("sizes")) {
        dims = by_sizes(x, of_all(known_ints(c, "sizes"), resized, x.sizes(), "sizes"));
        keep_aspect_ratio(c, dims, resized);
    } else if (given("scales")) {
        dims = by_scales(x, of_all(known_operand(c, "scales").values<double>(), resized, ones, "scales"));
    }
    if (options.coordinates == "tf_crop_and_resize") {
        const std::vector<double> roi = given("roi") ? known_operand(c, "roi").values<double>() : std::vector<double>();
        if (roi.size() != 2 * resized.size())
            throw Error("found a roi with " + std::to_string(roi.size()) + " entries, expected " +
                        std::to_string(2 * resized.size()) + ", a start and an end for each resized dimension");
        for (std::size_t i = 0; i < resized.size() && !dims.empty(); ++i) {
            Resampling& r = dims[static_cast<std::size_t>(resized[i])];
            r.roi_start = roi[i];
            r.roi_end = roi[resized.size() + i];
        }
    }
    return resample(c, x, dims, options);
}

/// Scales were an attribute at opset 7, then an operand, until Resize took over.
CallResults upsample(const Call& c) {
    no_attribute(c, "scales", 9);
    const V x = c.tensor("X");
    const std::vector<double> scales =
        c.has("scales_value") ? known_operand(c, "scales_value").values<double>() : c.numbers("scales");
    return resample(c, x, by_scales(x, scales), old_options(c));
}

/// Of Resize: the region counts in tf_crop_and_resize mode alone; a scale "takes value greater than 0".
Reason open_resized_region(std::string_view op, const Arguments<Tensor>& a) {
    if (a.has("scales"))
        for (const double scale : a.tensor("scales").values<double>())
            if (!(scale > 0) || std::isinf(scale))
                return std::string(op) + " has a scale that is not a positive number";
    if (a.text("coordinate_transformation_mode") != "tf_crop_and_resize" || !a.has("roi")) return std::nullopt;
    return not_finite(op, "region (roi)", a.tensor("roi"));
}

constexpr OpDef kResizeOps[] = {
    composite("Resize(Tensor X, Tensor? roi=None, Tensor? scales=None, Tensor? sizes=None, *, int antialias=0, int[]? "
              "axes=None, str coordinate_transformation_mode=\"half_pixel\", float cubic_coeff_a=-0.75, int "
              "exclude_outside=0, float extrapolation_value=0.0, str keep_aspect_ratio_policy=\"stretch\", str "
              "mode=\"nearest\", str nearest_mode=\"round_prefer_floor\") -> Tensor",
              "Resampled to a scale or to sizes. onnx Operators.md#Resize, Changelog.md#Resize-10", kNumbers, resize,
              {.ask = open_resized_region}),
    composite("Upsample(Tensor X, Tensor? scales_value=None, *, str mode=\"nearest\", float[]? scales=None) -> Tensor",
              "Resampled to a scale, before opset 10. onnx Changelog.md#Upsample-9", kNumbers, upsample),
};

}  // namespace

std::span<const OpDef> onnx_resize_ops() { return kResizeOps; }

}  // namespace whittle
