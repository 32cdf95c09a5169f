// Samples of lib/ops/aten/ctc.cpp.
#include <limits>

#include "ops/aten/losses.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Tensor labels_of(const std::vector<double>& labels, Sizes sizes) {
    return values(DType::i64, labels, std::move(sizes));
}

/// As log_softmax gives them, near enough: every class of every step is possible.
Tensor scores_of(DType dtype, Sizes sizes) { return uniform(dtype, std::move(sizes), -2, -0.5, 7); }

/// op(log_probs, targets, input_lengths, target_lengths, blank …): sequences that are all as long as there is room for,
/// because LibTorch leaves log_alpha beyond them to whatever lay in memory.
Samples full_length_samples(DType dtype) {
    const Tensor x = scores_of(dtype, {4, 2, 3}), repeated = labels_of({1, 1, 2, 1}, {2, 2});
    const auto args = [](const Sizes& steps, const Sizes& labels, std::int64_t blank = 0) {
        return ArgList{t(0), t(1), Arg::ints(steps), Arg::ints(labels), blank};
    };
    return {{"two", {x, repeated}, args({4, 4}, {2, 2})},
            {"transposed", {transposed(x), transposed(repeated)}, args({4, 4}, {2, 2})},
            {"in a row", {x, labels_of({1, 1, 2, 1}, {4})}, args({4, 4}, {2, 2})},
            {"last class blank", {x, labels_of({0, 1, 1, 0}, {2, 2})}, args({4, 4}, {2, 2}, 2)},
            {"one label", {x, labels_of({1, 2}, {2, 1})}, args({4, 4}, {1, 1})},
            {"wide table", {x, labels_of({1, 1, 9, 2, 1, 9}, {2, 3})}, args({4, 4}, {2, 2})},
            {"one step", {scores_of(dtype, {1, 2, 3}), labels_of({1, 2}, {2, 1})}, args({1, 1}, {1, 1})},
            {"impossible", {scores_of(dtype, {2, 1, 3}), labels_of({1, 1}, {1, 2})}, args({2}, {2})}};
}

/// With other lengths, too.
Samples ctc_loss_samples(DType dtype) {
    Samples result = full_length_samples(dtype);
    const Tensor x = scores_of(dtype, {5, 3, 4}), labels = labels_of({1, 2, 3, 3, 1, 0, 2, 0, 0}, {3, 3});
    const auto add = [&](const std::string& label, const std::vector<Tensor>& tensors, const Sizes& steps,
                         const Sizes& counts, std::int64_t reduction, bool zero = false) {
        result.push_back({label, tensors, {t(0), t(1), Arg::ints(steps), Arg::ints(counts), 0, reduction, zero}});
    };
    add("lengths", {x, labels}, {5, 4, 2}, {3, 2, 1}, kMean);
    add("lengths, none", {x, labels}, {5, 4, 2}, {3, 2, 1}, kNone);
    add("lengths, sum, in a row", {x, labels_of({1, 2, 3, 3, 1, 2}, {6})}, {3, 5, 4}, {3, 2, 1}, kSum);
    add("no labels", {x, labels}, {5, 4, 2}, {3, 0, 1}, kMean);
    add("impossible, zero", {x, labels}, {2, 4, 5}, {3, 2, 1}, kNone, true);
    add("impossible, infinite", {x, labels}, {2, 4, 5}, {3, 2, 1}, kNone);
    add("lengths, wide table", {x, labels_of({1, 2, 9, 3, 9, 9, 2, 9, 9}, {3, 3})}, {5, 4, 2}, {2, 1, 1}, kMean);
    for (const DType other : {DType::i32, DType::u8, dtype})
        add(std::string("labels of ") + (other == dtype ? "floats" : name(other).data()), {x, labels.to(other)},
            {5, 4, 2}, {3, 2, 1}, kSum);
    add("no batch", {scores_of(dtype, {5, 4}), labels_of({1, 2}, {2})}, {5}, {2}, kNone);
    return result;
}

/// (grad, log_probs, targets, input_lengths, target_lengths, neg_log_likelihood, log_alpha, blank, zero_infinity), of
/// any numbers in the place of what the forward pass gave.
Samples ctc_backward_samples(DType dtype) {
    const Tensor x = scores_of(dtype, {4, 2, 3}), repeated = labels_of({1, 1, 2, 1}, {2, 2});
    const Tensor grad = uniform(dtype, {2}, 0.5, 1.5), nll = uniform(dtype, {2}, 3, 5, 2);
    const Tensor alpha = uniform(dtype, {2, 4, 5}, -6, -3, 3);
    const auto args = [](const Sizes& steps, const Sizes& labels, bool zero) {
        return ArgList{t(0), t(1), t(2), Arg::ints(steps), Arg::ints(labels), t(3), t(4), 0, zero};
    };
    Tensor impossible = values(dtype, {4, std::numeric_limits<double>::infinity()});
    return {{"two", {grad, x, repeated, nll, alpha}, args({4, 4}, {2, 2}, false)},
            {"lengths", {grad, x, repeated, nll, alpha}, args({4, 3}, {2, 1}, false)},
            {"wide table", {grad, x, labels_of({1, 1, 9, 2, 1, 9}, {2, 3}), nll, alpha}, args({4, 3}, {2, 1}, false)},
            {"in a row", {grad, x, labels_of({1, 1, 2}, {3}), nll, alpha}, args({3, 4}, {2, 1}, false)},
            {"transposed",
             {expanded(scalar(dtype, 1), {2}), transposed(x), repeated, nll, alpha},
             args({4, 4}, {2, 2}, false)},
            {"impossible, zero", {grad, x, repeated, impossible, alpha}, args({4, 4}, {2, 2}, true)}};
}

}  // namespace

Table ctc_table() {
    return {{{"aten._ctc_loss.default"}, full_length_samples},
            {{"aten._ctc_loss_backward.default"}, ctc_backward_samples},
            {{"aten.ctc_loss.IntList"}, ctc_loss_samples}};
}

}  // namespace whittle::samples
