// ONNX's recurrent ops: RNN, GRU, LSTM. Reference kernels follow the standard's equations element by element;
// decompositions run each step as ATen calls on whole batches, so that the two check each other.
#include "ops/onnx/open_rules.h"
#include "ops/onnx/recurrent.h"
#include "tensor/compute.h"

namespace whittle {

namespace {

using namespace onnx_dialect;
using Doubles = std::vector<double>;

template <class T>
Recurrent rnn_of(const Arguments<T>& arguments) {
    return recurrent_of(arguments, 1, {"Tanh"});
}
template <class T>
Recurrent gru_of(const Arguments<T>& arguments) {
    return recurrent_of(arguments, 3, {"Sigmoid", "Tanh"});
}
template <class T>
Recurrent lstm_of(const Arguments<T>& arguments) {
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
    const Rewrite& op;
    const Recurrent& r;
    std::int64_t d;

    std::int64_t gates() const { return r.gates * r.hidden; }
    NodeValue row(std::string_view name) const { return op("aten.select.int", op.tensor(name), 0, d); }
    /// Columns `first` … of gate elements.
    NodeValue part(const NodeValue& value, std::int64_t gate, std::int64_t count = 1) const {
        return op.slice(value, rank_of(value) - 1, gate * r.hidden, (gate + count) * r.hidden);
    }
    NodeValue activate(std::size_t i, const NodeValue& x) const {
        return apply(op, r.activation(d, i), r.clip > 0 ? op("aten.clamp.default", x, -r.clip, r.clip) : x);
    }
    /// An initial state [batch, hidden], zero by default.
    NodeValue initial(std::string_view name) const {
        if (!op.has(name)) return op.full({r.batch, r.hidden}, Scalar(0.0), op.tensor("X").meta.dtype);
        return op("aten.select.int", op.tensor(name), r.batch_first ? 1 : 0, d);
    }
};

NodeValue add(const Rewrite& op, const NodeValue& a, const NodeValue& b) { return op("aten.add.Tensor", a, b); }
NodeValue mul(const Rewrite& op, const NodeValue& a, const NodeValue& b) { return op("aten.mul.Tensor", a, b); }

/// The state after a step: `wx` is the input's part of all gates with all biases that are plainly added.
using NextFn = void (*)(const Direction&, const NodeValue& wx, const NodeValue& weights, NodeValue& h, NodeValue& c);

void rnn_next(const Direction& s, const NodeValue& wx, const NodeValue& weights, NodeValue& h, NodeValue&) {
    h = s.activate(0, add(s.op, wx, s.op("aten.mm.default", h, weights)));
}

void gru_next(const Direction& s, const NodeValue& wx, const NodeValue& weights, NodeValue& h, NodeValue&) {
    const Rewrite& op = s.op;
    const NodeValue zr = s.activate(0, add(op, s.part(wx, 0, 2), op("aten.mm.default", h, s.part(weights, 0, 2))));
    const NodeValue z = s.part(zr, 0), reset = s.part(zr, 1);
    NodeValue part;
    if (op.integer("linear_before_reset") != 0) {
        NodeValue linear = op("aten.mm.default", h, s.part(weights, 2));
        if (op.has("B")) linear = add(op, linear, s.part(op.slice(s.row("B"), 0, s.gates(), 2 * s.gates()), 2));
        part = mul(op, reset, linear);
    } else {
        part = op("aten.mm.default", mul(op, reset, h), s.part(weights, 2));
    }
    const NodeValue candidate = s.activate(1, add(op, s.part(wx, 2), part));
    h = add(op, mul(op, op("aten.rsub.Scalar", z, 1.0), candidate), mul(op, z, h));
}

void lstm_next(const Direction& s, const NodeValue& wx, const NodeValue& weights, NodeValue& h, NodeValue& c) {
    const Rewrite& op = s.op;
    const NodeValue sums = add(op, wx, op("aten.mm.default", h, weights));
    const auto gate = [&](std::int64_t g, const NodeValue& cell) {
        const NodeValue plain = s.part(sums, g);
        return op.has("P") ? add(op, plain, mul(op, s.part(s.row("P"), g), cell)) : plain;
    };
    const NodeValue input = s.activate(0, gate(0, c));
    const NodeValue forget =
        op.integer("input_forget") != 0 ? op("aten.rsub.Scalar", input, 1.0) : s.activate(0, gate(2, c));
    c = add(op, mul(op, forget, c), mul(op, input, s.activate(1, s.part(sums, 3))));
    h = mul(op, s.activate(0, gate(1, c)), apply(op, s.r.activation(s.d, 2), c));
}

/// W x + biases for all steps at once: [time, batch, gates]. The candidate of a GRU that resets after the product keeps
/// its recurrent bias for later.
NodeValue input_part(const Direction& s) {
    const Rewrite& op = s.op;
    const Recurrent& r = s.r;
    const NodeValue x = r.batch_first ? op.permute(op.tensor("X"), {1, 0, 2}) : op.tensor("X");
    NodeValue wx = op("aten.mm.default", op.reshape(x, {r.time * r.batch, r.input}), op.permute(s.row("W"), {1, 0}));
    if (op.has("B")) {
        const NodeValue both = s.row("B"), w = op.slice(both, 0, 0, s.gates());
        NodeValue recurrent = op.slice(both, 0, s.gates(), 2 * s.gates());
        if (r.gates == 3 && op.integer("linear_before_reset") != 0)
            recurrent = op("aten.constant_pad_nd.default", s.part(recurrent, 0, 2), Ints{0, r.hidden}, 0.0);
        wx = add(op, wx, add(op, w, recurrent));
    }
    return op.reshape(wx, {r.time, r.batch, s.gates()});
}

/// All steps of one direction: states after each in order of time, then the last ones.
struct Run {
    std::vector<NodeValue> y;
    NodeValue h, c;
};

template <NextFn Next>
Run run_direction(const Direction& s) {
    const Rewrite& op = s.op;
    const Recurrent& r = s.r;
    const NodeValue wx = input_part(s), weights = op.permute(s.row("R"), {1, 0});
    Run run{std::vector<NodeValue>(static_cast<std::size_t>(r.time)), s.initial("initial_h"),
            r.gates == 4 ? s.initial("initial_c") : NodeValue()};
    const NodeValue zero = op.full({}, Scalar(0.0), op.tensor("X").meta.dtype);
    for (std::int64_t i = 0; i < r.time; ++i) {
        const std::int64_t t = s.r.reversed(s.d) ? r.time - 1 - i : i;
        NodeValue h = run.h, c = run.c;
        Next(s, op("aten.select.int", wx, 0, t), weights, h, c);
        NodeValue y = h;
        if (op.has("sequence_lens")) {  // beyond its length a sequence keeps its state and gives zeros
            const NodeValue lengths = op.reshape(op.tensor("sequence_lens"), {r.batch, 1});
            const NodeValue inside = op("aten.gt.Scalar", lengths, t);
            y = op("aten.where.self", inside, h, zero);
            h = op("aten.where.self", inside, h, run.h);
            if (r.gates == 4) c = op("aten.where.self", inside, c, run.c);
        }
        run.y[static_cast<std::size_t>(t)] = y;
        run.h = h;
        run.c = c;
    }
    return run;
}

template <Recurrent (*Of)(const Arguments<NodeValue>&), NextFn Next>
Results decompose_recurrent(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    const Recurrent r = Of(arguments);
    std::vector<NodeValue> y, h, c;
    for (std::int64_t d = 0; d < r.directions; ++d) {
        const Run run = run_direction<Next>({op, r, d});
        y.push_back(run.y.empty() ? op.full({0, r.batch, r.hidden}, Scalar(0.0), op.tensor("X").meta.dtype)
                                  : op("aten.stack.default", run.y, 0));
        h.push_back(run.h);
        c.push_back(run.c);
    }
    const std::int64_t state_dim = r.batch_first ? 1 : 0;
    NodeValue all = op("aten.stack.default", y, 1);  // [time, directions, batch, hidden]
    if (r.batch_first) all = op("aten.clone.default", op.permute(all, {2, 0, 1, 3}));
    Results results = {all.ref};
    if (r.results > 1) results.push_back(op("aten.stack.default", h, state_dim).ref);
    if (r.results > 2 && r.gates == 4) results.push_back(op("aten.stack.default", c, state_dim).ref);
    return results;
}

constexpr OpDef kRnnOps[] = {
    {.name = "onnx.RNN",
     .doc = "Simple recurrent network. onnx Operators.md#RNN",
     .schema =
         "RNN(Tensor X, Tensor W, Tensor R, Tensor? B=None, Tensor? sequence_lens=None, Tensor? initial_h=None, *, "
         "float[]? activation_alpha=None, float[]? activation_beta=None, str[]? activations=None, "
         "float? clip=None, str direction=\"forward\", int? hidden_size=None, int layout=0, int num_outputs=1) "
         "-> Tensor[]",
     .dtypes = kFloating,
     .infer = infer_recurrent<rnn_of>,
     .eval = eval_recurrent<rnn_of, rnn_step>,
     .decompose = decompose_recurrent<rnn_of, rnn_next>,
     .open = {.ask = onnx_open::recurrent_lengths}},
    {.name = "onnx.GRU",
     .doc = "Gated recurrent unit. onnx Operators.md#GRU",
     .schema =
         "GRU(Tensor X, Tensor W, Tensor R, Tensor? B=None, Tensor? sequence_lens=None, Tensor? initial_h=None, *, "
         "float[]? activation_alpha=None, float[]? activation_beta=None, str[]? activations=None, "
         "float? clip=None, str direction=\"forward\", int? hidden_size=None, int layout=0, "
         "int linear_before_reset=0, int num_outputs=1) -> Tensor[]",
     .dtypes = kFloating,
     .infer = infer_recurrent<gru_of>,
     .eval = eval_recurrent<gru_of, gru_step>,
     .decompose = decompose_recurrent<gru_of, gru_next>,
     .open = {.ask = onnx_open::recurrent_lengths}},
    {.name = "onnx.LSTM",
     .doc = "Long short-term memory. onnx Operators.md#LSTM",
     .schema = "LSTM(Tensor X, Tensor W, Tensor R, Tensor? B=None, Tensor? sequence_lens=None, Tensor? initial_h=None, "
               "Tensor? initial_c=None, Tensor? P=None, *, float[]? activation_alpha=None, "
               "float[]? activation_beta=None, str[]? activations=None, float? clip=None, str direction=\"forward\", "
               "int? hidden_size=None, int input_forget=0, int layout=0, int num_outputs=1) -> Tensor[]",
     .dtypes = kFloating,
     .infer = infer_recurrent<lstm_of>,
     .eval = eval_recurrent<lstm_of, lstm_step>,
     .decompose = decompose_recurrent<lstm_of, lstm_next>,
     .open = {.ask = onnx_open::recurrent_lengths}},
};

}  // namespace

std::span<const OpDef> onnx_rnn_ops() { return kRnnOps; }

}  // namespace whittle
