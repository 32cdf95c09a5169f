// ONNX's ops on images and boxes: GridSample, RoiAlign, NonMaxSuppression, MaxUnpool.
#include <algorithm>
#include <array>

#include "base/checked.h"
#include "ops/onnx/open_rules.h"
#include "ops/onnx/window.h"

namespace whittle {

namespace {

using namespace onnx_dialect;

/// The position of a word among those that an attribute may be.
std::int64_t choice(const Rewrite& op, std::string_view attribute, std::initializer_list<std::string_view> words) {
    const std::string found = op.arguments().text(attribute);
    const auto* word = std::find(words.begin(), words.end(), found);
    std::string all;
    for (const std::string_view known : words) all += (all.empty() ? "" : ", ") + std::string(known);
    if (word == words.end())
        throw Error("found " + std::string(attribute) + " '" + found + "', expected one of " + all);
    return word - words.begin();
}

Results grid_sample(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    // Since opset 20 they have other names; a missing one still stands in the schema under the first of the old ones.
    const std::int64_t mode = op.opset() < 20 ? choice(op, "mode", {"bilinear", "nearest", "bicubic"})
                                              : choice(op, "mode", {"linear", "nearest", "cubic", "bilinear"}) % 3;
    const bool volume = rank_of(op.tensor("X")) == 5 && op.opset() >= 20;
    if (rank_of(op.tensor("X")) != 4 && !volume)
        throw Error("found X of sizes " + to_string(op.tensor("X").meta.sizes) + ", expected " +
                    (op.opset() >= 20 ? "four or five dimensions" : "four dimensions"));
    if (volume && mode == 2) throw Error("found mode 'cubic' for X with five dimensions, expected linear or nearest");
    const std::int64_t padding = choice(op, "padding_mode", {"zeros", "border", "reflection"});
    return {op(volume ? "aten.grid_sampler_3d.default" : "aten.grid_sampler_2d.default", op.tensor("X"),
               op.tensor("grid"), mode, padding, op.integer("align_corners") != 0)
                .ref};
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
Results affine_grid(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue theta = op.tensor("theta");
    const Ints size = op.known_ints("size");
    const auto dims = static_cast<std::int64_t>(size.size()) - 2;
    if (dims < 2 || dims > 3 || theta.meta.sizes != Sizes{size[0], dims, dims + 1} ||
        std::ranges::any_of(size, [](std::int64_t s) { return s < 1; }))
        throw Error("found theta of sizes " + to_string(theta.meta.sizes) + " and size=" + to_string(size) +
                    ", expected theta of sizes [N, 2, 3] and size=[N, C, H, W], or theta of sizes [N, 3, 4] and "
                    "size=[N, C, D, H, W]");
    const Sizes image(size.begin() + 2, size.end());
    constexpr std::int64_t kMostPixels = std::int64_t{1} << 24;
    Checked pixels(1);
    for (const std::int64_t s : image) pixels = pixels * s;
    if (pixels.value() > kMostPixels)
        throw Error("found size=" + to_string(size) + ", expected at most " + std::to_string(kMostPixels) + " pixels");
    const NodeValue places =
        op.constant(places_of_pixels(image, op.integer("align_corners") != 0).to(theta.meta.dtype));
    Sizes sizes = {size[0]};
    sizes.insert(sizes.end(), image.begin(), image.end());
    sizes.push_back(dims);
    return {op.reshape(op("aten.matmul.default", places, op.permute(theta, {0, 2, 1})), sizes).ref};
}

/// Where one coordinate of each sample lies: the pixels around it and how far it is from the first. [rois, samples]
struct Samples {
    NodeValue low, high, beyond_low;
    NodeValue inside;  ///< at most one pixel off the image; what is farther away counts as zero
};

constexpr std::int64_t kMostSamples = 1 << 16;  // of a region along one dimension

struct RoiAlign {
    std::int64_t ratio = 0;  ///< samples per bin and dimension
    double scale = 1, offset = 0;
};

/// Samples of the bins between rois[:, first] and rois[:, first + 2].
Samples samples_along(const Rewrite& op, const RoiAlign& align, const NodeValue& rois, std::int64_t first,
                      std::int64_t bins, std::int64_t size) {
    const DType dtype = rois.meta.dtype;
    const auto edge = [&](std::int64_t column) {
        const NodeValue scaled = op("aten.mul.Tensor", op.slice(rois, 1, column, column + 1), align.scale);
        return op("aten.sub.Tensor", scaled, align.offset);
    };
    const NodeValue start = edge(first);
    NodeValue length = op("aten.sub.Tensor", edge(first + 2), start);
    if (align.offset == 0) length = op("aten.clamp.default", length, 1.0);  // as before pixels had centres
    std::vector<double> places;                                             // of samples, in lengths of the region
    for (std::int64_t i = 0; i < bins * align.ratio; ++i)
        places.push_back((static_cast<double>(i) + 0.5) / static_cast<double>(bins * align.ratio));
    const NodeValue place = op.constant(Tensor::of(places, {1, static_cast<std::int64_t>(places.size())}).to(dtype));
    NodeValue at = op("aten.add.Tensor", start, op("aten.mul.Tensor", length, place));
    const auto last = static_cast<double>(size - 1);
    const NodeValue inside = op("aten.logical_and.default", op("aten.ge.Scalar", at, -1.0),
                                op("aten.le.Scalar", at, static_cast<double>(size)));
    at = op("aten.clamp.default", at, 0.0, last);
    const NodeValue low = op("aten.floor.default", at);
    const NodeValue high = op("aten.clamp.default", op("aten.add.Tensor", low, 1.0), 0.0, last);
    return {op.cast(low, DType::i64), op.cast(high, DType::i64), op("aten.sub.Tensor", at, low), inside};
}

/// Means (or maxima) of bilinear samples of each region's bins.
Results roi_align(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X"), rois = op.tensor("rois"), batch = op.tensor("batch_indices");
    if (rank_of(x) != 4 || rank_of(rois) != 2 || size_of_dim(rois, 1) != 4 || x.meta.sizes[2] < 1 ||
        x.meta.sizes[3] < 1)
        throw Error("found X of sizes " + to_string(x.meta.sizes) + " and rois of sizes " + to_string(rois.meta.sizes) +
                    ", expected [N, C, H, W] with nonempty images, and [count, 4]");
    const Sizes& sizes = x.meta.sizes;
    const std::int64_t count = rois.meta.sizes[0], height = op.integer("output_height"),
                       width = op.integer("output_width");
    RoiAlign align{.ratio = op.integer("sampling_ratio"), .scale = op.number("spatial_scale")};
    if (op.opset() >= 16 && choice(op, "coordinate_transformation_mode", {"half_pixel", "output_half_pixel"}) == 0)
        align.offset = 0.5;
    if (choice(op, "mode", {"avg", "max"}) != 0)
        throw Error("found mode 'max', expected avg", "use mode 'avg': runtimes disagree on the results of mode 'max'");
    if (align.ratio < 1 || height < 1 || width < 1)
        throw Error("found sampling_ratio=" + std::to_string(align.ratio) + " and a result of " +
                        std::to_string(height) + " by " + std::to_string(width) +
                        ", expected at least 1 for each number",
                    "set sampling_ratio to at least 1: with 0, the number of samples differs between regions");
    for (const std::int64_t bins : {height, width})
        if (bins > kMostSamples / align.ratio)
            throw Error("found " + std::to_string(bins) + " bins of " + std::to_string(align.ratio) +
                        " samples, expected at most " + std::to_string(kMostSamples) + " samples in total");
    const Samples y = samples_along(op, align, rois, 1, height, sizes[2]);
    const Samples z = samples_along(op, align, rois, 0, width, sizes[3]);
    const std::int64_t rows = height * align.ratio, columns = width * align.ratio;
    const std::int64_t samples = element_count(Sizes{count, rows, columns});
    const NodeValue pixels = op.reshape(op.permute(x, {0, 2, 3, 1}), {sizes[0] * sizes[2] * sizes[3], sizes[1]});
    const NodeValue image =
        op.reshape(op("aten.mul.Tensor", op.cast(batch, DType::i64), sizes[2] * sizes[3]), {count, 1, 1});
    const auto as_rows = [&](const NodeValue& value) { return op.reshape(value, {count, rows, 1}); };
    const auto as_columns = [&](const NodeValue& value) { return op.reshape(value, {count, 1, columns}); };
    const auto one_minus = [&](const NodeValue& value) { return op("aten.rsub.Scalar", value, 1.0); };
    const auto corner = [&](const NodeValue& row, const NodeValue& column, const NodeValue& y_weight,
                            const NodeValue& z_weight) {
        const NodeValue line = op("aten.add.Tensor", image, op("aten.mul.Tensor", as_rows(row), sizes[3]));
        const NodeValue place = op.reshape(op("aten.add.Tensor", line, as_columns(column)), {samples});
        const NodeValue weight =
            op.reshape(op("aten.mul.Tensor", as_rows(y_weight), as_columns(z_weight)), {samples, 1});
        return op("aten.mul.Tensor", op("aten.index_select.default", pixels, std::int64_t{0}, place), weight);
    };
    NodeValue sum = corner(y.low, z.low, one_minus(y.beyond_low), one_minus(z.beyond_low));
    sum = op("aten.add.Tensor", sum, corner(y.low, z.high, one_minus(y.beyond_low), z.beyond_low));
    sum = op("aten.add.Tensor", sum, corner(y.high, z.low, y.beyond_low, one_minus(z.beyond_low)));
    sum = op("aten.add.Tensor", sum, corner(y.high, z.high, y.beyond_low, z.beyond_low));
    const NodeValue inside =
        op.reshape(op("aten.logical_and.default", as_rows(y.inside), as_columns(z.inside)), {samples, 1});
    sum = op("aten.where.ScalarOther", inside, sum, 0.0);
    const NodeValue bins = op.reshape(sum, {count, height, align.ratio, width, align.ratio, sizes[1]});
    return {op.permute(op("aten.mean.dim", bins, Ints{2, 4}), {0, 3, 1, 2}).ref};
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
Results non_max_suppression(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const Tensor boxes = op.known("boxes"), scores = op.known("scores");
    if (boxes.rank() != 3 || scores.rank() != 3 || boxes.sizes()[2] != 4 || boxes.sizes()[0] != scores.sizes()[0] ||
        boxes.sizes()[1] != scores.sizes()[2])
        throw Error("found boxes of sizes " + to_string(boxes.sizes()) + " and scores of sizes " +
                    to_string(scores.sizes()) + ", expected [batch, boxes, 4] and [batch, classes, boxes]");
    const auto number = [&](const char* name, double missing) {
        return op.has(name) ? op.known(name).item().to_double() : missing;
    };
    const double most = number("max_output_boxes_per_class", 0), overlap = number("iou_threshold", 0);
    const bool centre_form = op.integer("center_point_box") != 0;
    const std::vector<double> all_boxes = boxes.values<double>(), all_scores = scores.values<double>();
    const auto count = static_cast<std::size_t>(boxes.sizes()[1]);
    Ints selected;
    for (std::int64_t batch = 0; batch < scores.sizes()[0]; ++batch)
        for (std::int64_t label = 0; label < scores.sizes()[1]; ++label) {
            const std::size_t first_score = static_cast<std::size_t>(batch * scores.sizes()[1] + label) * count;
            std::vector<std::size_t> order;
            for (std::size_t i = 0; i < count; ++i)
                if (!op.has("score_threshold") || all_scores[first_score + i] > number("score_threshold", 0))
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
    return {op.constant(Tensor::of(selected, {static_cast<std::int64_t>(selected.size() / 3), 3})).ref};
}

/// Zeros, and the elements at their positions in the tensor that a MaxPool with these windows would have had. A larger
/// output_shape has more zeros behind.
Results max_unpool(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const NodeValue x = op.tensor("X"), positions = op.tensor("I");
    const Ints kernel = op.arguments().integers("kernel_shape");
    const auto rank = static_cast<std::size_t>(std::max<std::int64_t>(rank_of(x) - 2, 0));
    const Ints strides = per_dimension(op, "strides", rank, 1, 1);
    const Ints pads = arguments.optional_integers("pads").value_or(Ints(2 * rank, 0));
    if (kernel.size() != rank || pads.size() != 2 * rank || positions.meta.sizes != x.meta.sizes)
        throw Error("found kernel_shape=" + to_string(kernel) + ", pads=" + to_string(pads) + " and I of sizes " +
                    to_string(positions.meta.sizes) +
                    ", expected a kernel size and two pads for each spatial dimension, and I of the sizes of X, " +
                    to_string(x.meta.sizes));
    Sizes sizes = x.meta.sizes;
    for (std::size_t d = 0; d < rank; ++d)
        sizes[d + 2] = (Checked(sizes[d + 2] - 1) * strides[d] + kernel[d] - pads[d] - pads[rank + d]).value();
    if (std::ranges::any_of(sizes, [](std::int64_t size) { return size < 0; }))
        throw Error(
            "found pads that remove more elements from a dimension than the dimension has, expected smaller pads");
    const std::int64_t elements = x.meta.numel();
    const NodeValue zeros = op.full({element_count(sizes)}, Scalar(0.0), x.meta.dtype);
    const NodeValue flat =
        op("aten.scatter.src", zeros, std::int64_t{0}, op.reshape(positions, {elements}), op.reshape(x, {elements}));
    NodeValue result = op.reshape(flat, sizes);
    if (const auto wanted = op.known_ints_if("output_shape")) {
        Ints more;
        for (std::size_t d = sizes.size(); d-- > 0;) {
            if (wanted->size() != sizes.size() || (*wanted)[d] < sizes[d])
                throw Error("found output_shape=" + to_string(*wanted) + ", expected at least " + to_string(sizes));
            more.insert(more.end(), {0, (*wanted)[d] - sizes[d]});
        }
        result = op("aten.constant_pad_nd.default", result, more, 0.0);
    }
    return {result.ref};
}

constexpr OpDef kDetectionOps[] = {
    {.name = "onnx.AffineGrid",
     .doc = "Sampling positions of affine maps, for GridSample. onnx Operators.md#AffineGrid",
     .schema = "AffineGrid(Tensor theta, Tensor size, *, int align_corners=0) -> Tensor",
     .dtypes = kFloating,
     .decompose = affine_grid},
    {.name = "onnx.GridSample",
     .doc = "An image sampled at given positions. onnx Operators.md#GridSample",
     .schema = "GridSample(Tensor X, Tensor grid, *, int align_corners=0, str mode=\"bilinear\", "
               "str padding_mode=\"zeros\") -> Tensor",
     .dtypes = kFloating,
     .decompose = grid_sample},
    {.name = "onnx.RoiAlign",
     .doc = "Regions of images, each as an image of one size. onnx Operators.md#RoiAlign",
     .schema = "RoiAlign(Tensor X, Tensor rois, Tensor batch_indices, *, "
               "str coordinate_transformation_mode=\"half_pixel\", str mode=\"avg\", int output_height=1, "
               "int output_width=1, int sampling_ratio=0, float spatial_scale=1.0) -> Tensor",
     .dtypes = kFloating,
     .decompose = roi_align,
     .open = {.ask = onnx_open::aligned_regions}},
    {.name = "onnx.NonMaxSuppression",
     .doc = "Indices of the best of overlapping boxes. onnx Operators.md#NonMaxSuppression",
     .schema = "NonMaxSuppression(Tensor boxes, Tensor scores, Tensor? max_output_boxes_per_class=None, "
               "Tensor? iou_threshold=None, Tensor? score_threshold=None, *, int center_point_box=0) -> Tensor",
     .dtypes = set_of(DType::f32),
     .decompose = non_max_suppression},
    {.name = "onnx.MaxUnpool",
     .doc = "Elements put back to where MaxPool found them. onnx Operators.md#MaxUnpool",
     .schema = "MaxUnpool(Tensor X, Tensor I, Tensor? output_shape=None, *, int[] kernel_shape, int[]? pads=None, "
               "int[]? strides=None) -> Tensor",
     .dtypes = kFloating,
     .decompose = max_unpool,
     .open = {.ask = onnx_open::unpooled}},
};

}  // namespace

std::span<const OpDef> onnx_detection_ops() { return kDetectionOps; }

}  // namespace whittle
