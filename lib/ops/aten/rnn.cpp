// Recurrent networks: cells, and whole sequences unrolled step by step over time into linear, sigmoid, tanh and so on.
// Definitions: https://pytorch.org/docs/stable/generated/torch.nn.LSTM.html, GRU.html and RNN.html
#include <algorithm>

#include "ops/aten/families.h"
#include "ops/aten/packed.h"
#include "ops/aten/recurrent.h"
#include "ops/core/dense.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

// ---- decompose ----

/// A state: h, and c for an LSTM.
using State = std::vector<NodeValue>;

NodeValue linear(GraphBuilder& builder, const NodeValue& input, const NodeValue& weight,
                 const std::optional<NodeValue>& bias) {
    return builder.call("aten.linear.default", {arg(input), arg(weight), bias ? arg(*bias) : Arg()});
}

NodeValue call_unary(GraphBuilder& builder, const char* op, const NodeValue& x) {
    return builder.call("aten." + std::string(op) + ".default", {arg(x)});
}

NodeValue call_binary(GraphBuilder& builder, const char* op, const NodeValue& a, const NodeValue& b) {
    return builder.call("aten." + std::string(op) + ".Tensor", {arg(a), arg(b)});
}

/// Columns [gate * hidden, (gate + 1) * hidden) of [batch, gates * hidden].
NodeValue gate_of(GraphBuilder& builder, const NodeValue& gates, std::int64_t gate, std::int64_t hidden) {
    return builder.call("aten.slice.Tensor", {arg(gates), 1, gate * hidden, (gate + 1) * hidden});
}

/// The next state, from what the input and the hidden state contribute to the gates: both [batch, gates * hidden].
State step(GraphBuilder& b, RnnKind kind, const NodeValue& from_input, const NodeValue& from_hidden,
           const State& state) {
    const std::int64_t hidden = state[0].meta.sizes.at(1);
    const auto gate = [&](const NodeValue& gates, std::int64_t i) { return gate_of(b, gates, i, hidden); };
    if (kind == RnnKind::gru) {
        const auto both = [&](std::int64_t i) {
            return call_unary(b, "sigmoid", call_binary(b, "add", gate(from_input, i), gate(from_hidden, i)));
        };
        const NodeValue reset = both(0), keep = both(1);
        const NodeValue fresh = call_unary(
            b, "tanh", call_binary(b, "add", gate(from_input, 2), call_binary(b, "mul", reset, gate(from_hidden, 2))));
        return {call_binary(b, "add", call_binary(b, "mul", call_binary(b, "sub", state[0], fresh), keep), fresh)};
    }
    const NodeValue gates = call_binary(b, "add", from_input, from_hidden);
    if (kind == RnnKind::tanh) return {call_unary(b, "tanh", gates)};
    if (kind == RnnKind::relu) return {call_unary(b, "relu", gates)};
    const NodeValue in = call_unary(b, "sigmoid", gate(gates, 0)), forget = call_unary(b, "sigmoid", gate(gates, 1)),
                    fresh = call_unary(b, "tanh", gate(gates, 2)), out = call_unary(b, "sigmoid", gate(gates, 3));
    const NodeValue cell =
        call_binary(b, "add", call_binary(b, "mul", forget, state[1]), call_binary(b, "mul", in, fresh));
    return {call_binary(b, "mul", out, call_unary(b, "tanh", cell)), cell};
}

NodeValue select(GraphBuilder& builder, const NodeValue& value, std::int64_t index) {
    return builder.call("aten.select.int", {arg(value), 0, index});
}

/// One layer in one direction over [time, batch, features]; leaves the last state in `state`. What is not there leaves
/// the state as it is.
NodeValue run_direction(GraphBuilder& builder, const Recurrence& r, const NodeValue& input, bool backward,
                        const std::vector<NodeValue>& weights, const std::optional<Packing>& packing, State& state) {
    const bool biases = weights.size() == 4;
    const auto bias = [&](std::size_t i) { return biases ? std::optional<NodeValue>(weights[i]) : std::nullopt; };
    const NodeValue from_input = linear(builder, input, weights[0], bias(2));  // of all times at once
    std::vector<NodeValue> outputs(static_cast<std::size_t>(r.time));
    for (std::int64_t i = 0; i < r.time; i++) {
        const std::int64_t t = backward ? r.time - 1 - i : i;
        const NodeValue from_hidden = linear(builder, state[0], weights[1], bias(3));
        const State next = step(builder, r.kind, select(builder, from_input, t), from_hidden, state);
        for (std::size_t k = 0; k < state.size(); ++k)
            state[k] = packing ? builder.call("aten.where.self",
                                              {arg(select(builder, packing->there, t)), arg(next[k]), arg(state[k])})
                               : next[k];
        outputs[static_cast<std::size_t>(t)] = state[0];
    }
    return builder.call("aten.stack.default", {args_list(outputs), 0});
}

std::vector<NodeRef> decompose_sequence(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const Recurrence r = recurrence_of(args);
    const std::vector<NodeValue> params = args.tensors("params"), start = initial_state(args, r.kind);
    const auto turned = [&](const NodeValue& value) {
        return r.batch_first ? builder.call("aten.transpose.int", {arg(value), 0, 1}) : value;
    };
    const auto picked = [&](const NodeValue& rows, const NodeValue& at) {
        return builder.call("aten.index_select.default", {arg(rows), 0, arg(at)});
    };
    const auto reshape = [&](const NodeValue& x, const Sizes& sizes) {
        return builder.call("aten.reshape.default", {arg(x), Arg::ints(sizes)});
    };
    std::optional<Packing> packing;
    NodeValue sequence = args.tensor(is_packed(args) ? "data" : "input");
    if (is_packed(args)) {
        packing = packing_of(builder, r.time, r.batch, args.tensor("batch_sizes"), sequence.meta.sizes[0]);
        sequence = reshape(picked(sequence, packing->rows), {r.time, r.batch, r.input});
    } else {
        sequence = turned(sequence);
    }
    std::vector<std::vector<NodeValue>> last(start.size());  // of h, and of c
    for (std::int64_t layer = 0; layer < r.layers; layer++) {
        std::vector<NodeValue> outputs;
        for (std::int64_t direction = 0; direction < r.directions; direction++) {
            const std::int64_t which = layer * r.directions + direction;
            const auto first = params.begin() + which * r.weights();
            State state;
            for (const NodeValue& part : start) state.push_back(select(builder, part, which));
            outputs.push_back(run_direction(builder, r, sequence, direction == 1,
                                            std::vector<NodeValue>(first, first + r.weights()), packing, state));
            for (std::size_t i = 0; i < state.size(); i++) last[i].push_back(state[i]);
        }
        sequence = outputs.size() == 1 ? outputs[0] : builder.call("aten.cat.default", {args_list(outputs), 2});
    }
    const NodeValue output =
        packing ? picked(reshape(sequence, {r.time * r.batch, r.directions * r.hidden}), packing->unpacked)
                : turned(sequence);
    std::vector<NodeRef> results = {output.ref};
    for (const std::vector<NodeValue>& parts : last)
        results.push_back(builder.call("aten.stack.default", {args_list(parts), 0}).ref);
    return results;
}

std::vector<NodeRef> decompose_cell(GraphBuilder& builder, const Arguments<NodeValue>& args) {
    const Recurrence r = cell_of(args);
    const State state = initial_state(args, r.kind);
    const NodeValue from_input =
        linear(builder, args.tensor("input"), args.tensor("w_ih"), args.optional_tensor("b_ih"));
    const NodeValue from_hidden = linear(builder, state[0], args.tensor("w_hh"), args.optional_tensor("b_hh"));
    std::vector<NodeRef> results;
    for (const NodeValue& part : step(builder, r.kind, from_input, from_hidden, state)) results.push_back(part.ref);
    return results;
}

// ---- records ----

constexpr OpDef kRnnOps[] = {
    {.name = "aten.lstm.input",
     .doc = "Long short-term memory over a sequence; pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
     .schema = "lstm.input(Tensor input, Tensor[] hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
               "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_sequence,
     .eval = eval_sequence,
     .decompose = decompose_sequence},
    {.name = "aten.gru.input",
     .doc = "Gated recurrent units over a sequence; pytorch.org/docs/stable/generated/torch.nn.GRU.html",
     .schema = "gru.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, float dropout, "
               "bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_sequence,
     .eval = eval_sequence,
     .decompose = decompose_sequence},
    {.name = "aten.rnn_tanh.input",
     .doc = "Recurrent network with tanh; pytorch.org/docs/stable/generated/torch.nn.RNN.html",
     .schema = "rnn_tanh.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
               "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_sequence,
     .eval = eval_sequence,
     .decompose = decompose_sequence},
    {.name = "aten.rnn_relu.input",
     .doc = "Recurrent network with relu; pytorch.org/docs/stable/generated/torch.nn.RNN.html",
     .schema = "rnn_relu.input(Tensor input, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
               "float dropout, bool train, bool bidirectional, bool batch_first) -> (Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_sequence,
     .eval = eval_sequence,
     .decompose = decompose_sequence},
    {.name = "aten.lstm.data",
     .doc = "Long short-term memory over packed sequences; pytorch.org/docs/stable/generated/torch.nn.LSTM.html",
     .schema = "lstm.data(Tensor data, Tensor batch_sizes, Tensor[] hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_sequence,
     .decompose = decompose_sequence},
    {.name = "aten.gru.data",
     .doc = "Gated recurrent units over packed sequences; pytorch.org/docs/stable/generated/torch.nn.GRU.html",
     .schema = "gru.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int num_layers, "
               "float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_sequence,
     .decompose = decompose_sequence},
    {.name = "aten.rnn_tanh.data",
     .doc = "Recurrent network with tanh over packed sequences; pytorch.org/docs/stable/generated/torch.nn.RNN.html",
     .schema = "rnn_tanh.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_sequence,
     .decompose = decompose_sequence},
    {.name = "aten.rnn_relu.data",
     .doc = "Recurrent network with relu over packed sequences; pytorch.org/docs/stable/generated/torch.nn.RNN.html",
     .schema = "rnn_relu.data(Tensor data, Tensor batch_sizes, Tensor hx, Tensor[] params, bool has_biases, int "
               "num_layers, float dropout, bool train, bool bidirectional) -> (Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_sequence,
     .decompose = decompose_sequence},
    {.name = "aten.lstm_cell.default",
     .doc = "One step of an LSTM: (h, c); pytorch.org/docs/stable/generated/torch.nn.LSTMCell.html",
     .schema = "lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) "
               "-> (Tensor, Tensor)",
     .dtypes = kFloating,
     .infer = infer_cell,
     .eval = eval_cell,
     .decompose = decompose_cell},
    {.name = "aten.gru_cell.default",
     .doc = "One step of a GRU; pytorch.org/docs/stable/generated/torch.nn.GRUCell.html",
     .schema = "gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) "
               "-> Tensor",
     .dtypes = kFloating,
     .infer = infer_cell,
     .eval = eval_cell,
     .decompose = decompose_cell},
    {.name = "aten.rnn_tanh_cell.default",
     .doc = "One step of a recurrent network; pytorch.org/docs/stable/generated/torch.nn.RNNCell.html",
     .schema = "rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
               "Tensor? b_hh=None) -> Tensor",
     .dtypes = kFloating,
     .infer = infer_cell,
     .eval = eval_cell,
     .decompose = decompose_cell},
    {.name = "aten.rnn_relu_cell.default",
     .doc = "One step of a recurrent network; pytorch.org/docs/stable/generated/torch.nn.RNNCell.html",
     .schema = "rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, "
               "Tensor? b_hh=None) -> Tensor",
     .dtypes = kFloating,
     .infer = infer_cell,
     .eval = eval_cell,
     .decompose = decompose_cell},
};

}  // namespace

std::span<const OpDef> rnn_ops() { return kRnnOps; }

}  // namespace whittle
