// Samples of lib/ops/aten/matmul.cpp.
#include <cmath>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Operands of `sizes_a` and `sizes_b` lying in memory in every way.
Samples in_all_layouts(DType dtype, const Sizes& sizes_a, const Sizes& sizes_b) {
    Samples result;
    const auto a = layouts(random(dtype, sizes_a, 1)), b = layouts(random(dtype, sizes_b, 2));
    for (std::size_t i = 0; i < a.size(); i++) {
        const std::size_t j = (i + 1) % b.size();
        result.push_back(call_of(a[i].first + " times " + b[j].first, {a[i].second, b[j].second}));
    }
    return result;
}

/// NaN and infinities meet numbers, zeros and each other; the extremes of integers wrap.
Sample special_rows(DType dtype, Sizes sizes_a, Sizes sizes_b) {
    const std::vector<double> odd = is_floating(dtype) ? std::vector<double>{NAN, INFINITY, -INFINITY, 0, 1, -0.0, 2, 3}
                                                       : std::vector<double>{127, -128, 100, 0, 1, -1, 2, 3};
    const auto fill = [&](const Sizes& sizes, std::size_t step) {
        std::vector<double> values(static_cast<std::size_t>(element_count(sizes)));
        for (std::size_t i = 0; i < values.size(); i++)
            values[i] = i % 3 == 2 ? 1.0 + step : odd[(i / 3 * step) % odd.size()];
        return samples::values(dtype, values, sizes);
    };
    return call_of("special", {fill(sizes_a, 1), fill(sizes_b, 3)});
}

template <int RankA, int RankB>
Samples sample_product(DType dtype) {
    const auto sizes = [](std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch) {
        Sizes a = {batch, m, k}, b = {batch, k, n};
        if (RankA < 3) a.erase(a.begin());
        if (RankA < 2) a.erase(a.begin());
        if (RankB < 3) b.erase(b.begin());
        if (RankB < 2) b.pop_back();
        return std::pair(a, b);
    };
    const auto call = [&](const char* label, std::int64_t m, std::int64_t k, std::int64_t n, std::int64_t batch) {
        const auto [a, b] = sizes(m, k, n, batch);
        return call_of(label, {random(dtype, a, 3), random(dtype, b, 4)});
    };
    const auto [a, b] = sizes(3, 4, 5, 2);
    Samples result = in_all_layouts(dtype, a, b);
    result.push_back(call_of("expanded", {expanded(random(dtype, Sizes(a.size(), 1)), a), random(dtype, b)}));
    result.push_back(special_rows(dtype, a, b));
    result.push_back(call("17x19x23", 17, 19, 23, 3));
    result.push_back(call("one", 1, 1, 1, 1));
    result.push_back(call("nothing to add", 3, 0, 2, 2));
    if (RankA > 1 || RankB > 1) result.push_back(call("empty", 0, 3, 0, 0));
    return result;
}

/// "self" under shapes that expand, alpha and beta, and beta = 0 over NaN.
template <int RankA, int RankB>
Samples sample_add(DType dtype) {
    Samples result;
    for (Sample& product : sample_product<RankA, RankB>(dtype)) {
        Sizes sizes = product.tensors[0].sizes();
        sizes.pop_back();
        if (RankB > 1) sizes.push_back(product.tensors[1].sizes().back());
        product.tensors.insert(product.tensors.begin(), random(dtype, sizes, 5));
        product.args = {t(0), t(1), t(2)};
        result.push_back(std::move(product));
    }
    const Sample first = result[0];
    const auto with = [&](const std::string& label, const Tensor& self, const Arg& beta, const Arg& alpha) {
        Sample sample = first;
        sample.label = label;
        sample.tensors[0] = self;
        sample.kwargs = {{"beta", beta}, {"alpha", alpha}};
        result.push_back(std::move(sample));
    };
    const Sizes full = first.tensors[0].sizes();
    Sizes column = full;
    column.back() = 1;
    with("self 0-d", scalar(dtype, 2), 1, 1);
    with("self row", random(dtype, {full.back()}), 1, 1);
    with("self column", random(dtype, column), 2, 1);
    with("self transposed", transposed(random(dtype, full)), 2, 3);
    with("alpha 0", random(dtype, full), 2, 0);
    if (!is_inexact(dtype)) return result;
    with("fractions", random(dtype, full), 0.5, -1.5);
    with("beta 0 over nan", values(dtype, {NAN}), 0, 1);
    with("beta 0.0 over inf", values(dtype, {INFINITY}), 0.0, 2);
    return result;
}

}  // namespace

Table matmul_table() {
    return {{{"aten.mm.default"}, sample_product<2, 2>}, {{"aten.bmm.default"}, sample_product<3, 3>},
            {{"aten.mv.default"}, sample_product<2, 1>}, {{"aten.dot.default"}, sample_product<1, 1>},
            {{"aten.addmm.default"}, sample_add<2, 2>},  {{"aten.baddbmm.default"}, sample_add<3, 3>},
            {{"aten.addmv.default"}, sample_add<2, 1>}};
}

}  // namespace whittle::samples
