// Recurrent networks: cells, and whole sequences unrolled step by step over time into linear, sigmoid, tanh and so on.
// Definitions: https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html, GRU.html and RNN.html

#include "ops/aten/families.h"
#include "ops/aten/formulas.h"
#include "ops/aten/packed.h"
#include "ops/aten/recurrent.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

using namespace aten;

// ---- decompose ----

/// A state: h, and c for an LSTM.
using State = Vs;

/// Columns [gate * hidden, (gate + 1) * hidden) of [batch, gates * hidden].
V gate_of(const V& gates, std::int64_t gate, std::int64_t hidden) {
    return slice(gates, 1, gate * hidden, (gate + 1) * hidden);
}

/// The next state, from what the input and the hidden state contribute to the gates: both [batch, gates * hidden].
State step(RnnKind kind, const V& from_input, const V& from_hidden, const State& state) {
    const std::int64_t hidden = state[0].sizes().at(1);
    const auto gate = [&](const V& gates, std::int64_t i) { return gate_of(gates, i, hidden); };
    if (kind == RnnKind::gru) {
        const auto both = [&](std::int64_t i) { return sigmoid(gate(from_input, i) + gate(from_hidden, i)); };
        const V reset = both(0), keep = both(1);
        const V fresh = tanh(gate(from_input, 2) + reset * gate(from_hidden, 2));
        return {(state[0] - fresh) * keep + fresh};
    }
    const V gates = from_input + from_hidden;
    if (kind == RnnKind::tanh) return {tanh(gates)};
    if (kind == RnnKind::relu) return {relu(gates)};
    const V in = sigmoid(gate(gates, 0)), forget = sigmoid(gate(gates, 1)), fresh = tanh(gate(gates, 2)),
            out = sigmoid(gate(gates, 3));
    const V kept = forget * state[1], cell = kept + in * fresh;
    return {out * tanh(cell), cell};
}

V at_time(const V& value, std::int64_t index) { return select(value, 0, index); }

/// One layer in one direction over [time, batch, features]; leaves the last state in `state`. What is not there leaves
/// the state as it is.
V run_direction(const Recurrence& r, const V& input, bool backward, const Vs& weights,
                const std::optional<Packing>& packing, State& state) {
    const bool biases = weights.size() == 4;
    const auto bias = [&](std::size_t i) { return biases ? OptionalV(weights[i]) : std::nullopt; };
    const V from_input = linear(input, weights[0], bias(2));  // of all times at once
    Vs outputs(static_cast<std::size_t>(r.time));
    for (std::int64_t i = 0; i < r.time; i++) {
        const std::int64_t t = backward ? r.time - 1 - i : i;
        const V from_hidden = linear(state[0], weights[1], bias(3));
        const State next = step(r.kind, at_time(from_input, t), from_hidden, state);
        for (std::size_t k = 0; k < state.size(); ++k)
            state[k] = packing ? where(at_time(packing->there, t), next[k], state[k]) : next[k];
        outputs[static_cast<std::size_t>(t)] = state[0];
    }
    return stack(outputs);
}

CallResults decompose_sequence(const Call& c) {
    const Recurrence r = recurrence_of(c);
    const Vs params = c.tensors("params"), start = initial_state(c, r.kind);
    const auto turned = [&](const V& value) { return r.batch_first ? transpose(value, 0, 1) : value; };
    const auto picked = [&](const V& rows, const V& at) { return index_select(rows, 0, at); };
    std::optional<Packing> packing;
    V sequence = c.tensor(is_packed(c) ? "data" : "input");
    if (is_packed(c)) {
        packing = packing_of(r.time, r.batch, c.tensor("batch_sizes"), sequence.sizes()[0]);
        sequence = reshape(picked(sequence, packing->rows), {r.time, r.batch, r.input});
    } else {
        sequence = turned(sequence);
    }
    std::vector<Vs> last(start.size());  // of h, and of c
    for (std::int64_t layer = 0; layer < r.layers; layer++) {
        Vs outputs;
        for (std::int64_t direction = 0; direction < r.directions; direction++) {
            const std::int64_t which = layer * r.directions + direction;
            const auto first = params.begin() + which * r.weights();
            State state;
            for (const V& part : start) state.push_back(at_time(part, which));
            outputs.push_back(
                run_direction(r, sequence, direction == 1, Vs(first, first + r.weights()), packing, state));
            for (std::size_t i = 0; i < state.size(); i++) last[i].push_back(state[i]);
        }
        sequence = outputs.size() == 1 ? outputs[0] : cat(outputs, 2);
    }
    const V output = packing ? picked(reshape(sequence, {r.time * r.batch, r.directions * r.hidden}), packing->unpacked)
                             : turned(sequence);
    Vs results = {output};
    for (const Vs& parts : last) results.push_back(stack(parts));
    return results;
}

/// One layer of an LSTM in one direction, as PyTorch's decomposition of LSTMs for CPUs issues it. Its fourth result is
/// memory for training.
CallResults decompose_layer(const Call& c) {
    constexpr std::int64_t kLstm = 2;  // of cuDNN's modes
    const auto check = [](bool fits, const std::string& found, const std::string& expected) {
        if (!fits) throw Error("mkldnn_rnn_layer: found " + found + ", expected " + expected);
    };
    const std::int64_t mode = c.integer("mode"), layers = c.integer("num_layers");
    check(mode == kLstm, "mode=" + std::to_string(mode), std::to_string(kLstm) + " (LSTM)");
    check(layers == 1, "num_layers=" + std::to_string(layers), "1");
    for (const char* flag : {"bidirectional", "batch_first", "train"})
        check(!c.boolean(flag), std::string(flag) + "=true", "false");
    check(c.integers("batch_sizes").empty(), "batch_sizes, which packed sequences have", "a padded sequence");
    const V given = c.tensor("input"), h = c.tensor("hx_"), state = c.tensor("cx_");
    const bool reverse = c.boolean("reverse"), biases = c.boolean("has_biases");
    const auto turned = [&](const V& value) { return reverse ? flip(value, Ints{0}) : value; };
    Vs weights = {c.tensor("weight0"), c.tensor("weight1")};
    if (biases) weights.insert(weights.end(), {c.tensor("weight2"), c.tensor("weight3")});
    const std::array<V, 3> results = lstm(turned(given), Vs{h, state}, weights, biases, 1, 0, false, false, false);
    return {turned(results[0]), results[1], results[2], zeros(c.builder(), Ints{0}, DType::u8)};
}

CallResults decompose_cell(const Call& c) {
    const Recurrence r = cell_of(c);
    const State state = initial_state(c, r.kind);
    const V from_input = linear(c.tensor("input"), c.tensor("w_ih"), c.optional_tensor("b_ih"));
    const V from_hidden = linear(state[0], c.tensor("w_hh"), c.optional_tensor("b_hh"));
    return step(r.kind, from_input, from_hidden, state);
}

constexpr OpDef sequence_op(std::string_view schema, std::string_view doc) {
    return composite(schema, doc, kFloating, decompose_sequence, {.infer = infer_sequence, .eval = eval_sequence});
}
constexpr OpDef packed_op(std::string_view schema, std::string_view doc) {
    return composite(schema, doc, kFloating, decompose_sequence, {.infer = infer_sequence});
}
constexpr OpDef cell_op(std::string_view schema, std::string_view doc) {
    return composite(schema, doc, kFloating, decompose_cell, {.infer = infer_cell, .eval = eval_cell});
}

constexpr OpDef kRnnOps[] = {
    sequence_op("lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float "
                "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
                "Long short-term memory over a sequence; pytorch.org/docs/stable/generated/torch.nn.LSTM.html"),
    sequence_op("gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
                "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
                "Gated recurrent units over a sequence; pytorch.org/docs/stable/generated/torch.nn.GRU.html"),
    sequence_op("rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
                "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
                "Recurrent network with tanh; pytorch.org/docs/stable/generated/torch.nn.RNN.html"),
    sequence_op("rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float "
                "dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
                "Recurrent network with relu; pytorch.org/docs/stable/generated/torch.nn.RNN.html"),
    packed_op("lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int "
              "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)",
              "Long short-term memory over packed sequences; pytorch.org/docs/stable/generated/torch.nn.LSTM.html"),
    packed_op("gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
              "float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
              "Gated recurrent units over packed sequences; pytorch.org/docs/stable/generated/torch.nn.GRU.html"),
    packed_op("rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
              "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
              "Recurrent network with tanh over packed sequences; pytorch.org/docs/stable/generated/torch.nn.RNN.html"),
    packed_op("rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
              "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
              "Recurrent network with relu over packed sequences; pytorch.org/docs/stable/generated/torch.nn.RNN.html"),
    cell_op("lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> "
            "(Tensor, Tensor)",
            "One step of an LSTM: (h, c); pytorch.org/docs/stable/generated/torch.nn.LSTMCell.html"),
    cell_op(
        "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
        "One step of a GRU; pytorch.org/docs/stable/generated/torch.nn.GRUCell.html"),
    cell_op("rnn_{tanh|relu}_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? "
            "b_hh=None) -> Tensor",
            "One step of a recurrent network; pytorch.org/docs/stable/generated/torch.nn.RNNCell.html"),
    composite("mkldnn_rnn_layer(Tensor input, Tensor weight0, Tensor weight1, Tensor weight2, Tensor weight3, Tensor "
              "hx_, Tensor cx_, bool reverse, int[] batch_sizes, int mode, int hidden_size, int num_layers, bool "
              "has_biases, bool bidirectional, bool batch_first, bool train) -> (Tensor, Tensor, Tensor, Tensor)",
              "One layer of an LSTM in one direction; pytorch.org/docs/stable/generated/torch.nn.LSTM.html", kFloating,
              decompose_layer),
};

}  // namespace

std::span<const OpDef> rnn_ops() { return kRnnOps; }

}  // namespace whittle
