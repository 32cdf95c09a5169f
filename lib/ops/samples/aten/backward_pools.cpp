// Samples of lib/ops/aten/backward_pools.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Sizes image(std::size_t rank, std::int64_t size) {
    Sizes sizes = {2, 2};
    sizes.resize(rank + 2, size);
    return sizes;
}

/// The operand, gradients and positions that overlap in some places; the arguments between self and indices.
Samples max_samples(DType dtype, std::size_t rank, const ArgList& between) {
    Samples result;
    const auto add = [&](const std::string& label, const Tensor& grad, const Tensor& x) {
        std::int64_t area = 1;
        for (std::size_t d = x.sizes().size() - rank; d < x.sizes().size(); ++d) area *= x.sizes()[d];
        const Tensor at = uniform(DType::i64, grad.sizes(), 0, static_cast<double>(area), 3);
        result.push_back({label, {grad, x, at}, joined(joined({t(0), t(1)}, between), {t(2)})});
    };
    const Tensor grad = random(dtype, image(rank, 2)), x = random(dtype, image(rank, 4), 2);
    Sizes none = image(rank, 2), nothing = image(rank, 4);
    none[0] = nothing[0] = 0;
    add("batch", grad, x);
    const Sizes one = image(rank, 2), whole = image(rank, 4);
    add("no batch", random(dtype, Sizes(one.begin() + 1, one.end())),
        random(dtype, Sizes(whole.begin() + 1, whole.end()), 2));
    add("transposed", transposed(grad), transposed(x));
    add("one number", expanded(random(dtype, {}), image(rank, 2)), x);
    add("empty batch", random(dtype, none), random(dtype, nothing, 2));
    return result;
}

Arg each(std::size_t rank, std::int64_t value) { return Arg::ints(Sizes(rank, value)); }

template <std::size_t Rank>
Samples max_pool_samples(DType dtype) {
    return max_samples(dtype, Rank, {each(Rank, 2), each(Rank, 2), each(Rank, 0), each(Rank, 1), false});
}
template <std::size_t Rank>
Samples adaptive_max_samples(DType dtype) {
    return max_samples(dtype, Rank, {});
}

/// Windows that overlap find the same elements.
Samples max_pool2d_samples(DType dtype) {
    Samples result = max_pool_samples<2>(dtype);
    const Tensor same =
        values(DType::i64, {5, 5, 5, 6, 5, 5, 5, 6, 9, 9, 9, 10, 5, 2, 1, 0, 11, 11, 11, 0, 1, 1, 1, 1}, {2, 3, 4});
    result.push_back(call_of("overlapping", {random(dtype, {2, 3, 4}), random(dtype, {2, 3, 4}, 2), each(2, 3),
                                             each(2, 1), each(2, 1), each(2, 1), false, same}));
    return result;
}

Samples avg_pool2d_samples(DType dtype) {
    const Tensor x = random(dtype, {1, 2, 5, 4}, 2), grad = random(dtype, {1, 2, 3, 2});
    const auto pair = [](std::int64_t value) { return each(2, value); };
    const ArgList padded = {t(0), t(1), pair(3), pair(2), pair(1), false, true, Arg()};
    return {{"padded", {grad, x}, padded},
            call_of("not counting padding", {grad, x, pair(3), pair(2), pair(1), false, false, Arg()}),
            call_of("a rest", {random(dtype, {2, 2, 2}), random(dtype, {2, 5, 4}, 2), pair(2), Arg::ints({}), pair(0),
                               false, true, Arg(3)}),
            call_of("ceil", {grad, x, pair(2), pair(2), pair(0), true, true, Arg()}),
            call_of("ceil, not counting padding",
                    {random(dtype, {1, 2, 3, 3}), x, pair(3), pair(2), pair(1), true, false, Arg()}),
            {"transposed", {transposed(grad), transposed(x)}, padded},
            {"one number", {expanded(random(dtype, {}), {1, 2, 3, 2}), x}, padded}};
}

Samples avg_pool3d_samples(DType dtype) {
    Samples result;
    const Tensor x = random(dtype, {1, 2, 5, 4, 3}, 2);
    const auto add = [&](const std::string& label, const Tensor& grad, std::int64_t kernel, const ArgList& stride,
                         std::int64_t padding, bool ceil, bool count_padding, const Arg& divisor) {
        result.push_back(
            call_of(label, {grad, x, each(3, kernel), stride, each(3, padding), ceil, count_padding, divisor}));
    };
    const Tensor padded = random(dtype, {1, 2, 3, 2, 2});
    add("padded", padded, 3, {2, 2, 2}, 1, false, true, Arg());
    add("not counting padding", padded, 3, {2, 2, 2}, 1, false, false, Arg());
    add("divisor", padded, 3, {2, 2, 2}, 1, false, true, 5);
    add("negative divisor", padded, 3, {2, 2, 2}, 1, false, false, -2);
    add("default stride", random(dtype, {1, 2, 2, 2, 1}), 2, {}, 0, false, true, Arg());
    add("ceil", random(dtype, {1, 2, 3, 2, 2}), 2, {2, 2, 2}, 0, true, true, Arg());
    add("ceil, not counting padding", random(dtype, {1, 2, 3, 3, 2}), 3, {2, 2, 2}, 1, true, false, Arg());
    add("transposed", transposed(padded), 3, {2, 2, 2}, 1, false, true, Arg());
    add("one number", expanded(random(dtype, {}), {1, 2, 3, 2, 2}), 3, {2, 2, 2}, 1, false, true, Arg());
    return result;
}

template <std::size_t Rank>
Samples adaptive_avg_samples(DType dtype) {
    Samples result;
    const Tensor x = random(dtype, image(Rank, 5), 2);
    const auto add = [&](const std::string& label, const Tensor& grad, const Tensor& of) {
        result.push_back(call_of(label, {grad, of}));
    };
    for (const std::int64_t size : {1, 3, 7}) add("to " + std::to_string(size), random(dtype, image(Rank, size)), x);
    const Sizes one = image(Rank, 2), whole = image(Rank, 5);
    add("no batch", random(dtype, Sizes(one.begin() + 1, one.end())),
        random(dtype, Sizes(whole.begin() + 1, whole.end()), 2));
    add("transposed", transposed(random(dtype, image(Rank, 3))), transposed(x));
    add("one number", expanded(random(dtype, {}), image(Rank, 3)), x);
    return result;
}

}  // namespace

Table pool_backward_table() {
    return {{{"aten.max_pool2d_with_indices_backward.default"}, max_pool2d_samples},
            {{"aten.max_pool3d_with_indices_backward.default"}, max_pool_samples<3>},
            {{"aten.adaptive_max_pool2d_backward.default"}, adaptive_max_samples<2>},
            {{"aten.adaptive_max_pool3d_backward.default"}, adaptive_max_samples<3>},
            {{"aten.avg_pool2d_backward.default"}, avg_pool2d_samples},
            {{"aten.avg_pool3d_backward.default"}, avg_pool3d_samples},
            {{"aten._adaptive_avg_pool2d_backward.default"}, adaptive_avg_samples<2>},
            {{"aten._adaptive_avg_pool3d_backward.default"}, adaptive_avg_samples<3>}};
}

}  // namespace whittle::samples
