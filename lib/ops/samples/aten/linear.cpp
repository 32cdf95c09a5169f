// Samples of lib/ops/aten/linear.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Sample pair_sample(DType dtype, const Sizes& a, const Sizes& b, const ArgList& rest = {}) {
    return {
        to_string(a) + " and " + to_string(b), {random(dtype, a, 1), random(dtype, b, 2)}, joined({t(0), t(1)}, rest)};
}

Samples sample_matmul(DType dtype) {
    Samples result;
    const std::pair<Sizes, Sizes> shapes[] = {{{4}, {4}},
                                              {{3, 4}, {4}},
                                              {{4}, {4, 5}},
                                              {{3, 4}, {4, 5}},
                                              {{2, 3, 4}, {4}},
                                              {{2, 3, 4}, {4, 5}},
                                              {{4}, {2, 4, 5}},
                                              {{3, 4}, {2, 4, 5}},
                                              {{2, 3, 4}, {2, 4, 5}},
                                              {{1, 3, 4}, {2, 4, 5}},
                                              {{2, 1, 3, 4}, {3, 4, 2}},
                                              {{2, 2, 3, 4}, {2, 2, 4, 1}},
                                              {{0, 3, 4}, {4, 5}},
                                              {{2, 3, 0}, {2, 0, 5}},
                                              {{3, 0}, {0, 2}},
                                              {{0}, {0}}};
    for (const auto& [a, b] : shapes) result.push_back(pair_sample(dtype, a, b));
    const auto left = layouts(random(dtype, {2, 3, 4}, 3));
    const auto right = layouts(random(dtype, {2, 4, 5}, 4));
    for (std::size_t i = 0; i < left.size(); i++)
        result.push_back(
            call_of(left[i].first + " times its opposite", {left[i].second, right[right.size() - 1 - i].second}));
    return result;
}

Samples sample_linear(DType dtype) {
    Samples result = {pair_sample(dtype, {3, 4}, {5, 4}), pair_sample(dtype, {4}, {5, 4}),
                      pair_sample(dtype, {2, 3, 4}, {5, 4}), pair_sample(dtype, {2, 0, 4}, {5, 4}),
                      pair_sample(dtype, {3, 0}, {2, 0})};
    for (const Sizes& input : {Sizes{3, 4}, Sizes{4}, Sizes{2, 1, 3, 4}, Sizes{0, 4}}) {
        Sample sample = pair_sample(dtype, input, {5, 4}, {t(2)});
        sample.label += ", bias";
        sample.tensors.push_back(random(dtype, {5}, 3));
        result.push_back(std::move(sample));
    }
    for (const auto& [label, weight] : layouts(random(dtype, {5, 4}, 4)))
        result.push_back(call_of("weight " + label, {transposed(random(dtype, {3, 4})), weight, random(dtype, {5})}));
    return result;
}

Samples sample_outer(DType dtype) {
    return {pair_sample(dtype, {3}, {4}), pair_sample(dtype, {0}, {2}), pair_sample(dtype, {1}, {1}),
            call_of("negative stride", {negative(random(dtype, {3})), special(dtype)})};
}

Samples sample_tensordot(DType dtype) {
    const auto dims = [](const Sizes& a, const Sizes& b) { return ArgList{Arg::ints(a), Arg::ints(b)}; };
    return {pair_sample(dtype, {3, 4}, {4, 5}, dims({1}, {0})),
            pair_sample(dtype, {2, 3, 4}, {4, 5, 3}, dims({1, -1}, {-1, 0})),
            pair_sample(dtype, {2, 3}, {2, 2}, dims({}, {})), pair_sample(dtype, {3, 4}, {3, 4}, dims({0, 1}, {0, 1})),
            pair_sample(dtype, {2, 0}, {0, 3}, dims({1}, {0}))};
}

Samples sample_kron(DType dtype) {
    return {pair_sample(dtype, {2, 3}, {3, 2}), pair_sample(dtype, {2}, {2, 1, 3}), pair_sample(dtype, {}, {2, 2}),
            pair_sample(dtype, {0}, {2})};
}

/// Factors for a call that has them: whole numbers, which all dtypes have.
Sample with_factors(Sample sample, int beta, int alpha) {
    sample.label += ", factors " + std::to_string(beta) + " and " + std::to_string(alpha);
    sample.kwargs = {{"beta", Arg(beta)}, {"alpha", Arg(alpha)}};
    return sample;
}
Samples summed_samples(DType dtype, const Sizes& self, const Sizes& a, const Sizes& b) {
    const Sample plain = call_of("plain", {random(dtype, self, 3), random(dtype, a), random(dtype, b, 2)});
    Sample broadcast = plain;
    broadcast.label = "broadcast";
    broadcast.tensors[0] = random(dtype, {1, self.back()}, 4);
    Sample strided = plain;
    strided.label = "strided";
    strided.tensors[0] = samples::strided(plain.tensors[0]);
    strided.tensors[1] = samples::strided(plain.tensors[1]);
    return {plain, with_factors(plain, 2, 3), with_factors(plain, 0, 2), broadcast, strided};
}
Samples sample_addr(DType dtype) { return summed_samples(dtype, {3, 4}, {3}, {4}); }
Samples sample_addbmm(DType dtype) { return summed_samples(dtype, {3, 4}, {2, 3, 5}, {2, 5, 4}); }
Samples sample_trace(DType dtype) {
    return {call_of("square", {random(dtype, {3, 3})}), call_of("wide", {transposed(random(dtype, {5, 2}))}),
            call_of("empty", {random(dtype, {0, 2})})};
}
Samples sample_cross(DType dtype) {
    Sample rows = pair_sample(dtype, {3, 4}, {3, 1});
    rows.kwargs = {{"dim", Arg(0)}};
    return {pair_sample(dtype, {3}, {3}), pair_sample(dtype, {2, 3}, {1, 3}), rows, pair_sample(dtype, {0, 3}, {0, 3})};
}

/// Two rows that a weight of three dimensions multiplies, as bilinear() calls it.
Samples sample_trilinear(DType dtype) {
    return {call_of("bilinear", {random(dtype, {2, 3}), random(dtype, {4, 3, 5}, 2), random(dtype, {2, 5}, 3),
                                 Arg::ints({1, 3}), Arg::ints({0}), Arg::ints({1, 2}), Arg::ints({2, 3})}),
            call_of("in any order", {random(dtype, {2, 3}), random(dtype, {2, 4, 3, 5}, 2), random(dtype, {2, 4}, 3),
                                     Arg::ints({3, 1}), Arg::ints({}), Arg::ints({-1, 2}), Arg::ints({2})}),
            call_of("nothing summed", {random(dtype, {2}), random(dtype, {3}, 2), transposed(random(dtype, {2, 3}, 3)),
                                       Arg::ints({1}), Arg::ints({0}), Arg::ints({}), Arg::ints({})})};
}

}  // namespace

Table linear_table() {
    return {{{"aten.addr.default"}, sample_addr},     {{"aten.addbmm.default"}, sample_addbmm},
            {{"aten.trace.default"}, sample_trace},   {{"aten.linalg_cross.default"}, sample_cross},
            {{"aten.matmul.default"}, sample_matmul}, {{"aten.linear.default"}, sample_linear},
            {{"aten.outer.default"}, sample_outer},   {{"aten.tensordot.default"}, sample_tensordot},
            {{"aten.kron.default"}, sample_kron},     {{"aten._trilinear.default"}, sample_trilinear}};
}

}  // namespace whittle::samples
