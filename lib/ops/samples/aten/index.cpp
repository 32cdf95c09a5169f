// Samples of lib/ops/aten/index.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// op(tensors[0], [tensors 1 … at the dimensions where `indices` is not negative], rest...).
Sample index_sample(const std::string& label, std::vector<Tensor> tensors, const std::vector<int>& indices,
                    const ArgList& rest = {}) {
    ArgList list;
    for (const int index : indices) list.push_back(index < 0 ? Arg() : t(index));
    return {.label = label, .tensors = std::move(tensors), .args = joined({t(0), Arg(list)}, rest)};
}

Samples index_samples(DType dtype) {
    const Tensor cube = mixed(dtype, {3, 4, 5});
    Samples result = {
        index_sample("first dim", {cube, indices({6}, 3)}, {1}),
        index_sample("last dim", {cube, indices({2, 3}, 5)}, {-1, -1, 1}),
        index_sample("neighbours broadcast", {cube, indices({2, 1}, 4), indices({3}, 5)}, {-1, 1, 2}),
        index_sample("apart", {cube, indices({2}, 3), indices({2}, 5)}, {1, -1, 2}),
        index_sample("all", {cube, indices({2}, 3), indices({2}, 4), indices({2}, 5)}, {1, 2, 3}),
        index_sample("negative positions", {cube, positions({-1, -3, 0}, {3}).to(DType::i32)}, {1}),
        index_sample("0-d position", {cube, positions({2}, {})}, {-1, 1}),
        index_sample("empty", {cube, indices({0}, 1)}, {-1, 1}),
    };
    for (auto& [layout, tensor] : layouts(cube))
        result.push_back(index_sample("layout, " + layout, {tensor, indices({2}, 4)}, {-1, 1}));
    return result;
}

Samples index_put_samples(DType dtype) {
    const Tensor matrix = mixed(dtype, {4, 3});
    const Tensor mask = Tensor::of(std::vector<bool>{true, false, false, true}, {4});
    Samples result = {
        index_sample("one value", {matrix, positions({1, -1}, {2}), ramp(dtype, {})}, {1}, {t(2)}),
        index_sample("special values", {mixed(dtype, {4}), positions({0, 2, 0}, {3}), mixed(dtype, {3})}, {1}, {t(2)}),
        index_sample("mask", {matrix, mask, mixed(dtype, {1})}, {1}, {t(2)}),
        index_sample("mask of the last dim", {transposed(mixed(dtype, {2, 4})), mask, ramp(dtype, {})}, {-1, 1},
                     {t(2)}),
        index_sample("empty", {matrix, indices({0}, 1), ramp(dtype, {1, 1})}, {1}, {t(2)}),
    };
    for (const bool accumulate : {false, true}) {
        const std::string suffix = accumulate ? ", accumulated" : "";
        result.push_back(index_sample("duplicates" + suffix, {transposed(matrix), indices({6}, 4), ramp(dtype, {6, 3})},
                                      {1}, {t(2), accumulate}));
        result.push_back(
            index_sample("columns" + suffix, {matrix, indices({5}, 3), ramp(dtype, {5})}, {-1, 1}, {t(2), accumulate}));
        result.push_back(index_sample("apart" + suffix,
                                      {mixed(dtype, {2, 3, 2}), indices({2}, 2), indices({2}, 2), ramp(dtype, {2, 1})},
                                      {1, -1, 2}, {t(3), accumulate}));
    }
    return result;
}

Samples put_samples(DType dtype) {
    const auto sample = [](const std::string& label, std::vector<Tensor> tensors, const ArgList& rest = {}) {
        return Sample{.label = label, .tensors = std::move(tensors), .args = joined({t(0), t(1), t(2)}, rest)};
    };
    const Tensor matrix = mixed(dtype, {3, 4});
    return {
        sample("from both ends", {matrix, positions({5, -1, 0}, {3}), ramp(dtype, {3})}),
        sample("other sizes", {transposed(matrix), positions({1, 11, 4, 7}, {2, 2}), mixed(dtype, {4, 1})}),
        sample("accumulated", {matrix, positions({2, 2, -10, 3}, {4}), ramp(dtype, {4})}, {true}),
        sample("0-d", {mixed(dtype, {}), positions({0}, {}), ramp(dtype, {1})}),
        sample("empty", {matrix, positions({}, {0}), ramp(dtype, {0})}),
    };
}

}  // namespace

Table index_table() {
    return {{{"aten.index.Tensor"}, index_samples},
            {{"aten.index_put.default"}, index_put_samples},
            {{"aten.put.default"}, put_samples}};
}

}  // namespace whittle::samples
