// Samples of lib/ops/aten/embedding_bag.cpp.
#include <limits>

#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

constexpr std::int64_t kBagSum = 0, kBagMean = 1, kBagMax = 2;  // at::native::MODE_SUM …

Tensor sample_weights(DType dtype) { return uniform(dtype, {6}, 0.5, 2, 3); }

Tensor table(DType dtype) { return random(dtype, {5, 3}); }
Tensor starts() { return integers({0, 3, 3}); }  ///< one bag is empty

Tensor words() { return integers({1, 4, 2, 4, 0, 2}); }

/// op(weight, indices, offsets, scale_grad_by_freq, mode, sparse, per_sample_weights, include_last_offset) …
Samples bag_samples(DType dtype, bool padded) {
    Samples result;
    const auto call = [&](const std::string& label, const std::vector<Tensor>& tensors, std::int64_t mode,
                          bool last = false, std::int64_t padding = -1, bool by_frequency = false) {
        Sample sample{label, tensors, {t(0), t(1), t(2), by_frequency, mode, false}};
        sample.args.push_back(tensors.size() > 3 ? t(3) : Arg());
        sample.args.emplace_back(last);
        if (padded) sample.args.emplace_back(padding);
        result.push_back(std::move(sample));
    };
    const std::vector<Tensor> plain = {table(dtype), words(), starts()};
    const char* names[] = {"sum", "mean", "max"};
    for (const std::int64_t mode : {kBagSum, kBagMean, kBagMax}) {
        call(names[mode], plain, mode);
        call(names[mode] + std::string(", transposed, i32"),
             {transposed(table(dtype)), words().to(DType::i32), starts().to(DType::i32)}, mode);
        call(names[mode] + std::string(", no indices"), {table(dtype), integers({}), integers({0, 0})}, mode);
        if (padded) call(names[mode] + std::string(", padding"), plain, mode, false, 4);
    }
    std::vector<double> holes =
        table(dtype).values<double>();  // first of a bag, later, or one here and the other there
    for (const std::size_t at : {3, 7, 14}) holes[at] = std::numeric_limits<double>::quiet_NaN();
    call("max, NaN", {values(dtype, holes, {5, 3}), words(), starts()}, kBagMax);
    call("mean, last offset", {table(dtype), words(), integers({0, 3, 3, 6})}, kBagMean, true);
    call("mean, by frequency", plain, kBagMean, false, -1, true);
    call("weights", {table(dtype), words(), starts(), sample_weights(dtype)}, kBagSum);
    if (padded) call("weights, padding", {table(dtype), words(), starts(), sample_weights(dtype)}, kBagSum, false, 2);
    return result;
}

Samples embedding_bag_samples(DType dtype) { return bag_samples(dtype, false); }
Samples padded_samples(DType dtype) {
    Samples result = bag_samples(dtype, true);
    for (Sample& sample : result)
        if (sample.args.back() == Arg(-1)) sample.args.back() = Arg();
    return result;
}
Samples core_samples(DType dtype) {
    Samples result = bag_samples(dtype, true);
    result.push_back(call_of("sum, last offset",
                             {table(dtype), words(), integers({0, 3, 3, 6}), false, kBagSum, false, Arg(), true, -1}));
    return result;
}

/// (grad, indices, offset2bag, bag_size, maximum_indices, num_weights, scale_grad_by_freq, mode, weights, padding)
Samples dense_backward_samples(DType dtype) {
    const Tensor grad = random(dtype, {3, 3}, 5), bag = integers({0, 0, 0, 2, 2, 2}), counts = integers({3, 0, 3});
    const Tensor most = values(DType::i64, {1, 4, 2, 0, 0, 0, 4, 0, 2}, {3, 3});
    const std::vector<Tensor> sums = {grad, words(), bag, counts, counts}, maxima = {grad, words(), bag, counts, most};
    const auto args = [](std::int64_t mode, bool by_frequency, const Arg& weights, std::int64_t padding) {
        return ArgList{t(0), t(1), t(2), t(3), t(4), 5, by_frequency, mode, weights, padding};
    };
    std::vector<Tensor> weighted = sums, laid = sums;
    weighted.push_back(sample_weights(dtype));
    laid[0] = transposed(grad);
    return {{"sum", sums, args(kBagSum, false, Arg(), -1)},
            {"sum, transposed", laid, args(kBagSum, false, Arg(), -1)},
            {"mean", sums, args(kBagMean, false, Arg(), -1)},
            {"mean, by frequency, padding", sums, args(kBagMean, true, Arg(), 0)},
            {"weights", weighted, args(kBagSum, false, t(5), -1)},
            {"max", maxima, args(kBagMax, false, Arg(), -1)}};
}

/// (grad, indices, offsets, offset2bag, …)
Samples bag_backward_samples(DType dtype) {
    Samples result = dense_backward_samples(dtype);
    for (Sample& sample : result) {
        sample.tensors.push_back(starts());
        sample.args.insert(sample.args.begin() + 2, t(static_cast<int>(sample.tensors.size()) - 1));
        sample.args.insert(sample.args.begin() + 9, Arg(false));
    }
    result.push_back(result.front());
    result.back().label = "bags left out";
    result.back().tensors[2] = integers({});
    return result;
}
Samples weights_backward_samples(DType dtype) {
    const Tensor grad = random(dtype, {3, 3}, 5), bag = integers({0, 0, 0, 2, 2, 2});
    return {call_of("all", {grad, table(dtype), words(), starts(), bag, kBagSum, -1}),
            call_of("padding, transposed", {transposed(grad), table(dtype), words(), starts(), bag, kBagSum, 4}),
            call_of("bags left out", {grad, table(dtype), words(), starts(), integers({}), kBagSum, -1})};
}

}  // namespace

Table embedding_bag_table() {
    return {{{"aten._embedding_bag.default", "aten._embedding_bag_forward_only.default"}, core_samples},
            {{"aten.embedding_bag.default"}, embedding_bag_samples},
            {{"aten.embedding_bag.padding_idx"}, padded_samples},
            {{"aten._embedding_bag_dense_backward.default"}, dense_backward_samples},
            {{"aten._embedding_bag_backward.default"}, bag_backward_samples},
            {{"aten._embedding_bag_per_sample_weights_backward.default"}, weights_backward_samples}};
}

}  // namespace whittle::samples
