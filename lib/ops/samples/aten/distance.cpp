// Samples of lib/ops/aten/distance.cpp.
#include <limits>

#include "ops/samples/families.h"
#include "ops/samples/run_op.h"

namespace whittle::samples {
namespace {

Samples sample_cdist(DType dtype) {
    Samples result;
    const auto add = [&](const std::string& label, const Sizes& a, const Sizes& b, double p) {
        result.push_back(call_of(label, {random(dtype, a, 1), random(dtype, b, 2), p}));
    };
    for (const double p : {0.0, 1.0, 2.0, 3.0, 0.5, std::numeric_limits<double>::infinity()})
        add("p " + std::to_string(p), {2, 3, 4}, {2, 5, 4}, p);
    add("broadcast", {2, 1, 3, 4}, {3, 2, 4}, 2);
    add("no features", {2, 0}, {3, 0}, 2);
    add("no rows", {0, 4}, {3, 4}, 2);
    const Tensor special = samples::special(dtype);
    const Tensor column = special.as_strided({special.numel(), 1}, {1, 1}, special.offset());
    for (const double p : {0.0, 1.0, std::numeric_limits<double>::infinity()})
        result.push_back(call_of("special, p " + std::to_string(p), {column, column, p}));
    return result;
}

/// p last, and no mode: _cdist_forward has both without defaults.
Samples sample_cdist_forward(DType dtype) {
    Samples result = sample_cdist(dtype);
    std::erase_if(result, [](const Sample& sample) { return sample.label.starts_with("special"); });
    for (Sample& sample : result) sample.args.push_back(Arg());
    return result;
}

Samples sample_euclidean(DType dtype) {
    const Tensor a = random(dtype, {2, 3, 4}), b = random(dtype, {2, 5, 4}, 2);
    return {call_of("batch", {a, b}), call_of("transposed", {transposed(a), transposed(b)}),
            call_of("rows", {random(dtype, {3, 4}), random(dtype, {2, 4}, 2)})};
}

constexpr double kExponents[] = {0, 0.5, 1, 1.5, 2, 3, std::numeric_limits<double>::infinity()};

/// Distances that are those of the rows, as p = inf asks which difference they are.
Samples sample_cdist_backward(DType dtype) {
    Samples result;
    const auto add = [&](const std::string& label, const Tensor& a, const Tensor& b, double p) {
        const Tensor distance = samples::run_op("aten.cdist.default", {a, b}, {t(0), t(1), p})[0];
        result.push_back(call_of(label, {random(dtype, distance.sizes(), 3), a, b, p, distance}));
    };
    const Tensor a = random(dtype, {2, 3, 4}), b = random(dtype, {2, 5, 4}, 2);
    for (const double p : kExponents) add("p " + std::to_string(p), a, b, p);
    add("equal rows", a, a, 2);
    const Tensor near = values(dtype, {1, 2, 3}, {1, 3}), beside = values(dtype, {1, 3, 5}, {1, 3});
    for (const double p : {0.5, 1.5}) add("an equal coordinate, p " + std::to_string(p), near, beside, p);
    add("transposed", transposed(a), transposed(b), 3);
    add("broadcast", random(dtype, {2, 1, 3, 4}), random(dtype, {3, 2, 4}, 2), 2);
    add("no features", random(dtype, {2, 0}), random(dtype, {3, 0}), 2);
    add("no rows", random(dtype, {0, 4}), random(dtype, {3, 4}), 2);
    return result;
}

Samples sample_pdist(DType dtype) {
    Samples result;
    const Tensor x = random(dtype, {5, 3});
    for (const double p : kExponents) result.push_back(call_of("p " + std::to_string(p), {x, p}));
    for (const auto& [label, laid] : other_layouts(x)) result.push_back(call_of(label, {laid, 2.0}));
    result.push_back(call_of("one row", {random(dtype, {1, 3}), 2.0}));
    result.push_back(call_of("no features", {random(dtype, {3, 0}), 2.0}));
    return result;
}

Samples sample_pdist_backward(DType dtype) {
    Samples result;
    for (const Sample& sample : sample_pdist(dtype)) {
        const Tensor& x = sample.tensors[0];
        const double p = std::get<double>(sample.args[1].value);
        const std::int64_t n = x.sizes()[0];
        const Tensor square = samples::run_op("aten.cdist.default", {x, x}, {t(0), t(1), p})[0];
        std::vector<double> each;
        for (std::int64_t i = 0; i < n; ++i)
            for (std::int64_t j = i + 1; j < n; ++j)
                each.push_back(square.values<double>()[static_cast<std::size_t>(i * n + j)]);
        const Tensor distance = values(dtype, each);
        result.push_back(call_of(sample.label, {random(dtype, distance.sizes(), 3), x, p, distance}));
    }
    return result;
}

}  // namespace

Table distance_table() {
    return {{{"aten.cdist.default"}, sample_cdist},
            {{"aten._cdist_forward.default"}, sample_cdist_forward},
            {{"aten._euclidean_dist.default"}, sample_euclidean},
            {{"aten._cdist_backward.default"}, sample_cdist_backward},
            {{"aten._pdist_forward.default"}, sample_pdist},
            {{"aten._pdist_backward.default"}, sample_pdist_backward}};
}

}  // namespace whittle::samples
