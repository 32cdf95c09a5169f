// Samples of lib/ops/aten/torchvision.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples region_samples(DType dtype) {
    const Tensor x = random(dtype, {2, 3, 6, 8}),
                 rois = values(dtype, {0, 1, 1.5, 6, 5, 1, -2, 0, 3.25, 4, 1, 2, 2, 2.5, 2.5}, {3, 5});
    const auto align = [&](const std::string& label, double scale, std::int64_t ratio, bool aligned) {
        return call_of(label, {x, rois, scale, 2, 3, ratio, aligned});
    };
    return {align("two samples", 1, 2, false), align("aligned", 1, 2, true), align("scaled", 0.5, 1, true),
            align("as many samples as pixels", 1, -1, false), align("as many samples as pixels, aligned", 1, 0, true)};
}

Samples deformed_convolutions(DType dtype) {
    const Tensor x = random(dtype, {2, 4, 5, 6}, 1), bias = random(dtype, {6}, 2), none = random(dtype, {0}, 3);
    const Tensor weight = random(dtype, {6, 2, 3, 3}, 4), offset = random(dtype, {2, 36, 5, 6}, 5),
                 mask = uniform(dtype, {2, 18, 5, 6}, 0, 1, 6);
    const Tensor whole = random(dtype, {6, 4, 2, 1}, 7), sparse = random(dtype, {2, 4, 2, 6}, 8);
    return {call_of("groups and mask", {x, weight, offset, mask, bias, 1, 1, 1, 1, 1, 1, 2, 2, true}),
            call_of("strides and dilation", {x, whole, sparse, none, bias, 2, 1, 0, 0, 2, 1, 1, 1, false})};
}

Samples boxes_with_scores(DType dtype) {
    const Tensor boxes = values(dtype, {0, 0, 4, 4, 1, 0, 5, 4, 6, 6, 8, 8, 0, 0, 4, 3, 6, 6, 8, 9}, {5, 4}),
                 scores = values(dtype, {0.5, 0.75, 0.25, 0.625, 0.75});
    const auto call = [](const std::string& label, const Tensor& boxes, const Tensor& scores, double limit) {
        return call_of(label, {boxes, scores, limit}, {}, {0, 1});
    };
    return {call("overlapping", boxes, scores, 0.5), call("every overlap", boxes, scores, 0),
            call("all kept", boxes, scores, 1), call("strided", transposed(boxes), strided(scores), 0.6),
            call("no boxes", values(dtype, {}, {0, 4}), values(dtype, {}), 0.5)};
}

}  // namespace

Table torchvision_table() {
    return {{{"torchvision.roi_align.default"}, region_samples},
            {{"torchvision.deform_conv2d.default"}, deformed_convolutions},
            {{"torchvision.nms.default"}, boxes_with_scores}};
}

}  // namespace whittle::samples
