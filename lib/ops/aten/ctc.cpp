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
#include "ops/aten/gradient.h"
#include "ops/aten/losses.h"
#include "ops/aten/open_rules.h"
#include "ops/core/elements.h"

namespace whittle {
namespace {

constexpr double kLogZero = -std::numeric_limits<double>::infinity();  // the logarithm of 0

/// A call: scores [steps, batch, classes], and per sequence its number of steps and labels.
struct Ctc : Gradient {
    Ctc(GraphBuilder& builder, const Arguments<NodeValue>& a)
        : Gradient(builder), b(builder), scores(a.tensor("log_probs")) {
        const std::string& op = a.schema().name;
        const Sizes& sizes = scores.meta.sizes;
        if (sizes.size() != 3)
            throw Error(op + ": found log_probs of sizes " + to_string(sizes) + ", expected [steps, batch, classes]");
        steps = sizes[0], batch = sizes[1], classes = sizes[2], dtype = scores.meta.dtype, blank = a.integer("blank");
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

    NodeValue never(const Sizes& sizes) const { return full(sizes, Arg(kLogZero), dtype); }
    /// A constant that differs by sequence.
    NodeValue by_sequence(const Ints& values, Sizes sizes) const {
        return b.constant(Tensor::of(values, std::move(sizes)), "lengths");
    }
    NodeValue step(const NodeValue& x, std::int64_t at) const { return call("aten.select.int", {arg(x), 0, at}); }
    /// [batch, places]: where places of sequences that are that long are.
    NodeValue is_place(std::int64_t beyond) const {
        Ints counts;
        for (const std::int64_t n : target_lengths) counts.push_back(2 * n + beyond);
        const NodeValue range = b.call("aten.arange.default", {places}, {{"dtype", DType::i64}});
        return call("aten.lt.Tensor", {arg(range), arg(by_sequence(counts, {batch, 1}))});
    }
    /// [batch, places]: the last two places of each sequence, where a path may end (of no label there is one).
    NodeValue is_end() const {
        const NodeValue before = is_place(-1);
        return call("aten.logical_and.default", {arg(is_place(1)), arg(of("aten.logical_not.default", before))});
    }
    /// Whether the step is one of the sequence's, [batch, 1].
    NodeValue has_step(std::int64_t at) const {
        return call("aten.gt.Scalar", {arg(by_sequence(input_lengths, {batch, 1})), at});
    }
    bool all_have_step(std::int64_t at) const {
        return std::ranges::all_of(input_lengths, [&](std::int64_t n) { return n > at; });
    }
    /// Places moved by so many, towards the end or the beginning: nothing comes from outside.
    NodeValue moved(const NodeValue& x, std::int64_t by) const {
        const std::int64_t width = std::min(std::abs(by), places);
        const NodeValue none = never({batch, width});
        if (width == places) return none;
        const NodeValue kept = by > 0 ? slice(x, 1, 0, places - width) : slice(x, 1, width, places);
        return b.call("aten.cat.default", {args_list(by > 0 ? std::vector{none, kept} : std::vector{kept, none}), 1});
    }
    /// log(exp(x) + exp(y) + …), of nothing but impossible ones impossible.
    NodeValue log_sum(const std::vector<NodeValue>& terms) const {
        const NodeValue all = b.call("aten.stack.default", {args_list(terms), 0});
        return call("aten.logsumexp.default", {arg(all), Arg::ints({0})});
    }
    NodeValue lasting(const NodeValue& x, const NodeValue& moved_one, const NodeValue& moved_two) const {
        return log_sum({x, moved_one, either(skips, moved_two, never({batch, places}))});
    }
    /// Of the places in reverse, the same: what is skipped is the place two further on.
    NodeValue lasting_back(const NodeValue& x) const {
        const NodeValue two = moved(x, -2);
        NodeValue may = slice(skips, 1, std::min<std::int64_t>(2, places), places);
        const NodeValue rest = full({batch, std::min<std::int64_t>(2, places)}, false, DType::boolean);
        may = b.call("aten.cat.default", {args_list({may, rest}), 1});
        return log_sum({x, moved(x, -1), either(may, two, never({batch, places}))});
    }

    GraphBuilder& b;
    NodeValue scores, classes_at, skips;  ///< [batch, places]: the class; whether the label two before is another
    NodeValue emitted;                    ///< [steps, batch, places]: the score of the class there
    Ints input_lengths, target_lengths;
    std::int64_t steps = 0, batch = 0, classes = 0, labels = 0, places = 1, blank = 0;
    DType dtype = DType::f32;

  private:
    /// From [batch, labels], or from all of them in a row.
    void read_labels(const NodeValue& targets, bool joined) {
        NodeValue table = joined ? targets : slice(targets, 1, 0, labels);
        if (joined) {  // where each is; labels that a sequence does not have are any
            Ints at;
            std::int64_t begin = 0;
            for (const std::int64_t n : target_lengths) {
                for (std::int64_t i = 0; i < labels; ++i) at.push_back(i < n ? begin + i : 0);
                begin += n;
            }
            table = call("aten.take.default", {arg(targets), arg(by_sequence(at, {batch, labels}))});
        }
        // LibTorch does not look at labels beyond the length: they may be no classes.
        Ints real;
        for (const std::int64_t n : target_lengths)
            for (std::int64_t i = 0; i < labels; ++i) real.push_back(i < n);
        const NodeValue is_real = call("aten.ne.Scalar", {arg(by_sequence(real, {batch, labels})), 0});
        table = call("aten.where.ScalarOther", {arg(is_real), arg(as(table, DType::i64)), blank});
        const NodeValue blanks = full({batch, labels}, blank, DType::i64), last = full({batch, 1}, blank, DType::i64);
        const NodeValue pairs = b.call("aten.stack.default", {args_list({blanks, table}), 2});
        classes_at = b.call("aten.cat.default", {args_list({reshape(pairs, {batch, 2 * labels}), last}), 1});
        skips = full({batch, std::min<std::int64_t>(2, places)}, false, DType::boolean);
        if (places > 2) {
            const NodeValue other = call(
                "aten.ne.Tensor", {arg(slice(classes_at, 1, 2, places)), arg(slice(classes_at, 1, 0, places - 2))});
            skips = b.call("aten.cat.default", {args_list({skips, other}), 1});
        }
        const NodeValue at = call("aten.expand.default", {arg(classes_at), Arg::ints({steps, batch, places})});
        emitted = call("aten.gather.default", {arg(scores), 2, arg(at)});
    }
};

/// Before the first step nothing was said, which is one place before the first: only blank or the first label begin.
NodeValue first_alpha(const Ctc& c) {
    const NodeValue range = c.b.call("aten.arange.default", {c.places}, {{"dtype", DType::i64}});
    const NodeValue begins = c.call("aten.logical_and.default", {arg(c.when("lt", range, 2)), arg(c.is_place(1))});
    return c.either(begins, c.step(c.emitted, 0), c.never({c.batch, c.places}));
}

/// The negative logarithm of the likelihood of each sequence, and that of its beginnings: [batch, steps, places].
Refs ctc_loss(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Ctc c(b, a);
    if (c.steps == 0) throw Error("_ctc_loss: found log_probs with 0 steps, expected at least 1");
    std::vector<NodeValue> alphas = {first_alpha(c)};
    NodeValue final = alphas[0];  // of each sequence, at its last step
    for (std::int64_t t = 1; t < c.steps; ++t) {
        const NodeValue& x = alphas.back();
        const NodeValue next = c.add(c.lasting(x, c.moved(x, 1), c.moved(x, 2)), c.step(c.emitted, t));
        alphas.push_back(next);
        final = c.all_have_step(t) ? next : c.either(c.has_step(t), next, final);
    }
    const NodeValue ends = c.either(c.is_end(), final, c.never({c.batch, c.places}));
    NodeValue likelihood = c.call("aten.logsumexp.default", {arg(ends), Arg::ints({1})});
    if (!c.all_have_step(0)) {  // without steps only no labels are likely
        Ints possible;
        for (const std::int64_t n : c.target_lengths) possible.push_back(n == 0);
        const NodeValue empty = c.call("aten.where.ScalarSelf",
                                       {arg(c.call("aten.ne.Scalar", {arg(c.by_sequence(possible, {c.batch})), 0})),
                                        Arg(0.0), arg(c.never({c.batch}))});
        likelihood = c.either(c.reshape(c.has_step(0), {c.batch}), likelihood, empty);
    }
    return {c.neg(likelihood).ref, b.call("aten.stack.default", {args_list(alphas), 1}).ref};
}

/// exp(score) less the share of the paths that are in the class at the step, of the scores that a log_softmax made: as
/// LibTorch has it, whose gradient is right behind log_softmax only. Steps beyond the sequence have none.
Refs ctc_loss_backward(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Ctc c(b, a);
    const NodeValue alphas = a.tensor("log_alpha"), nll = a.tensor("neg_log_likelihood"), grad = a.tensor("grad");
    std::vector<NodeValue> shares(static_cast<std::size_t>(c.steps));  // by step: [batch, classes] in logarithms
    const NodeValue none = c.never({c.batch, c.places}), is_place = c.is_place(1), is_end = c.is_end();
    const NodeValue range = b.call("aten.arange.default", {c.classes}, {{"dtype", DType::i64}});
    const NodeValue is_class =
        c.call("aten.eq.Tensor", {arg(c.call("aten.unsqueeze.default", {arg(c.classes_at), 2})), arg(range)});
    const NodeValue nowhere = c.never({c.batch, c.places, c.classes});
    NodeValue beta = none;
    for (std::int64_t t = c.steps - 1; t >= 0; --t) {
        const NodeValue score = c.step(c.emitted, t), last = c.either(is_end, score, none);
        Ints ends;
        for (const std::int64_t n : c.input_lengths) ends.push_back(n == t + 1);
        const NodeValue is_last = c.call("aten.ne.Scalar", {arg(c.by_sequence(ends, {c.batch, 1})), 0});
        const NodeValue later = c.either(is_place, c.add(c.lasting_back(beta), score), none);
        beta = t == c.steps - 1 && c.all_have_step(t) ? last : c.either(is_last, last, later);
        const NodeValue alpha = c.call("aten.select.int", {arg(alphas), 1, t});
        const NodeValue paths = c.either(is_place, c.add(alpha, beta), none);
        const NodeValue spread = c.either(is_class, c.call("aten.unsqueeze.default", {arg(paths), 2}), nowhere);
        shares[static_cast<std::size_t>(t)] = c.call("aten.logsumexp.default", {arg(spread), Arg::ints({1})});
    }
    const NodeValue all = b.call("aten.stack.default", {args_list(shares), 0});
    const auto column = [&](const NodeValue& x) { return c.reshape(x, {1, c.batch, 1}); };
    const auto exp = [&](const NodeValue& x) { return c.of("aten.exp.default", x); };
    const NodeValue path = exp(c.sub(c.add(all, column(nll)), c.scores));
    NodeValue result = c.mul(c.sub(exp(c.scores), path), column(grad));
    Ints counted;  // steps that are none of the sequence's
    for (std::int64_t t = 0; t < c.steps; ++t)
        for (const std::int64_t n : c.input_lengths) counted.push_back(t >= n);
    if (!c.all_have_step(c.steps - 1))
        result = c.drop(c.call("aten.ne.Scalar", {arg(c.by_sequence(counted, {c.steps, c.batch, 1})), 0}), result);
    if (a.boolean("zero_infinity"))
        result = c.drop(c.call("aten.eq.Scalar", {arg(column(nll)), Arg(-kLogZero)}), result);
    return {result.ref};
}

/// Their mean is of the losses per label.
Refs ctc_loss_of_program(GraphBuilder& b, const Arguments<NodeValue>& a) {
    const Gradient g(b);
    const NodeValue scores = a.tensor("log_probs");
    const bool batched = scores.meta.sizes.size() == 3;
    const NodeValue log_probs = batched ? scores : g.call("aten.unsqueeze.default", {arg(scores), 1});
    const NodeValue targets = g.as(a.tensor("targets"), DType::i64);  // as LibTorch, of any dtype
    const bool zero = a.boolean("zero_infinity");
    const Ints lengths = a.integers("target_lengths");
    NodeValue losses =
        b.call_multi("aten._ctc_loss.default", {arg(log_probs), arg(targets), Arg::ints(a.integers("input_lengths")),
                                                Arg::ints(lengths), a.integer("blank"), zero})[0];
    if (zero) losses = g.drop(g.when("eq", losses, Arg(-kLogZero)), losses);
    const std::int64_t reduction = a.integer("reduction");
    if (reduction == kSum) return {b.call("aten.sum.default", {arg(losses)}).ref};
    if (reduction == kNone) return {batched ? losses.ref : g.call("aten.squeeze.dim", {arg(losses), 0}).ref};
    std::vector<double> divisors;
    for (const std::int64_t n : lengths) divisors.push_back(static_cast<double>(std::max<std::int64_t>(n, 1)));
    const Tensor divisor = Tensor::of(divisors, losses.meta.sizes).to(losses.meta.dtype);
    return {b.call("aten.mean.default", {arg(g.div(losses, arg(b.constant(divisor, "lengths"))))}).ref};
}

void ctc_grad(GraphBuilder& b, CallGradients& c) {
    const Rule r(b, c);
    const Arguments<NodeValue>& a = c.args();
    r.set("log_probs", r.call("aten._ctc_loss_backward.default",
                              {arg(r.grad()), arg(r.tensor("log_probs")), arg(r.tensor("targets")),
                               Arg::ints(a.integers("input_lengths")), Arg::ints(a.integers("target_lengths")),
                               arg(r.result(0)), arg(r.result(1)), a.integer("blank"), a.boolean("zero_infinity")}));
}

/// LibTorch has none either.
void ctc_backward_grad(GraphBuilder&, CallGradients&) {
    throw Error("_ctc_loss_backward has no gradient rule",
                "compute first derivatives only: the loss can be differentiated once");
}

// --- Records ---

constexpr DTypeSet kLikelihoods = set_of(DType::f64) | set_of(DType::f32);

constexpr OpDef kCtcOps[] = {
    {.name = "aten._ctc_loss.default",
     .doc = "the loss of each sequence, and log_alpha: https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html",
     .schema = "_ctc_loss(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int blank=0, "
               "bool zero_infinity=False) -> (Tensor, Tensor)",
     .dtypes = kLikelihoods,
     .decompose = ctc_loss,
     .open = {.ask = aten_open::ctc_targets},
     .grad = ctc_grad},
    {.name = "aten._ctc_loss_backward.default",
     .doc = "the gradient of _ctc_loss through log_softmax: "
            "https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html",
     .schema = "_ctc_loss_backward(Tensor grad, Tensor log_probs, Tensor targets, int[] input_lengths, int[] "
               "target_lengths, Tensor neg_log_likelihood, Tensor log_alpha, int blank, bool zero_infinity=False) -> "
               "Tensor",
     .dtypes = kLikelihoods,
     .decompose = ctc_loss_backward,
     .open = {.ask = aten_open::ctc_targets},
     .grad = ctc_backward_grad},
    {.name = "aten.ctc_loss.IntList",
     .doc = "the negative log-probability of labels over all alignments: "
            "https://pytorch.org/docs/stable/generated/torch.nn.CTCLoss.html",
     .schema = "ctc_loss.IntList(Tensor log_probs, Tensor targets, int[] input_lengths, int[] target_lengths, int "
               "blank=0, int reduction=1, bool zero_infinity=False) -> Tensor",
     .dtypes = kLikelihoods,
     .decompose = ctc_loss_of_program,
     .open = {.ask = aten_open::ctc_targets}},
};

}  // namespace

std::span<const OpDef> ctc_ops() { return kCtcOps; }

}  // namespace whittle
