// ONNX's ops on images and boxes: GridSample, RoiAlign, NonMaxSuppression, MaxUnpool.
#include <algorithm>
#include <array>
#include <limits>

#include "base/checked.h"
#include "ops/core/open_rules.h"
#include "ops/onnx/window.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;

/// The position of a word among those that an attribute may be.
std::int64_t choice(const Call& c, std::string_view attribute, std::initializer_list<std::string_view> words) {
    const std::string found = c.text(attribute);
    const auto* word = std::find(words.begin(), words.end(), found);
    std::string all;
    for (const std::string_view known : words) all += (all.empty() ? "" : ", ") + std::string(known);
    if (word == words.end())
        throw Error("found " + std::string(attribute) + " '" + found + "', expected one of " + all);
    return word - words.begin();
}

CallResults grid_sample(const Call& c) {
    // Since opset 20 they have other names; a missing one still stands in the schema under the first of the old ones.
    const std::int64_t mode = opset(c) < 20 ? choice(c, "mode", {"bilinear", "nearest", "bicubic"})
                                            : choice(c, "mode", {"linear", "nearest", "cubic", "bilinear"}) % 3;
    const bool volume = c.tensor("X").rank() == 5 && opset(c) >= 20;
    if (c.tensor("X").rank() != 4 && !volume)
        throw Error("found X of sizes " + to_string(c.tensor("X").sizes()) + ", expected " +
                    (opset(c) >= 20 ? "four or five dimensions" : "four dimensions"));
    if (volume && mode == 2)
        throw Error("found mode 'cubic' for X with five dimensions, expected 'linear' or 'nearest'");
    const std::int64_t padding = choice(c, "padding_mode", {"zeros", "border", "reflection"});
    const auto sampler = volume ? grid_sampler_3d : grid_sampler_2d;
    return sampler(c.tensor("X"), c.tensor("grid"), mode, padding, c.integer("align_corners") != 0);
}

/// Where the pixels of an image of these sizes lie between -1 and 1: at the ends, or in the middle of pixels. One
/// column per dimension, the last dimension first, and one of ones. [pixels, dimensions + 1]
Tensor places_of_pixels(const Sizes& image, bool at_ends) {
    std::vector<double> places;
    const std::int64_t count = element_count(image);
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t rest = i;
        for (std::size_t d = image.size(); d-- > 0; rest /= image[d]) {
            const auto at = static_cast<double>(rest % image[d]), size = static_cast<double>(image[d]);
            places.push_back(!at_ends ? (2 * at + 1) / size - 1 : size > 1 ? 2 * at / (size - 1) - 1 : 0);
        }
        places.push_back(1);
    }
    return Tensor::of(places, {count, static_cast<std::int64_t>(image.size()) + 1});
}

/// A grid for grid_sample: the places of pixels, moved by a matrix for each image.
CallResults affine_grid(const Call& c) {
    const V theta = c.tensor("theta");
    const Ints size = known_ints(c, "size");
    const auto dims = static_cast<std::int64_t>(size.size()) - 2;
    if (dims < 2 || dims > 3 || theta.sizes() != Sizes{size[0], dims, dims + 1} ||
        std::ranges::any_of(size, [](std::int64_t s) { return s < 1; }))
        throw Error("found theta of sizes " + to_string(theta.sizes()) + " and size=" + to_string(size) +
                    ", expected theta of sizes [N, 2, 3] and size=[N, C, H, W], or theta of sizes [N, 3, 4] and "
                    "size=[N, C, D, H, W]");
    const Sizes image(size.begin() + 2, size.end());
    constexpr std::int64_t kMostPixels = std::int64_t{1} << 24;
    Checked pixels(1);
    for (const std::int64_t s : image) pixels = pixels * s;
    if (pixels.value() > kMostPixels)
        throw Error("found size=" + to_string(size) + ", expected at most " + std::to_string(kMostPixels) + " pixels");
    const V places = c.constant(places_of_pixels(image, c.integer("align_corners") != 0).to(theta.dtype()));
    Sizes sizes = {size[0]};
    sizes.insert(sizes.end(), image.begin(), image.end());
    sizes.push_back(dims);
    return reshaped(matmul(places, permuted(theta, {0, 2, 1})), sizes);
}

/// Where one coordinate of each sample lies: the pixels around it and how far it is from the first. [rois, samples]
struct Samples {
    V low, high, beyond_low;
    V inside;  ///< at most one pixel off the image; what is farther away counts as zero
};

constexpr std::int64_t kMostSamples = 1 << 16;  // of a region along one dimension

struct RoiAlign {
    std::int64_t ratio = 0;  ///< samples per bin and dimension
    double scale = 1, offset = 0;
};

/// Samples of the bins between rois[:, first] and rois[:, first + 2].
Samples samples_along(const Call& c, const RoiAlign& align, const V& rois, std::int64_t first, std::int64_t bins,
                      std::int64_t size) {
    const DType dtype = rois.dtype();
    const auto edge = [&](std::int64_t column) {
        const V scaled = part(rois, 1, column, column + 1) * align.scale;
        return scaled - align.offset;
    };
    const V start = edge(first);
    V length = edge(first + 2) - start;
    if (align.offset == 0) length = clamp(length, 1.0);  // as before pixels had centres
    std::vector<double> places;                          // of samples, in lengths of the region
    for (std::int64_t i = 0; i < bins * align.ratio; ++i)
        places.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(bins * align.ratio));
    const V place = c.constant(Tensor::of(places, {1, static_cast<std::int64_t>(places.size())}).to(dtype));
    V at = start + length * place;
    const auto last = static_cast<double>(size - 1);
    const V inside = logical_and(ge(at, -1.0), le(at, static_cast<double>(size)));
    at = clamp(at, 0.0, last);
    const V low = floor(at);
    const V high = clamp(low + 1.0, 0.0, last);
    return {cast(low, DType::i64), cast(high, DType::i64), at - low, inside};
}

/// Means (or maxima) of bilinear samples of each region's bins.
CallResults roi_align(const Call& c) {
    const V x = c.tensor("X"), rois = c.tensor("rois"), batch = c.tensor("batch_indices");
    if (x.rank() != 4 || rois.rank() != 2 || size_of_dim(rois, 1) != 4 || x.sizes()[2] < 1 || x.sizes()[3] < 1)
        throw Error("found X of sizes " + to_string(x.sizes()) + " and rois of sizes " + to_string(rois.sizes()) +
                    ", expected [N, C, H, W] with nonempty images, and [count, 4]");
    const Sizes& sizes = x.sizes();
    const std::int64_t count = rois.sizes()[0], height = c.integer("output_height"), width = c.integer("output_width");
    RoiAlign align{.ratio = c.integer("sampling_ratio"), .scale = number32(c, "spatial_scale")};
    if (opset(c) >= 16 && choice(c, "coordinate_transformation_mode", {"half_pixel", "output_half_pixel"}) == 0)
        align.offset = 0.5;
    if (choice(c, "mode", {"avg", "max"}) != 0)
        throw Error("found mode 'max', expected mode 'avg'",
                    "use mode 'avg': runtimes disagree on the results of mode 'max'");
    if (align.ratio < 1 || height < 1 || width < 1)
        throw Error("found sampling_ratio=" + std::to_string(align.ratio) + " and a result of " +
                        std::to_string(height) + " by " + std::to_string(width) +
                        ", expected at least 1 for each number",
                    "set sampling_ratio to at least 1: with 0, the number of samples differs between regions");
    for (const std::int64_t bins : {height, width})
        if (bins > kMostSamples / align.ratio)
            throw Error("found " + std::to_string(bins) + " bins of " + std::to_string(align.ratio) +
                        " samples, expected at most " + std::to_string(kMostSamples) + " samples in total");
    const Samples y = samples_along(c, align, rois, 1, height, sizes[2]);
    const Samples z = samples_along(c, align, rois, 0, width, sizes[3]);
    const std::int64_t rows = height * align.ratio, columns = width * align.ratio;
    const std::int64_t samples = element_count(Sizes{count, rows, columns});
    const V pixels = reshaped(permuted(x, {0, 2, 3, 1}), {sizes[0] * sizes[2] * sizes[3], sizes[1]});
    const V image = reshaped(cast(batch, DType::i64) * (sizes[2] * sizes[3]), {count, 1, 1});
    const auto as_rows = [&](const V& value) { return reshaped(value, {count, rows, 1}); };
    const auto as_columns = [&](const V& value) { return reshaped(value, {count, 1, columns}); };
    const auto one_minus = [&](const V& value) { return rsub(value, 1.0); };
    const auto corner = [&](const V& row, const V& column, const V& y_weight, const V& z_weight) {
        const V line = image + as_rows(row) * sizes[3];
        const V place = reshaped(line + as_columns(column), {samples});
        const V weight = reshaped(as_rows(y_weight) * as_columns(z_weight), {samples, 1});
        return index_select(pixels, 0, place) * weight;
    };
    V sum = corner(y.low, z.low, one_minus(y.beyond_low), one_minus(z.beyond_low));
    sum = sum + corner(y.low, z.high, one_minus(y.beyond_low), z.beyond_low);
    sum = sum + corner(y.high, z.low, y.beyond_low, one_minus(z.beyond_low));
    sum = sum + corner(y.high, z.high, y.beyond_low, z.beyond_low);
    const V inside = reshaped(logical_and(as_rows(y.inside), as_columns(z.inside)), {samples, 1});
    sum = where(inside, sum, 0.0);
    const V bins = reshaped(sum, {count, height, align.ratio, width, align.ratio, sizes[1]});
    return permuted(mean(bins, Ints{2, 4}), {0, 3, 1, 2});
}

using Box = std::array<double, 4>;  ///< y1, x1, y2, x2 in order

Box box_at(const std::vector<double>& boxes, std::size_t position, bool centre_form) {
    const double* b = &boxes[4 * position];
    if (centre_form) return {b[1] - b[3] / 2, b[0] - b[2] / 2, b[1] + b[3] / 2, b[0] + b[2] / 2};
    return {std::min(b[0], b[2]), std::min(b[1], b[3]), std::max(b[0], b[2]), std::max(b[1], b[3])};
}

double intersection_over_union(const Box& a, const Box& b) {
    const auto area = [](const Box& box) { return (box[2] - box[0]) * (box[3] - box[1]); };
    const double height = std::min(a[2], b[2]) - std::max(a[0], b[0]);
    const double width = std::min(a[3], b[3]) - std::max(a[1], b[1]);
    if (height <= 0 || width <= 0) return 0;
    return height * width / (area(a) + area(b) - height * width);
}

/// How many boxes remain is data, so all operands must be known. [selected, 3]: batch, class, box
CallResults non_max_suppression(const Call& c) {
    const Tensor boxes = known_operand(c, "boxes"), scores = known_operand(c, "scores");
    if (boxes.rank() != 3 || scores.rank() != 3 || boxes.sizes()[2] != 4 || boxes.sizes()[0] != scores.sizes()[0] ||
        boxes.sizes()[1] != scores.sizes()[2])
        throw Error("found boxes of sizes " + to_string(boxes.sizes()) + " and scores of sizes " +
                    to_string(scores.sizes()) + ", expected [batch, boxes, 4] and [batch, classes, boxes]");
    const auto number = [&](const char* name, double missing) {
        return c.has(name) ? known_operand(c, name).item().to_double() : missing;
    };
    const double most = number("max_output_boxes_per_class", 0), overlap = number("iou_threshold", 0);
    const bool centre_form = c.integer("center_point_box") != 0;
    const std::vector<double> all_boxes = boxes.values<double>(), all_scores = scores.values<double>();
    const auto count = static_cast<std::size_t>(boxes.sizes()[1]);
    Ints selected;
    for (std::int64_t batch = 0; batch < scores.sizes()[0]; ++batch)
        for (std::int64_t label = 0; label < scores.sizes()[1]; ++label) {
            const std::size_t first_score = static_cast<std::size_t>(batch * scores.sizes()[1] + label) * count;
            std::vector<std::size_t> order;
            for (std::size_t i = 0; i < count; ++i)
                if (!c.has("score_threshold") || all_scores[first_score + i] > number("score_threshold", 0))
                    order.push_back(i);
            std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) {
                return all_scores[first_score + a] > all_scores[first_score + b];
            });
            std::vector<Box> kept;
            for (const std::size_t i : order) {
                if (static_cast<double>(kept.size()) >= most) break;
                const Box box = box_at(all_boxes, static_cast<std::size_t>(batch) * count + i, centre_form);
                if (std::ranges::any_of(kept, [&](const Box& k) { return intersection_over_union(k, box) > overlap; }))
                    continue;
                kept.push_back(box);
                selected.insert(selected.end(), {batch, label, static_cast<std::int64_t>(i)});
            }
        }
    return c.constant(Tensor::of(selected, {static_cast<std::int64_t>(selected.size() / 3), 3}));
}

/// Zeros, and the elements at their positions in the tensor that a MaxPool with these windows would have had. A larger
/// output_shape has more zeros behind.
CallResults max_unpool(const Call& c) {
    const V x = c.tensor("X"), positions = c.tensor("I");
    const Ints kernel = c.integers("kernel_shape");
    const auto rank = static_cast<std::size_t>(std::max<std::int64_t>(x.rank() - 2, 0));
    const Ints strides = per_dimension(c, "strides", rank, 1, 1);
    const Ints pads = c.optional_integers("pads").value_or(Ints(2 * rank, 0));
    if (kernel.size() != rank || pads.size() != 2 * rank || positions.sizes() != x.sizes())
        throw Error("found kernel_shape=" + to_string(kernel) + ", pads=" + to_string(pads) + " and I of sizes " +
                    to_string(positions.sizes()) +
                    ", expected a kernel size and two pads for each spatial dimension, and I of the sizes of X, " +
                    to_string(x.sizes()));
    Sizes sizes = x.sizes();
    for (std::size_t d = 0; d < rank; ++d) {
        const Checked padded = Checked(sizes[d + 2] - 1) * strides[d] + kernel[d];
        const Checked removed = Checked(pads[d]) + pads[rank + d];
        check_removed(d + 2, removed.value(), padded.value());
        sizes[d + 2] = (padded - removed).value();
    }
    const std::int64_t elements = x.numel();
    const V zeros = full(c.builder(), {element_count(sizes)}, 0.0, x.dtype());
    const V flat = scatter(zeros, 0, reshaped(positions, {elements}), reshaped(x, {elements}));
    V result = reshaped(flat, sizes);
    if (const auto wanted = known_ints_if(c, "output_shape")) {
        Ints more;
        for (std::size_t d = sizes.size(); d-- > 0;) {
            if (wanted->size() != sizes.size() || (*wanted)[d] < sizes[d])
                throw Error("found output_shape=" + to_string(*wanted) + ", expected at least " + to_string(sizes));
            more.insert(more.end(), {0, (*wanted)[d] - sizes[d]});
        }
        result = constant_pad_nd(result, more, 0.0);
    }
    return result;
}

/// Of MaxUnpool: indices in the image; whether they count in the output_shape or in what was pooled is open
/// (https://github.com/onnx/onnx/issues/2398), and which of two elements remains at one index.
Reason open_unpooled(std::string_view op, const Arguments<Tensor>& a) {
    if (a.has("output_shape"))
        return std::string(op) +
               " has an output_shape: the standard does not say whether indices refer to the output_shape "
               "(onnx/onnx#2398)";
    const Tensor indices = a.tensor("I");
    if (Reason reason = out_of_range(op, "index", indices, 0, std::numeric_limits<std::int64_t>::max())) return reason;
    return written_twice(op, indices.values<std::int64_t>(), a.tensor("X"), indices);
}

/// Of RoiAlign: images of the batch, and regions that are numbers.
Reason open_aligned_regions(std::string_view op, const Arguments<Tensor>& a) {
    if (Reason reason = not_finite(op, "region (rois)", a.tensor("rois"))) return reason;
    return bad_index(op, a.tensor("batch_indices"), extent(a.tensor("X"), 0), false);
}

constexpr OpDef kDetectionOps[] = {
    composite("AffineGrid(Tensor theta, Tensor size, *, int align_corners=0) -> Tensor",
              "Sampling positions of affine maps, for GridSample", kFloating, affine_grid),
    composite("GridSample(Tensor X, Tensor grid, *, int align_corners=0, str mode=\"bilinear\", str "
              "padding_mode=\"zeros\") -> Tensor",
              "An image sampled at given positions", kFloating, grid_sample),
    composite("RoiAlign(Tensor X, Tensor rois, Tensor batch_indices, *, str "
              "coordinate_transformation_mode=\"half_pixel\", str mode=\"avg\", int output_height=1, int "
              "output_width=1, int sampling_ratio=0, float spatial_scale=1.0) -> Tensor",
              "Regions of images, each as an image of one size", kFloating, roi_align, {.ask = open_aligned_regions}),
    composite("NonMaxSuppression(Tensor boxes, Tensor scores, Tensor? max_output_boxes_per_class=None, Tensor? "
              "iou_threshold=None, Tensor? score_threshold=None, *, int center_point_box=0) -> Tensor",
              "Indices of the best of overlapping boxes", set_of(DType::f32), non_max_suppression),
    composite("MaxUnpool(Tensor X, Tensor I, Tensor? output_shape=None, *, int[] kernel_shape, int[]? pads=None, "
              "int[]? strides=None) -> Tensor",
              "Elements moved back to the positions from which MaxPool took the elements", kFloating, max_unpool,
              {.ask = open_unpooled}),
};

}  // namespace

std::span<const OpDef> onnx_detection_ops() { return kDetectionOps; }

}  // namespace whittle
