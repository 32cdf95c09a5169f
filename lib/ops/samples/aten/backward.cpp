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
    Samples result = {call_of("last", {grad, y, 1, Arg(dtype)}), call_of("first", {grad, y, 0, Arg(dtype)}),
                      call_of("0-d", {random(dtype, {}), scalar(dtype, 1), 0, Arg(dtype)}),
                      call_of("empty", {random(dtype, {0, 3}), random(dtype, {0, 3}), -1, Arg(dtype)}),
                      call_of("one number", {expanded(random(dtype, {}), {2, 3}), y, 1, Arg(dtype)})};
    for (const std::int64_t dim : {0, 1})
        result.push_back(call_of("transposed result, " + std::to_string(dim), {grad, transposed(y), dim, Arg(dtype)}));
    for (const auto& [label, laid] : layouts(cube))
        result.push_back(call_of("middle, " + label, {laid, shares, 1, Arg(dtype)}));
    return result;
}
Samples embedding_samples(DType dtype) {
    const Tensor grad = random(dtype, {2, 2, 3}), at = values(DType::i64, {1, 4, 1, 0}, {2, 2});
    const Tensor one = values(DType::i64, {3});
    Samples result = {call_of("all", {grad, at, 5, -1, false}),
                      call_of("padding", {grad, at, 5, 1, false}),
                      call_of("by frequency", {grad, at, 5, -1, true}),
                      call_of("transposed indices", {grad, transposed(at), 5, -1, false}),
                      call_of("one number", {expanded(random(dtype, {}), {1, 3}), one, 4, -1, false}),
                      call_of("none", {random(dtype, {0, 3}), values(DType::i64, {}), 4, -1, false})};
    for (const auto& [label, laid] : other_layouts(grad)) result.push_back(call_of(label, {laid, at, 5, -1, false}));
    return result;
}
Samples select_samples(DType dtype) {
    return {call_of("first", {random(dtype, {4}), Arg::ints({3, 4}), 0, 1}),
            call_of("last", {random(dtype, {3}), Arg::ints({3, 4}), -1, -1}),
            call_of("one number", {expanded(random(dtype, {}), {4}), Arg::ints({3, 4}), -2, -3}),
            call_of("of a row", {random(dtype, {}), Arg::ints({4}), 0, 2}),
            call_of("transposed", {transposed(random(dtype, {2, 4})), Arg::ints({2, 3, 4}), 1, 2})};
}
Samples slice_samples(DType dtype) {
    return {call_of("step", {random(dtype, {2, 4}), Arg::ints({5, 4}), 0, 1, 5, 2}),
            call_of("from behind", {random(dtype, {3, 2}), Arg::ints({3, 4}), -1, -3, -1, 1}),
            call_of("beyond the end", {random(dtype, {3, 2}), Arg::ints({3, 4}), 1, 2, 100, 1}),
            call_of("nothing", {random(dtype, {3, 0}), Arg::ints({3, 4}), 1, 3, 3, 1}),
            call_of("transposed", {transposed(random(dtype, {3, 2})), Arg::ints({3, 4}), 1, 0, 4, 2}),
            call_of("one number", {expanded(random(dtype, {}), {3, 4}), Arg::ints({3, 4}), 0, 0, 3, 1})};
}
Samples unfold_samples(DType dtype) {
    return {call_of("overlapping", {random(dtype, {2, 3, 3}), Arg::ints({2, 7}), 1, 3, 2}),
            call_of("apart", {random(dtype, {2, 2, 2}), Arg::ints({7, 2}), 0, 2, 3}),
            call_of("from the end", {random(dtype, {2, 3, 4, 2}), Arg::ints({2, 4, 4}), -2, 2, 1}),
            call_of("0-d", {random(dtype, {1}), Arg::ints({}), 0, 1, 1}),
            call_of("transposed", {transposed(random(dtype, {2, 3, 3})), Arg::ints({2, 7}), 1, 3, 2}),
            call_of("one number", {expanded(random(dtype, {}), {2, 3, 3}), Arg::ints({2, 7}), 1, 3, 2}),
            call_of("empty", {random(dtype, {0, 3, 3}), Arg::ints({0, 7}), 1, 3, 2})};
}
Samples diagonal_samples(DType dtype) {
    return {call_of("main", {random(dtype, {3}), Arg::ints({3, 4}), 0, 0, 1}),
            call_of("above", {random(dtype, {2}), Arg::ints({3, 4}), 2, 0, 1}),
            call_of("below", {random(dtype, {4, 2}), Arg::ints({3, 4, 2}), -1, 0, 2}),
            call_of("of a batch", {random(dtype, {2, 2}), Arg::ints({2, 3, 3}), 1, -2, -1}),
            call_of("transposed", {transposed(random(dtype, {2, 3})), Arg::ints({2, 3, 3}), 0, 1, 2}),
            call_of("one number", {expanded(random(dtype, {}), {3}), Arg::ints({3, 3}), 0, 0, 1}),
            call_of("outside", {random(dtype, {0}), Arg::ints({2, 2}), 5, 0, 1}),
            call_of("empty", {random(dtype, {0}), Arg::ints({0, 3}), 0, 0, 1})};
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
