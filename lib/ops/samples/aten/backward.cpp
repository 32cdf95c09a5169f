// Samples of lib/ops/aten/backward.cpp.
#include "ops/samples/aten/shared.h"
#include "ops/samples/families.h"

namespace whittle::samples {

Samples of_gradient(DType dtype) { return of_gradient(dtype, {}); }
Samples of_gradient(DType dtype, const ArgList& rest) {
    const ArgList args = joined({t(0), t(1)}, rest);
    const Tensor grad = random(dtype, {2, 3}), y = uniform(dtype, {2, 3}, -1, 1, 2);
    const Tensor special = samples::special(dtype);
    const std::int64_t n = special.numel();
    return {{"2-d", {grad, y}, args},
            {"0-d", {random(dtype, {}), uniform(dtype, {}, -1, 1, 2)}, args},
            {"transposed", {transposed(grad), y}, args},
            {"value transposed", {grad, transposed(y)}, args},
            {"strided", {strided(grad), transposed(y)}, args},
            {"negative stride", {negative(grad), strided(y)}, args},
            {"one number", {expanded(random(dtype, {}), {2, 3}), y}, args},
            {"special",
             {special.as_strided({n, n}, {1, 0}, 0).contiguous(), special.as_strided({n, n}, {0, 1}, 0).contiguous()},
             args},
            {"empty", {random(dtype, {0, 3}), random(dtype, {0, 3})}, args}};
}

namespace {

Samples threshold_backward_samples(DType dtype) { return of_gradient(dtype, {0.25}); }
Samples gelu_backward_samples(DType dtype) {
    Samples result = of_gradient(dtype);
    for (Sample& sample : of_gradient(dtype))
        result.push_back({"tanh, " + sample.label, sample.tensors, sample.args, {{"approximate", "tanh"}}});
    return result;
}
Samples softmax_samples(DType dtype) {
    const Tensor grad = random(dtype, {2, 3}), y = uniform(dtype, {2, 3}, 0, 1, 2);
    const Tensor cube = random(dtype, {2, 5, 3}), shares = uniform(dtype, {2, 5, 3}, 0, 1, 2);
    Samples result = {{"last", {grad, y}, {t(0), t(1), 1, Arg(dtype)}},
                      {"first", {grad, y}, {t(0), t(1), 0, Arg(dtype)}},
                      {"0-d", {random(dtype, {}), scalar(dtype, 1)}, {t(0), t(1), 0, Arg(dtype)}},
                      {"empty", {random(dtype, {0, 3}), random(dtype, {0, 3})}, {t(0), t(1), -1, Arg(dtype)}},
                      {"one number", {expanded(random(dtype, {}), {2, 3}), y}, {t(0), t(1), 1, Arg(dtype)}}};
    for (const std::int64_t dim : {0, 1})
        result.push_back(
            {"transposed result, " + std::to_string(dim), {grad, transposed(y)}, {t(0), t(1), dim, Arg(dtype)}});
    for (const auto& [label, laid] : layouts(cube))
        result.push_back({"middle, " + label, {laid, shares}, {t(0), t(1), 1, Arg(dtype)}});
    return result;
}
Samples embedding_samples(DType dtype) {
    const Tensor grad = random(dtype, {2, 2, 3}), at = values(DType::i64, {1, 4, 1, 0}, {2, 2});
    const Tensor one = values(DType::i64, {3});
    Samples result = {{"all", {grad, at}, {t(0), t(1), 5, -1, false}},
                      {"padding", {grad, at}, {t(0), t(1), 5, 1, false}},
                      {"by frequency", {grad, at}, {t(0), t(1), 5, -1, true}},
                      {"transposed indices", {grad, transposed(at)}, {t(0), t(1), 5, -1, false}},
                      {"one number", {expanded(random(dtype, {}), {1, 3}), one}, {t(0), t(1), 4, -1, false}},
                      {"none", {random(dtype, {0, 3}), values(DType::i64, {})}, {t(0), t(1), 4, -1, false}}};
    for (const auto& [label, laid] : layouts(grad))
        if (label != "contiguous") result.push_back({label, {laid, at}, {t(0), t(1), 5, -1, false}});
    return result;
}
Samples select_samples(DType dtype) {
    return {{"first", {random(dtype, {4})}, {t(0), Arg::ints({3, 4}), 0, 1}},
            {"last", {random(dtype, {3})}, {t(0), Arg::ints({3, 4}), -1, -1}},
            {"one number", {expanded(random(dtype, {}), {4})}, {t(0), Arg::ints({3, 4}), -2, -3}},
            {"of a row", {random(dtype, {})}, {t(0), Arg::ints({4}), 0, 2}},
            {"transposed", {transposed(random(dtype, {2, 4}))}, {t(0), Arg::ints({2, 3, 4}), 1, 2}}};
}
Samples slice_samples(DType dtype) {
    return {{"step", {random(dtype, {2, 4})}, {t(0), Arg::ints({5, 4}), 0, 1, 5, 2}},
            {"from behind", {random(dtype, {3, 2})}, {t(0), Arg::ints({3, 4}), -1, -3, -1, 1}},
            {"beyond the end", {random(dtype, {3, 2})}, {t(0), Arg::ints({3, 4}), 1, 2, 100, 1}},
            {"nothing", {random(dtype, {3, 0})}, {t(0), Arg::ints({3, 4}), 1, 3, 3, 1}},
            {"transposed", {transposed(random(dtype, {3, 2}))}, {t(0), Arg::ints({3, 4}), 1, 0, 4, 2}},
            {"one number", {expanded(random(dtype, {}), {3, 4})}, {t(0), Arg::ints({3, 4}), 0, 0, 3, 1}}};
}
Samples unfold_samples(DType dtype) {
    return {{"overlapping", {random(dtype, {2, 3, 3})}, {t(0), Arg::ints({2, 7}), 1, 3, 2}},
            {"apart", {random(dtype, {2, 2, 2})}, {t(0), Arg::ints({7, 2}), 0, 2, 3}},
            {"from the end", {random(dtype, {2, 3, 4, 2})}, {t(0), Arg::ints({2, 4, 4}), -2, 2, 1}},
            {"0-d", {random(dtype, {1})}, {t(0), Arg::ints({}), 0, 1, 1}},
            {"transposed", {transposed(random(dtype, {2, 3, 3}))}, {t(0), Arg::ints({2, 7}), 1, 3, 2}},
            {"one number", {expanded(random(dtype, {}), {2, 3, 3})}, {t(0), Arg::ints({2, 7}), 1, 3, 2}},
            {"empty", {random(dtype, {0, 3, 3})}, {t(0), Arg::ints({0, 7}), 1, 3, 2}}};
}
Samples diagonal_samples(DType dtype) {
    return {{"main", {random(dtype, {3})}, {t(0), Arg::ints({3, 4}), 0, 0, 1}},
            {"above", {random(dtype, {2})}, {t(0), Arg::ints({3, 4}), 2, 0, 1}},
            {"below", {random(dtype, {4, 2})}, {t(0), Arg::ints({3, 4, 2}), -1, 0, 2}},
            {"of a batch", {random(dtype, {2, 2})}, {t(0), Arg::ints({2, 3, 3}), 1, -2, -1}},
            {"transposed", {transposed(random(dtype, {2, 3}))}, {t(0), Arg::ints({2, 3, 3}), 0, 1, 2}},
            {"one number", {expanded(random(dtype, {}), {3})}, {t(0), Arg::ints({3, 3}), 0, 0, 1}},
            {"outside", {random(dtype, {0})}, {t(0), Arg::ints({2, 2}), 5, 0, 1}},
            {"empty", {random(dtype, {0})}, {t(0), Arg::ints({0, 3}), 0, 0, 1}}};
}

}  // namespace

Table backward_table() {
    return {{{"aten.threshold_backward.default"}, threshold_backward_samples},
            {{"aten.sigmoid_backward.default", "aten.tanh_backward.default"}, of_gradient},
            {{"aten.gelu_backward.default"}, gelu_backward_samples},
            {{"aten._softmax_backward_data.default", "aten._log_softmax_backward_data.default"}, softmax_samples},
            {{"aten.embedding_dense_backward.default"}, embedding_samples},
            {{"aten.select_backward.default"}, select_samples},
            {{"aten.slice_backward.default"}, slice_samples},
            {{"aten.unfold_backward.default"}, unfold_samples},
            {{"aten.diagonal_backward.default"}, diagonal_samples}};
}

}  // namespace whittle::samples
