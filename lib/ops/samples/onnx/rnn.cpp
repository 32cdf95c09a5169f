// Samples of lib/ops/onnx/rnn.cpp.
#include <algorithm>

#include "ops/samples/onnx/shared.h"

namespace whittle::samples {
namespace {

/// With `all_operands` the call has lengths and initial states, too, and that of an LSTM has peepholes.
Sample recurrent_sample(DType dtype, std::int64_t gates, const std::string& label, std::int64_t directions = 1,
                        Kwargs kwargs = {}, bool all_operands = false) {
    const std::int64_t time = 3, batch = 2, input = 3, n = 2;
    const bool batch_first =
        std::any_of(kwargs.begin(), kwargs.end(), [](const auto& k) { return k.first == "layout"; });
    const auto weights = [&](const Sizes& sizes, std::uint64_t seed) { return uniform(dtype, sizes, -1, 1, seed); };
    const Sizes state = batch_first ? Sizes{batch, directions, n} : Sizes{directions, batch, n};
    Operands operands = {weights(batch_first ? Sizes{batch, time, input} : Sizes{time, batch, input}, 1),
                         weights({directions, gates * n, input}, 2), weights({directions, gates * n, n}, 3),
                         weights({directions, 2 * gates * n}, 4)};
    if (all_operands) operands.insert(operands.end(), {values(DType::i32, {2, 3}), weights(state, 5)});
    if (all_operands && gates == 4)
        operands.insert(operands.end(), {weights(state, 6), weights({directions, 3 * n}, 7)});
    kwargs.emplace_back("hidden_size", n);
    return at_opset(14, label, operands, std::move(kwargs));
}

Samples rnn_samples(DType dtype) {
    return {recurrent_sample(dtype, 1, "plain"),
            recurrent_sample(dtype, 1, "both ways, all", 2, {{"direction", "bidirectional"}, {"num_outputs", 2}}, true),
            recurrent_sample(dtype, 1, "relu", 1,
                             {{"activations", ArgList{"Relu"}}, {"direction", "reverse"}, {"clip", 0.5}})};
}

Samples gru_samples(DType dtype) {
    return {recurrent_sample(dtype, 3, "plain"),
            recurrent_sample(dtype, 3, "both ways, all", 2, {{"direction", "bidirectional"}, {"num_outputs", 2}}, true),
            recurrent_sample(dtype, 3, "linear_before_reset", 1, {{"linear_before_reset", 1}, {"num_outputs", 2}})};
}

Samples lstm_samples(DType dtype) {
    return {recurrent_sample(dtype, 4, "plain"),
            recurrent_sample(dtype, 4, "both ways, all", 2, {{"direction", "bidirectional"}, {"num_outputs", 3}}, true),
            recurrent_sample(dtype, 4, "batch first, coupled", 1,
                             {{"input_forget", 1}, {"layout", 1}, {"num_outputs", 3}}, true),
            recurrent_sample(dtype, 4, "activations", 1,
                             {{"activation_alpha", ArgList{0.3, 0.6}},
                              {"activation_beta", ArgList{0.4}},
                              {"activations", ArgList{"HardSigmoid", "Softsign", "LeakyRelu"}},
                              {"direction", "reverse"}})};
}

}  // namespace

Table onnx_rnn_table() {
    return {
        {{"onnx.GRU"}, gru_samples},
        {{"onnx.LSTM"}, lstm_samples},
        {{"onnx.RNN"}, rnn_samples},
    };
}

}  // namespace whittle::samples
