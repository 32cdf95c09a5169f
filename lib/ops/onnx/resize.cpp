// ONNX's resampling: Resize, Upsample. One dimension after another, each as a sum of a few weighted selections whose
// positions and weights are constants.
#include <cmath>

#include "base/number_text.h"
#include "ops/core/integer.h"
#include "ops/onnx/open_rules.h"
#include "ops/onnx/rewrite.h"

namespace whittle {

namespace {

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
    throw Error("found coordinate_transformation_mode '" + mode +
                "', expected half_pixel, half_pixel_symmetric, pytorch_half_pixel, align_corners, asymmetric, "
                "tf_half_pixel_for_nn or tf_crop_and_resize");
}

/// "towards more" is what Resize did at opset 10, before it had a nearest_mode.
double rounded(const std::string& mode, double x, bool shrinks) {
    if (mode == "round_prefer_floor") return std::ceil(x - 0.5);
    if (mode == "round_prefer_ceil") return std::floor(x + 0.5);
    if (mode == "floor") return std::floor(x);
    if (mode == "ceil") return std::ceil(x);
    if (mode == "towards more") return shrinks ? std::ceil(x) : std::floor(x);
    throw Error("found nearest_mode '" + mode + "', expected round_prefer_floor, round_prefer_ceil, floor or ceil");
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

NodeValue resample_dim(const Rewrite& op, const NodeValue& x, std::int64_t dim, const Resampling& r,
                       const Options& options) {
    const Taps taps = taps_of(r, options);
    if (taps.positions.size() == 1) return op("aten.index_select.default", x, dim, op.ints(taps.positions[0]));
    Sizes along(x.meta.sizes.size(), 1);
    along[static_cast<std::size_t>(dim)] = r.to;
    std::optional<NodeValue> sum;
    for (std::size_t k = 0; k < taps.positions.size(); ++k) {
        const NodeValue weights = op.constant(Tensor::of(taps.weights[k], along).to(x.meta.dtype));
        const NodeValue term =
            op("aten.mul.Tensor", op("aten.index_select.default", x, dim, op.ints(taps.positions[k])), weights);
        sum = sum ? op("aten.add.Tensor", *sum, term) : term;
    }
    return *sum;
}

/// Results whose position lies outside the original along some dimension get the extrapolation value.
NodeValue extrapolated(const Rewrite& op, const NodeValue& y, const std::vector<Resampling>& dims,
                       const Options& options) {
    NodeValue result = y;
    const NodeValue value = op.full({}, Scalar(options.extrapolation), y.meta.dtype);
    for (std::size_t d = 0; d < dims.size(); ++d) {
        std::vector<std::int64_t> outside;
        for (std::int64_t i = 0; i < dims[d].to; ++i) {
            const double x = original_position(dims[d], options.coordinates, i);
            outside.push_back(!(x >= 0 && x <= static_cast<double>(dims[d].from - 1)));
        }
        if (std::none_of(outside.begin(), outside.end(), [](std::int64_t o) { return o != 0; })) continue;
        Sizes along(dims.size(), 1);
        along[d] = dims[d].to;
        const NodeValue mask = op.constant(Tensor::of(outside, along).to(DType::boolean));
        result = op("aten.where.self", mask, value, result);
    }
    return result;
}

NodeValue resample(const Rewrite& op, const NodeValue& x, const std::vector<Resampling>& dims, const Options& options) {
    if (options.mode != "nearest" && options.mode != "linear" && options.mode != "cubic")
        throw Error("found mode '" + options.mode + "', expected nearest, linear or cubic");
    if (options.mode != "nearest" && !is_floating(x.meta.dtype))
        throw Error("found mode '" + options.mode + "' for X of dtype " + std::string(name(x.meta.dtype)) +
                    ", expected a floating-point dtype or mode 'nearest'");
    const bool crop = options.coordinates == "tf_crop_and_resize";
    const bool widen = options.mode != "nearest" && x.meta.dtype != DType::f64;
    NodeValue y = widen ? op.cast(x, DType::f32) : x;
    for (std::size_t d = 0; d < dims.size(); ++d) {
        const Resampling& r = dims[d];
        if (r.to < 0 || r.to > kLongest || (r.from == 0 && r.to > 0))
            throw Error("found size " + std::to_string(r.to) + " for dimension " + std::to_string(d) + ", which has " +
                        std::to_string(r.from) + " elements, expected " +
                        (r.from == 0 ? std::string("0") : "0 to " + std::to_string(kLongest)));
        const bool same = r.to == r.from && r.scale == 1 && (!crop || (r.roi_start == 0 && r.roi_end == 1));
        if (!same) y = resample_dim(op, y, static_cast<std::int64_t>(d), r, options);
    }
    if (crop) y = extrapolated(op, y, dims, options);
    return op.cast(y, x.meta.dtype);
}

/// Every dimension by its scale.
std::vector<Resampling> by_scales(const NodeValue& x, const std::vector<double>& scales) {
    if (scales.size() != x.meta.sizes.size())
        throw Error("found " + std::to_string(scales.size()) + " scales, expected " + std::to_string(rank_of(x)) +
                    ", one for each dimension");
    std::vector<Resampling> dims;
    for (std::size_t d = 0; d < scales.size(); ++d) {
        const std::int64_t size = x.meta.sizes[d];
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

std::vector<Resampling> by_sizes(const NodeValue& x, const Ints& sizes) {
    if (sizes.size() != x.meta.sizes.size())
        throw Error("found " + std::to_string(sizes.size()) + " sizes, expected " + std::to_string(rank_of(x)) +
                    ", one for each dimension");
    std::vector<Resampling> dims;
    for (std::size_t d = 0; d < sizes.size(); ++d) {
        const std::int64_t size = x.meta.sizes[d];
        dims.push_back({size, sizes[d], size == 0 ? 1 : static_cast<double>(sizes[d]) / static_cast<double>(size)});
    }
    return dims;
}

/// The dimensions that scales, sizes and roi are for.
Ints resized_dims(const Rewrite& op, const NodeValue& x) {
    const Ints axes = op.arguments().optional_integers("axes").value_or(all_dims(rank_of(x)));
    wrap_dims(axes, rank_of(x));  // each once
    Ints dims;
    for (const std::int64_t axis : axes) dims.push_back(wrap_dim(axis, rank_of(x)));
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
void keep_aspect_ratio(const Rewrite& op, std::vector<Resampling>& dims, const Ints& resized) {
    const std::string policy = op.arguments().text("keep_aspect_ratio_policy");
    if (policy == "stretch" || resized.empty()) return;
    if (policy != "not_larger" && policy != "not_smaller")
        throw Error("found keep_aspect_ratio_policy '" + policy + "', expected stretch, not_larger or not_smaller");
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
Options old_options(const Rewrite& op) { return {op.arguments().text("mode"), "asymmetric", "towards more"}; }

Results resize(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X");
    if (op.opset() < 11) {  // its operands are X and scales
        if (!op.has("scales") || op.has("roi") || op.has("sizes"))
            throw Error(
                "found operands other than X and scales, or no scales, expected exactly X and scales before opset 11");
        return {resample(op, x, by_scales(x, op.known("scales").values<double>()), old_options(op)).ref};
    }
    const Options options{arguments.text("mode"),
                          arguments.text("coordinate_transformation_mode"),
                          arguments.text("nearest_mode"),
                          op.number("cubic_coeff_a"),
                          op.integer("exclude_outside") != 0,
                          op.number("extrapolation_value"),
                          op.integer("antialias") != 0};
    // A missing operand may be an empty tensor, too.
    const auto given = [&](std::string_view name) { return op.has(name) && op.tensor(name).meta.numel() > 0; };
    if (given("scales") == given("sizes") && rank_of(x) > 0)
        throw Error(std::string("found ") + (given("scales") ? "both scales and sizes" : "neither scales nor sizes") +
                    ", expected either scales or sizes");
    const Ints resized = resized_dims(op, x);
    const std::vector<double> ones(x.meta.sizes.size(), 1);
    std::vector<Resampling> dims;
    if (given("sizes")) {
        dims = by_sizes(x, of_all(op.known_ints("sizes"), resized, x.meta.sizes, "sizes"));
        keep_aspect_ratio(op, dims, resized);
    } else if (given("scales")) {
        dims = by_scales(x, of_all(op.known("scales").values<double>(), resized, ones, "scales"));
    }
    if (options.coordinates == "tf_crop_and_resize") {
        const std::vector<double> roi = given("roi") ? op.known("roi").values<double>() : std::vector<double>();
        if (roi.size() != 2 * resized.size())
            throw Error("found a roi with " + std::to_string(roi.size()) + " entries, expected " +
                        std::to_string(2 * resized.size()) + ", a start and an end for each resized dimension");
        for (std::size_t i = 0; i < resized.size() && !dims.empty(); ++i) {
            Resampling& r = dims[static_cast<std::size_t>(resized[i])];
            r.roi_start = roi[i];
            r.roi_end = roi[resized.size() + i];
        }
    }
    return {resample(op, x, dims, options).ref};
}

/// Scales were an attribute at opset 7, then an operand, until Resize took over.
Results upsample(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    op.no_attribute("scales", 9);
    const NodeValue x = op.tensor("X");
    const std::vector<double> scales =
        op.has("scales_value") ? op.known("scales_value").values<double>() : arguments.numbers("scales");
    return {resample(op, x, by_scales(x, scales), old_options(op)).ref};
}

constexpr OpDef kResizeOps[] = {
    {.name = "onnx.Resize",
     .doc = "Resampled to a scale or to sizes. onnx Operators.md#Resize, Changelog.md#Resize-10",
     .schema = "Resize(Tensor X, Tensor? roi=None, Tensor? scales=None, Tensor? sizes=None, *, int antialias=0, "
               "int[]? axes=None, str coordinate_transformation_mode=\"half_pixel\", float cubic_coeff_a=-0.75, int "
               "exclude_outside=0, "
               "float extrapolation_value=0.0, str keep_aspect_ratio_policy=\"stretch\", str mode=\"nearest\", str "
               "nearest_mode=\"round_prefer_floor\") -> Tensor",
     .dtypes = kNumbers,
     .decompose = resize,
     .open = {.ask = onnx_open::resized_region}},
    {.name = "onnx.Upsample",
     .doc = "Resampled to a scale, before opset 10. onnx Changelog.md#Upsample-9",
     .schema = "Upsample(Tensor X, Tensor? scales_value=None, *, str mode=\"nearest\", float[]? scales=None) -> Tensor",
     .dtypes = kNumbers,
     .decompose = upsample},
};

}  // namespace

std::span<const OpDef> onnx_resize_ops() { return kResizeOps; }

}  // namespace whittle
