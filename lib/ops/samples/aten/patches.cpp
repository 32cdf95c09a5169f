// Samples of lib/ops/aten/patches.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

struct Patch {
    std::string label;
    Sizes kernel, dilation, padding, stride;
    Sizes image = {5, 4}, out = {};
};

const std::vector<Patch>& patches() {
    static const std::vector<Patch> list = {
        {"plain", {2, 3}, {1, 1}, {0, 0}, {1, 1}, {5, 4}, {4, 2}},
        {"padded", {3, 2}, {1, 1}, {1, 1}, {2, 1}, {5, 4}, {3, 5}},
        {"dilated", {2, 2}, {2, 1}, {0, 1}, {1, 2}, {5, 4}, {3, 3}},
        {"apart", {1, 1}, {1, 1}, {0, 0}, {3, 2}, {5, 4}, {2, 2}},
        {"whole image", {5, 4}, {1, 1}, {0, 0}, {1, 1}, {5, 4}, {1, 1}},
    };
    return list;
}

Samples im2col_samples(DType dtype) {
    Samples result;
    const auto add = [&](const std::string& label, const Tensor& x, const Patch& p) {
        result.push_back(
            call_of(label, {x, Arg::ints(p.kernel), Arg::ints(p.dilation), Arg::ints(p.padding), Arg::ints(p.stride)}));
    };
    const Tensor x = random(dtype, {2, 3, 5, 4});
    for (const Patch& p : patches()) add(p.label, x, p);
    add("no batch", random(dtype, {3, 5, 4}), patches()[1]);
    add("empty batch", random(dtype, {0, 3, 5, 4}), patches()[1]);
    for (const auto& [label, laid] : other_layouts(x)) add(label, laid, patches()[1]);
    return result;
}

Samples col2im_samples(DType dtype) {
    Samples result;
    const auto add = [&](const std::string& label, const Tensor& x, const Patch& p) {
        result.push_back(call_of(label, {x, Arg::ints(p.image), Arg::ints(p.kernel), Arg::ints(p.dilation),
                                         Arg::ints(p.padding), Arg::ints(p.stride)}));
    };
    const auto columns = [&](Sizes leading, std::int64_t channels, const Patch& p) {
        leading.insert(leading.end(), {channels * element_count(p.kernel), element_count(p.out)});
        return random(dtype, leading);
    };
    for (const Patch& p : patches()) add(p.label, columns({2}, 3, p), p);
    const Patch& padded = patches()[1];
    add("no batch", columns({}, 3, padded), padded);
    for (const auto& [label, laid] : other_layouts(columns({2}, 2, padded))) add(label, laid, padded);
    return result;
}

/// Indices that differ within an image.
Samples unpool_samples(DType dtype, std::size_t rank) {
    Samples result;
    Sizes image(rank, 4), image_strides(rank, 2), no_padding(rank, 0);
    const auto add = [&](const std::string& label, const Sizes& leading) {
        Sizes sizes = leading;
        sizes.resize(leading.size() + rank, 2);
        const std::int64_t each = std::int64_t{1} << rank;
        std::vector<std::int64_t> at(static_cast<std::size_t>(element_count(sizes)));
        for (std::size_t i = 0; i < at.size(); ++i)
            at[i] = (static_cast<std::int64_t>(i) % each * 7 + 3) % element_count(image);
        Sample sample = call_of(label, {random(dtype, sizes), Tensor::of(at, sizes), Arg::ints(image)});
        if (rank == 3) sample.args.insert(sample.args.end(), {Arg::ints(image_strides), Arg::ints(no_padding)});
        result.push_back(std::move(sample));
    };
    add("batch", {2, 3});
    add("no batch", {3});
    result.push_back(result[0]);
    result.back().label = "transposed";
    result.back().tensors[0] = transposed(result[0].tensors[0]);
    return result;
}

}  // namespace

Table patch_table() {
    return {{{"aten.im2col.default"}, im2col_samples},
            {{"aten.col2im.default"}, col2im_samples},
            {{"aten.max_unpool2d.default"}, [](DType dtype) { return unpool_samples(dtype, 2); }},
            {{"aten.max_unpool3d.default"}, [](DType dtype) { return unpool_samples(dtype, 3); }}};
}

}  // namespace whittle::samples
