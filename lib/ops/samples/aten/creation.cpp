// Samples of lib/ops/aten/creation.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {

Samples dtype_samples(DType dtype, const std::vector<std::pair<std::string, ArgList>>& calls) {
    Samples result;
    for (const auto& [label, args] : calls) {
        result.push_back({.label = label, .tensors = {}, .args = args, .kwargs = {{"dtype", dtype}}});
        result.push_back(
            {.label = label + ", default dtype, " + std::string(name(dtype)), .tensors = {}, .args = args});
    }
    return result;
}

namespace {

Samples sized_samples(DType dtype, const ArgList& fill) {
    Samples result;
    for (const Sizes& sizes : std::vector<Sizes>{{2, 3}, {}, {0, 4}})
        result.push_back({.label = "sizes " + to_string(sizes),
                          .tensors = {},
                          .args = joined({Arg::ints(sizes)}, fill),
                          .kwargs = {{"dtype", dtype}}});
    result.push_back(result[0]);
    result.back().label = "default dtype, " + std::string(name(dtype));
    result.back().kwargs = {{"device", "cpu"}, {"pin_memory", false}};
    return result;
}

Samples like_samples(DType dtype, const ArgList& rest) {
    Samples result = moved(dtype, "same dtype", {2, 3}, rest);
    result.push_back(once(dtype, "0-d", {}, rest));
    result.push_back(once(dtype, "empty", {0, 2}, rest));
    result.push_back(once(dtype, "other dtype", {2}, rest));
    result.back().kwargs = {{"dtype", DType::f16}};
    return result;
}

/// As like_samples, for ops that take no options.
Samples written_samples(DType dtype, const ArgList& fill) {
    Samples result = like_samples(dtype, fill);
    std::erase_if(result, [](const Sample& sample) { return !sample.kwargs.empty(); });
    return result;
}

Samples fill_samples(DType dtype) {
    Samples result = written_samples(dtype, {1.0});
    for (const DType from : kAllDTypes) {
        const std::string suffix = ", value " + std::string(name(from));
        for (Sample& sample : written_samples(dtype, {})) {
            sample.args.emplace_back(NodeRef{static_cast<NodeId>(sample.tensors.size())});
            sample.tensors.push_back(scalar(from, 1));
            sample.label += suffix;
            result.push_back(std::move(sample));
        }
    }
    return result;
}

Samples new_full_samples(DType dtype) { return like_samples(dtype, {Arg::ints({3, 2}), 4}); }
Samples new_zeros_samples(DType dtype) { return like_samples(dtype, {Arg::ints({3, 2})}); }

}  // namespace

Table creation_table() {
    return {{{"aten.full.default"}, [](DType dtype) { return sized_samples(dtype, {2.5}); }},
            {{"aten.zeros.default", "aten.ones.default", "aten.empty.memory_format"},
             [](DType dtype) { return sized_samples(dtype, {}); }},
            {{"aten.full_like.default"}, [](DType dtype) { return like_samples(dtype, {2.5}); }},
            {{"aten.fill.Scalar"}, [](DType dtype) { return written_samples(dtype, {2.5}); }},
            {{"aten.fill.Tensor"}, fill_samples},
            {{"aten.zero.default"}, [](DType dtype) { return written_samples(dtype, {}); }},
            {{"aten.zeros_like.default", "aten.ones_like.default", "aten.empty_like.default"},
             [](DType dtype) { return like_samples(dtype, {}); }},
            {{"aten.new_full.default"}, new_full_samples},
            {{"aten.new_zeros.default", "aten.new_ones.default"}, new_zeros_samples},
            {{"aten.scalar_tensor.default"}, [](DType dtype) -> Samples {
                 return dtype_samples(dtype, {{"integer", {7}}, {"floating", {1.5}}, {"bool", {true}}});
             }}};
}

}  // namespace whittle::samples
