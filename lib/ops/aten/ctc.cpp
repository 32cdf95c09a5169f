// Connectionist temporal classification: how likely a sequence of labels is, whichever steps they stand at, by the
// forward and backward recursions of Graves et al. 2006 in logarithms. A place is a label or a blank before, between or
// behind labels, so that S labels have 2 S + 1 places; the recursion runs over steps, for all places and sequences at
// once. Lengths are numbers of the call.
// https://www.cs.toronto.edu/~graves/icml_2006.pdf, https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html
#include <algorithm>
#include <limits>

#include "base/checked.h"
#include "base/error.h"
#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/losses.h"
#include "ops/core/elements.h"
#include "ops/core/open_rules.h"

namespace whittle {
namespace {

using namespace aten;

constexpr double kLogZero = -std::numeric_limits<double>::infinity();  // the logarithm of 0

/// A call: scores [steps, batch, classes], and per sequence its number of steps and labels.
struct Ctc {
    explicit Ctc(const Call& a) : c(a), scores(a.tensor("log_probs")) {
        const std::string& op = a.schema().name;
        const Sizes& sizes = scores.sizes();
        if (sizes.size() != 3)
            throw Error(op + ": found log_probs of sizes " + to_string(sizes) + ", expected [steps, batch, classes]");
        steps = sizes[0], batch = sizes[1], classes = sizes[2], dtype = scores.dtype(), blank = a.integer("blank");
        input_lengths = a.integers("input_lengths"), target_lengths = a.integers("target_lengths");
        if (blank < 0 || blank >= classes)
            throw Error(op + ": found blank=" + std::to_string(blank) + ", expected at least 0 and less than " +
                        std::to_string(classes) + ", the number of classes");
        const auto check = [&](const Ints& lengths, const char* what, std::int64_t most) {
            const bool fit = std::ranges::all_of(lengths, [&](std::int64_t n) { return n >= 0 && n <= most; });
            if (static_cast<std::int64_t>(lengths.size()) != batch || !fit)
                throw Error(op + ": found " + what + "=" + to_string(lengths) + ", expected " + std::to_string(batch) +
                            " lengths from 0 to " + std::to_string(most));
        };
        check(input_lengths, "input_lengths", steps);
        const ValueMeta& targets = a.tensor("targets").meta;
        check_index_dtype(targets.dtype, op);
        const bool joined = targets.sizes.size() == 1;
        if (!joined && (targets.sizes.size() != 2 || targets.sizes[0] != batch))
            throw Error(op + ": found targets of sizes " + to_string(targets.sizes) + ", expected [" +
                        std::to_string(batch) + ", longest target], or 1 dimension that joins all targets");
        check(target_lengths, "target_lengths", targets.sizes.back());
        Checked total = 0;
        for (const std::int64_t n : target_lengths) total += n;
        if (joined && total != targets.sizes[0])
            throw Error(op + ": found targets of sizes " + to_string(targets.sizes) + ", expected [" +
                        std::to_string(total.value()) + "], the sum of target_lengths");
        labels = batch == 0 ? 0 : std::ranges::max(target_lengths);  // a wider table has columns that nobody reads
        places = 2 * labels + 1;
        read_labels(a.tensor("targets"), joined);
    }

    V never(const Sizes& sizes) const { return full(c.builder(), sizes, kLogZero, dtype); }
    /// A constant that differs by sequence.
    V by_sequence(const Ints& values, Sizes sizes) const {
        return c.constant(Tensor::of(values, std::move(sizes)), "lengths");
    }
    V step(const V& x, std::int64_t at) const { return select(x, 0, at); }
    /// [batch, places]: where places of sequences that are that long are.
    V is_place(std::int64_t beyond) const {
        Ints counts;
        for (const std::int64_t n : target_lengths) counts.push_back(2 * n + beyond);
        const V range = arange(c.builder(), places, DType::i64);
        return lt(range, by_sequence(counts, {batch, 1}));
    }
    /// [batch, places]: the last two places of each sequence, where a path may end (of no label there is one).
    V is_end() const {
        const V before = is_place(-1);
        return logical_and(is_place(1), logical_not(before));
    }
    /// Whether the step is one of the sequence's, [batch, 1].
    V has_step(std::int64_t at) const { return gt(by_sequence(input_lengths, {batch, 1}), at); }
    bool all_have_step(std::int64_t at) const {
        return std::ranges::all_of(input_lengths, [&](std::int64_t n) { return n > at; });
    }
    /// Places moved by so many, towards the end or the beginning: nothing comes from outside.
    V moved(const V& x, std::int64_t by) const {
        const std::int64_t width = std::min(std::abs(by), places);
        const V none = never({batch, width});
        if (width == places) return none;
        const V kept = by > 0 ? sliced(x, 1, 0, places - width) : sliced(x, 1, width, places);
        return cat(by > 0 ? Vs{none, kept} : Vs{kept, none}, 1);
    }
    /// log(exp(x) + exp(y) + …), of nothing but impossible ones impossible.
    V log_sum(const Vs& terms) const {
        const V all = stack(terms);
        return logsumexp(all, Ints{0});
    }
    V lasting(const V& x, const V& moved_one, const V& moved_two) const {
        return log_sum({x, moved_one, where(skips, moved_two, never({batch, places}))});
    }
    /// Of the places in reverse, the same: what is skipped is the place two further on.
    V lasting_back(const V& x) const {
        const V two = moved(x, -2);
        V may = sliced(skips, 1, std::min<std::int64_t>(2, places), places);
        const V rest = full(c.builder(), Ints{batch, std::min<std::int64_t>(2, places)}, false, DType::boolean);
        may = cat(Vs{may, rest}, 1);
        return log_sum({x, moved(x, -1), where(may, two, never({batch, places}))});
    }

    const Call& c;
    V scores, classes_at, skips;  ///< [batch, places]: the class; whether the label two before is another
    V emitted;                    ///< [steps, batch, places]: the score of the class there
    Ints input_lengths, target_lengths;
    std::int64_t steps = 0, batch = 0, classes = 0, labels = 0, places = 1, blank = 0;
    DType dtype = DType::f32;

  private:
    /// From [batch, labels], or from all of them in a row.
    void read_labels(const V& targets, bool joined) {
        V table = joined ? targets : sliced(targets, 1, 0, labels);
        if (joined) {  // where each is; labels that a sequence does not have are any
            Ints at;
            std::int64_t begin = 0;
            for (const std::int64_t n : target_lengths) {
                for (std::int64_t i = 0; i < labels; ++i) at.push_back(i < n ? begin + i : 0);
                begin += n;
            }
            table = take(targets, by_sequence(at, {batch, labels}));
        }
        // LibTorch does not look at labels beyond the length: they may be no classes.
        Ints real;
        for (const std::int64_t n : target_lengths)
            for (std::int64_t i = 0; i < labels; ++i) real.push_back(i < n);
        const V is_real = ne(by_sequence(real, {batch, labels}), 0);
        table = where(is_real, as(table, DType::i64), blank);
        const V blanks = full(c.builder(), Ints{batch, labels}, blank, DType::i64),
                last = full(c.builder(), Ints{batch, 1}, blank, DType::i64);
        const V pairs = stack(Vs{blanks, table}, 2);
        classes_at = cat(Vs{reshape(pairs, {batch, 2 * labels}), last}, 1);
        skips = full(c.builder(), Ints{batch, std::min<std::int64_t>(2, places)}, false, DType::boolean);
        if (places > 2) {
            const V other = ne(sliced(classes_at, 1, 2, places), sliced(classes_at, 1, 0, places - 2));
            skips = cat(Vs{skips, other}, 1);
        }
        const V at = expand(classes_at, Ints{steps, batch, places});
        emitted = gather(scores, 2, at);
    }
};

/// Before the first step nothing was said, which is one place before the first: only blank or the first label begin.
V first_alpha(const Ctc& s) {
    const V range = arange(s.c.builder(), s.places, DType::i64);
    const V begins = logical_and(lt(range, 2), s.is_place(1));
    return where(begins, s.step(s.emitted, 0), s.never({s.batch, s.places}));
}

/// The negative logarithm of the likelihood of each sequence, and that of its beginnings: [batch, steps, places].
CallResults decompose_ctc_loss(const Call& c) {
    const Ctc s(c);
    if (s.steps == 0) throw Error("_ctc_loss: found log_probs with 0 steps, expected at least 1");
    Vs alphas = {first_alpha(s)};
    V final = alphas[0];  // of each sequence, at its last step
    for (std::int64_t t = 1; t < s.steps; ++t) {
        const V& x = alphas.back();
        const V next = s.lasting(x, s.moved(x, 1), s.moved(x, 2)) + s.step(s.emitted, t);
        alphas.push_back(next);
        final = s.all_have_step(t) ? next : where(s.has_step(t), next, final);
    }
    const V ends = where(s.is_end(), final, s.never({s.batch, s.places}));
    V likelihood = logsumexp(ends, Ints{1});
    if (!s.all_have_step(0)) {  // without steps only no labels are likely
        Ints possible;
        for (const std::int64_t n : s.target_lengths) possible.push_back(n == 0);
        const V empty = where(ne(s.by_sequence(possible, {s.batch}), 0), 0.0, s.never({s.batch}));
        likelihood = where(reshaped(s.has_step(0), Ints{s.batch}), likelihood, empty);
    }
    return {-likelihood, stack(alphas, 1)};
}

/// exp(score) less the share of the paths that are in the class at the step, of the scores that a log_softmax made: as
/// LibTorch has it, whose gradient is right behind log_softmax only. Steps beyond the sequence have none.
CallResults ctc_loss_backward(const Call& c) {
    const Ctc s(c);
    const V alphas = c.tensor("log_alpha"), nll = c.tensor("neg_log_likelihood"), grad = c.tensor("grad");
    Vs shares(static_cast<std::size_t>(s.steps));  // by step: [batch, classes] in logarithms
    const V none = s.never({s.batch, s.places}), is_place = s.is_place(1), is_end = s.is_end();
    const V range = arange(c.builder(), s.classes, DType::i64);
    const V is_class = eq(unsqueeze(s.classes_at, 2), range);
    const V nowhere = s.never({s.batch, s.places, s.classes});
    V beta = none;
    for (std::int64_t t = s.steps - 1; t >= 0; --t) {
        const V score = s.step(s.emitted, t), last = where(is_end, score, none);
        Ints ends;
        for (const std::int64_t n : s.input_lengths) ends.push_back(n == t + 1);
        const V is_last = ne(s.by_sequence(ends, {s.batch, 1}), 0);
        const V later = where(is_place, s.lasting_back(beta) + score, none);
        beta = t == s.steps - 1 && s.all_have_step(t) ? last : where(is_last, last, later);
        const V alpha = select(alphas, 1, t);
        const V paths = where(is_place, alpha + beta, none);
        const V spread = where(is_class, unsqueeze(paths, 2), nowhere);
        shares[static_cast<std::size_t>(t)] = logsumexp(spread, Ints{1});
    }
    const V all = stack(shares);
    const auto column = [&](const V& x) { return reshaped(x, Ints{1, s.batch, 1}); };
    const V path = exp(all + column(nll) - s.scores);
    V result = (exp(s.scores) - path) * column(grad);
    Ints counted;  // steps that are none of the sequence's
    for (std::int64_t t = 0; t < s.steps; ++t)
        for (const std::int64_t n : s.input_lengths) counted.push_back(t >= n);
    if (!s.all_have_step(s.steps - 1)) result = drop(ne(s.by_sequence(counted, {s.steps, s.batch, 1}), 0), result);
    if (c.boolean("zero_infinity")) result = drop(eq(column(nll), -kLogZero), result);
    return result;
}

/// Their mean is of the losses per label.
CallResults ctc_loss_of_program(const Call& c) {
    const V scores = c.tensor("log_probs");
    const bool batched = scores.sizes().size() == 3;
    const V log_probs = batched ? scores : unsqueeze(scores, 1);
    const V targets = as(c.tensor("targets"), DType::i64);  // as LibTorch, of any dtype
    const bool zero = c.boolean("zero_infinity");
    const Ints lengths = c.integers("target_lengths");
    V losses = _ctc_loss(log_probs, targets, c.integers("input_lengths"), lengths, c.integer("blank"), zero)[0];
    if (zero) losses = drop(eq(losses, -kLogZero), losses);
    const std::int64_t reduction = c.integer("reduction");
    if (reduction == kSum) return sum(losses);
    if (reduction == kNone) return batched ? losses : squeeze(losses, 0);
    std::vector<double> divisors;
    for (const std::int64_t n : lengths) divisors.push_back(static_cast<double>(std::max<std::int64_t>(n, 1)));
    const Tensor divisor = Tensor::of(divisors, losses.sizes()).to(losses.dtype());
    return mean(losses / c.constant(divisor, "lengths"));
}

void ctc_grad(Gradients& c) {
    const Call& a = c;
    c.set("log_probs", _ctc_loss_backward(c.grad(), c.tensor("log_probs"), c.tensor("targets"),
                                          a.integers("input_lengths"), a.integers("target_lengths"), c.result(0),
                                          c.result(1), a.integer("blank"), a.boolean("zero_infinity")));
}

/// LibTorch has none either.
void ctc_backward_grad(Gradients&) {
    throw Error("_ctc_loss_backward has no gradient rule",
                "compute first derivatives only: the loss can be differentiated once");
}

constexpr DTypeSet kLikelihoods = set_of(DType::f64) | set_of(DType::f32);

/// Of ctc_loss: targets are classes of `log_probs`, and none is the blank one.
/// https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html. Padding behind a row's length is not read.
Reason open_ctc_targets(std::string_view op, const Arguments<Tensor>& a) {
    const Tensor targets = a.tensor("targets");
    const std::vector<std::int64_t> lengths = a.integers("target_lengths"), values = targets.values<std::int64_t>();
    const std::int64_t classes = extent(a.tensor("log_probs"), -1), blank = a.integer("blank");
    const std::int64_t columns = targets.rank() == 2 ? extent(targets, 1) : 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
        const auto k = static_cast<std::int64_t>(i);
        const auto row = static_cast<std::size_t>(columns > 0 ? k / columns : 0);
        if (columns > 0 && (row >= lengths.size() || k % columns >= lengths[row])) continue;
        if (values[i] < 0 || values[i] >= classes || values[i] == blank)
            return "target " + std::to_string(values[i]) + " of " + std::string(op) + " is " +
                   (values[i] == blank ? "the blank class"
                                       : "out of range: expected 0 to " + std::to_string(classes - 1));
    }
    return std::nullopt;
}

constexpr OpDef kCtcOps[] = {
    composite(
        "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, bool "
        "zero_infinity=False) -> (Tensor, Tensor)",
        "the loss of each sequence, and log_alpha: https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html",
        kLikelihoods, decompose_ctc_loss, ctc_grad, {.ask = open_ctc_targets}),
    composite(
        "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, "
        "Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> Tensor",
        "the gradient of _ctc_loss through log_softmax: "
        "https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html",
        kLikelihoods, ctc_loss_backward, ctc_backward_grad, {.ask = open_ctc_targets}),
    composite("ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int "
              "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
              "the negative log-probability of labels over all alignments: "
              "https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html",
              kLikelihoods, ctc_loss_of_program, {.ask = open_ctc_targets}),
};

}  // namespace

std::span<const OpDef> ctc_ops() { return kCtcOps; }

}  // namespace whittle
