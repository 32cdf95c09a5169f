// Samples of lib/ops/aten/gather.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// op(mixed of `sizes`, rest...) with `index` as the second tensor.
Sample gather_sample(DType dtype, const std::string& label, const Sizes& sizes, const Tensor& index,
                     const ArgList& rest) {
    return {.label = label, .tensors = {mixed(dtype, sizes), index}, .args = joined({t(0)}, rest)};
}

/// The samples with self in each memory layout.
Samples in_layouts(const Sample& sample) {
    Samples result;
    for (auto& [layout, tensor] : layouts(sample.tensors[0])) {
        result.push_back(sample);
        result.back().label += ", " + layout;
        result.back().tensors[0] = tensor;
    }
    return result;
}

}  // namespace

Table gather_table() {
    return {{{"aten.gather.default"},
             [](DType dtype) {
                 return in_layouts(gather_sample(dtype, "rows", {4, 3}, indices({5, 3}, 4), {0, t(1)})) +
                        Samples{gather_sample(dtype, "smaller index", {3, 4, 5}, indices({2, 7, 3}, 4), {1, t(1)}),
                                gather_sample(dtype, "transposed index", {3, 4}, transposed(indices({2, 3}, 4)),
                                              {-1, t(1)}),
                                gather_sample(dtype, "0-d", {}, indices({}, 1), {0, t(1)}),
                                gather_sample(dtype, "i32 index", {4}, indices({3}, 4).to(DType::i32), {0, t(1)}),
                                gather_sample(dtype, "empty", {2, 3}, indices({0, 3}, 1), {0, t(1)})};
             }},
            {{"aten.index_select.default"},
             [](DType dtype) {
                 return in_layouts(gather_sample(dtype, "columns", {2, 4}, positions({2, 0, 2}, {3}), {1, t(1)})) +
                        Samples{gather_sample(dtype, "0-d index", {3, 2}, positions({1}, {}), {0, t(1)}),
                                gather_sample(dtype, "0-d", {}, positions({0}, {1}), {0, t(1)}),
                                gather_sample(dtype, "i32 index", {4}, indices({5}, 4).to(DType::i32), {-1, t(1)}),
                                gather_sample(dtype, "empty", {0, 2}, indices({0}, 1), {0, t(1)})};
             }},
            {{"aten.embedding.default"},
             [](DType dtype) {
                 return in_layouts(gather_sample(dtype, "sentences", {7, 3}, indices({2, 5}, 7), {t(1)})) +
                        Samples{gather_sample(dtype, "0-d", {4, 2}, positions({3}, {}), {t(1), 3}),
                                gather_sample(dtype, "i32", {4, 2}, indices({3}, 4).to(DType::i32), {t(1)}),
                                gather_sample(dtype, "no indices", {4, 2}, indices({0}, 1), {t(1)}),
                                gather_sample(dtype, "no columns", {4, 0}, indices({2}, 4), {t(1)})};
             }},
            {{"aten.take.default"},
             [](DType dtype) {
                 return in_layouts(gather_sample(dtype, "matrix", {3, 4}, indices({2, 5}, 12), {t(1)})) +
                        Samples{gather_sample(dtype, "negative", {2, 3}, positions({-1, -6, 5}, {3}), {t(1)}),
                                gather_sample(dtype, "0-d", {}, positions({0}, {}), {t(1)}),
                                gather_sample(dtype, "empty", {0}, indices({0, 2}, 1), {t(1)})};
             }},
            {{"aten.take_along_dim.default"},
             [](DType dtype) -> Samples {
                 return {gather_sample(dtype, "broadcast", {3, 1, 4}, indices({1, 2, 5}, 4), {t(1), -1}),
                         gather_sample(dtype, "flattened", {2, 3}, indices({2, 2}, 6), {t(1)}),
                         gather_sample(dtype, "0-d", {}, indices({}, 1), {t(1)})};
             }},
            {{"aten.one_hot.default"}, [](DType) -> Samples {
                 return {call_of("matrix", {indices({2, 3}, 5), 5}), call_of("0-d", {positions({2}, {}), 3}),
                         call_of("empty", {indices({0, 2}, 1), 3})};
             }}};
}

}  // namespace whittle::samples
