// ONNX's recurrent ops: RNN, GRU, LSTM. Reference kernels follow the standard's equations element by element;
// decompositions run each step as ATen calls on whole batches, so that the two check each other.
#include "ops/core/open_rules.h"

#include <algorithm>

#include "ops/onnx/recurrent.h"
#include "tensor/compute.h"

namespace whittle {
namespace {

using namespace aten;
using namespace onnx_dialect;
using Doubles = std::vector<double>;

Recurrent rnn_of(const AnyArguments auto& arguments) { return recurrent_of(arguments, 1, {"Tanh"}); }
Recurrent gru_of(const AnyArguments auto& arguments) { return recurrent_of(arguments, 3, {"Sigmoid", "Tanh"}); }
Recurrent lstm_of(const AnyArguments auto& arguments) {
    return recurrent_of(arguments, 4, {"Sigmoid", "Tanh", "Tanh"});
}

template <Recurrent (*Of)(const Arguments<ValueMeta>&)>
std::vector<ValueMeta> infer_recurrent(const Arguments<ValueMeta>& arguments) {
    const Recurrent r = Of(arguments);
    const DType dtype = arguments.tensor("X").dtype;
    std::vector<ValueMeta> metas = {ValueMeta::contiguous(dtype, r.y_sizes()),
                                    ValueMeta::contiguous(dtype, r.state_sizes()),
                                    ValueMeta::contiguous(dtype, r.state_sizes())};
    const std::int64_t most = r.gates == 4 ? 3 : 2;
    metas.resize(static_cast<std::size_t>(std::clamp<std::int64_t>(r.results, 1, most)));
    return metas;
}

// --- Reference kernels -----------------------------------------------------------------------------------------------

/// The values of an operand, or zeros for a missing one.
Doubles values_of(const Arguments<Tensor>& arguments, std::string_view name, std::int64_t count) {
    if (!arguments.has(name)) return Doubles(static_cast<std::size_t>(count), 0.0);
    return arguments.tensor(name).values<double>();
}

/// One step of one batch element: hidden state (and cell) in place. `wx[g]` is the input's part W x + Wb of gate
/// element g, `recur(g, h)` the state's part R h of it, `rb[g]` the recurrent bias.
struct CellStep {
    const Recurrent& r;
    std::int64_t d;
    const double *wx, *rb, *weights, *peepholes;

    double recur(std::int64_t g, const Doubles& h) const {
        double sum = 0;
        for (std::int64_t j = 0; j < r.hidden; ++j) sum += weights[g * r.hidden + j] * h[static_cast<std::size_t>(j)];
        return sum;
    }
    double activate(std::size_t i, double x) const {
        return apply(r.activation(d, i), r.clip > 0 ? std::clamp(x, -r.clip, r.clip) : x);
    }
};

using StepFn = void (*)(const CellStep&, const Arguments<Tensor>&, Doubles& h, Doubles& c);

void rnn_step(const CellStep& s, const Arguments<Tensor>&, Doubles& h, Doubles&) {
    const Doubles old = h;
    for (std::int64_t j = 0; j < s.r.hidden; ++j)
        h[static_cast<std::size_t>(j)] = s.activate(0, s.wx[j] + s.recur(j, old) + s.rb[j]);
}

/// Gates in the order z, r, h.
void gru_step(const CellStep& s, const Arguments<Tensor>& arguments, Doubles& h, Doubles&) {
    const std::int64_t n = s.r.hidden;
    const bool after = arguments.integer("linear_before_reset") != 0;
    const Doubles old = h;
    Doubles reset(old.size()), masked(old.size());
    for (std::int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(j);
        reset[at] = s.activate(0, s.wx[n + j] + s.recur(n + j, old) + s.rb[n + j]);
        masked[at] = reset[at] * old[at];
    }
    for (std::int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const double z = s.activate(0, s.wx[j] + s.recur(j, old) + s.rb[j]);
        const std::int64_t g = 2 * n + j;
        const double part = after ? reset[at] * (s.recur(g, old) + s.rb[g]) : s.recur(g, masked) + s.rb[g];
        h[at] = (1 - z) * s.activate(1, s.wx[g] + part) + z * old[at];
    }
}

/// Gates in the order i, o, f, c; peepholes in the order i, o, f.
void lstm_step(const CellStep& s, const Arguments<Tensor>& arguments, Doubles& h, Doubles& c) {
    const std::int64_t n = s.r.hidden;
    const bool coupled = arguments.integer("input_forget") != 0;
    const Doubles old = h;
    for (std::int64_t j = 0; j < n; ++j) {
        const auto at = static_cast<std::size_t>(j);
        const auto gate = [&](std::int64_t g, double cell) {
            const double peephole = g < 3 ? s.peepholes[g * n + j] * cell : 0;
            return s.wx[g * n + j] + s.recur(g * n + j, old) + s.rb[g * n + j] + peephole;
        };
        const double input = s.activate(0, gate(0, c[at]));
        const double forget = coupled ? 1 - input : s.activate(0, gate(2, c[at]));
        c[at] = forget * c[at] + input * s.activate(1, gate(3, c[at]));
        h[at] = s.activate(0, gate(1, c[at])) * apply(s.r.activation(s.d, 2), c[at]);
    }
}

template <Recurrent (*Of)(const Arguments<Tensor>&), StepFn OneStep>
std::vector<Tensor> eval_recurrent(const Arguments<Tensor>& arguments) {
    const Recurrent r = Of(arguments);
    const std::int64_t n = r.hidden, gates = r.gates * n, states = r.directions * r.batch * n;
    const Doubles x = arguments.tensor("X").values<double>(), w = arguments.tensor("W").values<double>(),
                  weights = arguments.tensor("R").values<double>(),
                  bias = values_of(arguments, "B", r.directions * 2 * gates);
    const bool lstm = r.gates == 4;
    const Doubles peepholes = lstm ? values_of(arguments, "P", r.directions * 3 * n) : Doubles();
    Doubles y(static_cast<std::size_t>(r.time * states), 0.0),
        h_all = values_of(arguments, "initial_h", states),
        c_all = lstm ? values_of(arguments, "initial_c", states) : Doubles(static_cast<std::size_t>(states));
    std::vector<std::int64_t> lengths(static_cast<std::size_t>(r.batch), r.time);
    if (arguments.has("sequence_lens")) lengths = arguments.tensor("sequence_lens").values<std::int64_t>();

    Doubles wx(static_cast<std::size_t>(gates));
    for (std::int64_t d = 0; d < r.directions; ++d)
        for (std::int64_t b = 0; b < r.batch; ++b) {
            const std::int64_t state = r.batch_first ? (b * r.directions + d) * n : (d * r.batch + b) * n;
            Doubles h(h_all.begin() + state, h_all.begin() + state + n),
                c(c_all.begin() + state, c_all.begin() + state + n);
            const std::int64_t length = std::clamp<std::int64_t>(lengths[static_cast<std::size_t>(b)], 0, r.time);
            for (std::int64_t i = 0; i < length; ++i) {
                const std::int64_t t = r.reversed(d) ? length - 1 - i : i;
                const double* element = x.data() + (r.batch_first ? b * r.time + t : t * r.batch + b) * r.input;
                for (std::int64_t g = 0; g < gates; ++g) {
                    double sum = bias[static_cast<std::size_t>(d * 2 * gates + g)];
                    for (std::int64_t k = 0; k < r.input; ++k)
                        sum += w[static_cast<std::size_t>((d * gates + g) * r.input + k)] * element[k];
                    wx[static_cast<std::size_t>(g)] = sum;
                }
                const CellStep step{r,
                                    d,
                                    wx.data(),
                                    bias.data() + d * 2 * gates + gates,
                                    weights.data() + d * gates * n,
                                    lstm ? peepholes.data() + d * 3 * n : nullptr};
                OneStep(step, arguments, h, c);
                const std::int64_t at = r.batch_first ? ((b * r.time + t) * r.directions + d) * n
                                                      : ((t * r.directions + d) * r.batch + b) * n;
                std::copy(h.begin(), h.end(), y.begin() + at);
            }
            std::copy(h.begin(), h.end(), h_all.begin() + state);
            std::copy(c.begin(), c.end(), c_all.begin() + state);
        }
    const DType dtype = arguments.tensor("X").dtype();
    std::vector<Tensor> results = {store(y, dtype, r.y_sizes()), store(h_all, dtype, r.state_sizes())};
    if (lstm) results.push_back(store(c_all, dtype, r.state_sizes()));
    results.resize(std::min(results.size(), static_cast<std::size_t>(std::max<std::int64_t>(r.results, 1))));
    return results;
}

// --- Decompositions --------------------------------------------------------------------------------------------------

/// One direction: its weights as matrices, ready for steps on [batch, …].
struct Direction {
    const Call& call;
    const Recurrent& r;
    std::int64_t d;

    std::int64_t gates() const { return r.gates * r.hidden; }
    V row(std::string_view name) const { return select(call.tensor(name), 0, d); }
    /// Columns `first` … of gate elements.
    V part(const V& value, std::int64_t gate, std::int64_t count = 1) const {
        return onnx_dialect::part(value, value.rank() - 1, gate * r.hidden, (gate + count) * r.hidden);
    }
    V activate(std::size_t i, const V& x) const {
        return apply(r.activation(d, i), r.clip > 0 ? clamp(x, -r.clip, r.clip) : x);
    }
    /// An initial state [batch, hidden], zero by default.
    V initial(std::string_view name) const {
        if (!call.has(name)) return full(call.builder(), {r.batch, r.hidden}, 0.0, call.tensor("X").dtype());
        return select(call.tensor(name), r.batch_first ? 1 : 0, d);
    }
};

/// The state after a step: `wx` is the input's part of all gates with all biases that are plainly added.
using NextFn = void (*)(const Direction&, const V& wx, const V& weights, V& h, V& c);

void rnn_next(const Direction& s, const V& wx, const V& weights, V& h, V&) { h = s.activate(0, wx + mm(h, weights)); }

void gru_next(const Direction& s, const V& wx, const V& weights, V& h, V&) {
    const V zr = s.activate(0, s.part(wx, 0, 2) + mm(h, s.part(weights, 0, 2)));
    const V z = s.part(zr, 0), reset = s.part(zr, 1);
    V recurrent;
    if (s.call.integer("linear_before_reset") != 0) {
        V linear = mm(h, s.part(weights, 2));
        if (s.call.has("B")) linear = linear + s.part(part(s.row("B"), 0, s.gates(), 2 * s.gates()), 2);
        recurrent = reset * linear;
    } else {
        recurrent = mm(reset * h, s.part(weights, 2));
    }
    const V candidate = s.activate(1, s.part(wx, 2) + recurrent);
    h = rsub(z, 1.0) * candidate + z * h;
}

void lstm_next(const Direction& s, const V& wx, const V& weights, V& h, V& c) {
    const V sums = wx + mm(h, weights);
    const auto gate = [&](std::int64_t g, const V& cell) {
        const V plain = s.part(sums, g);
        return s.call.has("P") ? plain + s.part(s.row("P"), g) * cell : plain;
    };
    const V input = s.activate(0, gate(0, c));
    const V forget = s.call.integer("input_forget") != 0 ? rsub(input, 1.0) : s.activate(0, gate(2, c));
    c = forget * c + input * s.activate(1, s.part(sums, 3));
    h = s.activate(0, gate(1, c)) * apply(s.r.activation(s.d, 2), c);
}

/// W x + biases for all steps at once: [time, batch, gates]. The candidate of a GRU that resets after the product keeps
/// its recurrent bias for later.
V input_part(const Direction& s) {
    const Recurrent& r = s.r;
    const V x = r.batch_first ? permuted(s.call.tensor("X"), {1, 0, 2}) : s.call.tensor("X");
    V wx = mm(reshaped(x, {r.time * r.batch, r.input}), permuted(s.row("W"), {1, 0}));
    if (s.call.has("B")) {
        const V both = s.row("B"), w = part(both, 0, 0, s.gates());
        V recurrent = part(both, 0, s.gates(), 2 * s.gates());
        if (r.gates == 3 && s.call.integer("linear_before_reset") != 0)
            recurrent = constant_pad_nd(s.part(recurrent, 0, 2), Ints{0, r.hidden}, 0.0);
        wx = wx + (w + recurrent);
    }
    return reshaped(wx, {r.time, r.batch, s.gates()});
}

/// All steps of one direction: states after each in order of time, then the last ones.
struct Run {
    Vs y;
    V h, c;
};

template <NextFn Next>
Run run_direction(const Direction& s) {
    const Recurrent& r = s.r;
    const V wx = input_part(s), weights = permuted(s.row("R"), {1, 0});
    Run run{Vs(static_cast<std::size_t>(r.time)), s.initial("initial_h"), r.gates == 4 ? s.initial("initial_c") : V()};
    for (std::int64_t i = 0; i < r.time; ++i) {
        const std::int64_t t = s.r.reversed(s.d) ? r.time - 1 - i : i;
        V h = run.h, c = run.c;
        Next(s, select(wx, 0, t), weights, h, c);
        V y = h;
        if (s.call.has("sequence_lens")) {  // beyond its length a sequence keeps its state and gives zeros
            const V lengths = reshaped(s.call.tensor("sequence_lens"), {r.batch, 1});
            const V inside = gt(lengths, t);
            y = keep(inside, h);
            h = where(inside, h, run.h);
            if (r.gates == 4) c = where(inside, c, run.c);
        }
        run.y[static_cast<std::size_t>(t)] = y;
        run.h = h;
        run.c = c;
    }
    return run;
}

template <Recurrent (*Of)(const Arguments<V>&), NextFn Next>
CallResults decompose_recurrent(const Call& c) {
    const Recurrent r = Of(c);
    Vs y, h, cells;
    for (std::int64_t d = 0; d < r.directions; ++d) {
        const Run run = run_direction<Next>({c, r, d});
        y.push_back(run.y.empty() ? full(c.builder(), {0, r.batch, r.hidden}, 0.0, c.tensor("X").dtype())
                                  : stack(run.y));
        h.push_back(run.h);
        cells.push_back(run.c);
    }
    const std::int64_t state_dim = r.batch_first ? 1 : 0;
    V all = stack(y, 1);  // [time, directions, batch, hidden]
    if (r.batch_first) all = clone(permuted(all, {2, 0, 1, 3}));
    Vs results = {all};
    if (r.results > 1) results.push_back(stack(h, state_dim));
    if (r.results > 2 && r.gates == 4) results.push_back(stack(cells, state_dim));
    return results;
}

Reason open_recurrent_lengths(std::string_view op, const Arguments<Tensor>& a) {
    if (!a.has("sequence_lens")) return std::nullopt;
    const bool batch_first = a.schema().param("layout") && a.integer("layout") == 1;
    return out_of_range(op, "length", a.tensor("sequence_lens"), 0, extent(a.tensor("X"), batch_first ? 1 : 0));
}

constexpr OpDef kRnnOps[] = {
    composite(
        "RNN(Tensor X, Tensor W, Tensor R, Tensor? B=None, Tensor? sequence_lens=None, Tensor? initial_h=None, *, "
        "float[]? activation_alpha=None, float[]? activation_beta=None, str[]? activations=None, float? clip=None, str "
        "direction=\"forward\", int? hidden_size=None, int layout=0, int num_outputs=1) -> Tensor[]",
        "Simple recurrent network", kFloating, decompose_recurrent<rnn_of, rnn_next>,
        {.infer = infer_recurrent<rnn_of>, .eval = eval_recurrent<rnn_of, rnn_step>}, nullptr,
        {.ask = open_recurrent_lengths}),
    composite("GRU(Tensor X, Tensor W, Tensor R, Tensor? B=None, Tensor? sequence_lens=None, Tensor? initial_h=None, "
              "*, float[]? activation_alpha=None, float[]? activation_beta=None, str[]? activations=None, float? "
              "clip=None, str direction=\"forward\", int? hidden_size=None, int layout=0, int linear_before_reset=0, "
              "int num_outputs=1) -> Tensor[]",
              "Gated recurrent unit", kFloating, decompose_recurrent<gru_of, gru_next>,
              {.infer = infer_recurrent<gru_of>, .eval = eval_recurrent<gru_of, gru_step>}, nullptr,
              {.ask = open_recurrent_lengths}),
    composite("LSTM(Tensor X, Tensor W, Tensor R, Tensor? B=None, Tensor? sequence_lens=None, Tensor? initial_h=None, "
              "Tensor? initial_c=None, Tensor? P=None, *, float[]? activation_alpha=None, float[]? "
              "activation_beta=None, str[]? activations=None, float? clip=None, str direction=\"forward\", int? "
              "hidden_size=None, int input_forget=0, int layout=0, int num_outputs=1) -> Tensor[]",
              "Long short-term memory", kFloating, decompose_recurrent<lstm_of, lstm_next>,
              {.infer = infer_recurrent<lstm_of>, .eval = eval_recurrent<lstm_of, lstm_step>}, nullptr,
              {.ask = open_recurrent_lengths}),
};

}  // namespace

std::span<const OpDef> onnx_rnn_ops() { return kRnnOps; }

}  // namespace whittle
