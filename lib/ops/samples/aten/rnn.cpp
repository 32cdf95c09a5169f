// Samples of lib/ops/aten/rnn.cpp.
#include <cmath>

#include "ops/aten/recurrent.h"
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

/// Small weights, so that gates do not saturate.
Tensor weight(DType dtype, const Sizes& sizes, std::uint64_t seed) { return uniform(dtype, sizes, -0.6, 0.6, seed); }

struct SampleSizes {
    std::int64_t time = 3, batch = 2, input = 3, hidden = 4, layers = 1;
    bool biases = true, bidirectional = false, batch_first = false;
};

ArgList tensor_arguments(int first, int count) {
    ArgList list;
    for (int i = 0; i < count; i++) list.push_back(t(first + i));
    return list;
}

Sample sample_rnn(DType dtype, RnnKind kind, const std::string& label, const SampleSizes& s) {
    const std::int64_t directions = s.bidirectional ? 2 : 1, rows = gates(kind) * s.hidden;
    const int states = kind == RnnKind::lstm ? 2 : 1;
    Sample sample{label, {}, {}};
    std::uint64_t seed = 1;
    sample.tensors.push_back(
        weight(dtype, s.batch_first ? Sizes{s.batch, s.time, s.input} : Sizes{s.time, s.batch, s.input}, seed++));
    for (int i = 0; i < states; i++)
        sample.tensors.push_back(weight(dtype, {s.layers * directions, s.batch, s.hidden}, seed++));
    int params = 0;
    for (std::int64_t i = 0; i < s.layers * directions; i++) {
        const std::int64_t features = i < directions ? s.input : directions * s.hidden;
        std::vector<Sizes> sizes = {{rows, features}, {rows, s.hidden}};
        if (s.biases) sizes.insert(sizes.end(), {{rows}, {rows}});
        for (const Sizes& of : sizes) sample.tensors.push_back(weight(dtype, of, seed++));
        params += static_cast<int>(sizes.size());
    }
    sample.args = {t(0),
                   states == 2 ? Arg(tensor_arguments(1, 2)) : t(1),
                   tensor_arguments(1 + states, params),
                   s.biases,
                   s.layers,
                   0.0,
                   false,
                   s.bidirectional,
                   s.batch_first};
    return sample;
}

template <RnnKind Kind>
Samples sample_sequence(DType dtype) {
    Samples result = {sample_rnn(dtype, Kind, "plain", {}),
                      sample_rnn(dtype, Kind, "two layers", {.layers = 2}),
                      sample_rnn(dtype, Kind, "bidirectional", {.bidirectional = true}),
                      sample_rnn(dtype, Kind, "two layers, both ways, batch first",
                                 {.layers = 2, .bidirectional = true, .batch_first = true}),
                      sample_rnn(dtype, Kind, "no biases, batch first", {.biases = false, .batch_first = true}),
                      sample_rnn(dtype, Kind, "one step", {.time = 1, .batch = 1}),
                      sample_rnn(dtype, Kind, "empty batch", {.batch = 0})};
    Sample strided = sample_rnn(dtype, Kind, "strided", {});
    for (Tensor& tensor : strided.tensors) tensor = tensor.rank() == 1 ? negative(tensor) : transposed(tensor);
    result.push_back(std::move(strided));
    if (Kind == RnnKind::relu) return result;
    Sample special = sample_rnn(dtype, Kind, "special", {});
    special.tensors[0] = values(dtype, {NAN, 1, 1, INFINITY, 2, 0, 1, 1, 1, 0, 0, 0, 1, 2, 3, 100, -100, 5}, {3, 2, 3});
    result.push_back(std::move(special));
    return result;
}

/// The same of packed sequences: (data, batch_sizes, hx, params, …), as many rows as all batch_sizes together.
template <RnnKind Kind>
Samples sample_packed(DType dtype) {
    Samples result;
    const auto add = [&](const std::string& label, const SampleSizes& s, const std::vector<double>& batch_sizes) {
        Sample sample = sample_rnn(dtype, Kind, label, s);
        double rows = 0;
        for (const double n : batch_sizes) rows += n;
        sample.tensors[0] = weight(dtype, {static_cast<std::int64_t>(rows), s.input}, 1);
        sample.tensors.push_back(values(DType::i64, batch_sizes));
        sample.args.insert(sample.args.begin() + 1, t(static_cast<int>(sample.tensors.size()) - 1));
        sample.args.pop_back();  // batch_first
        result.push_back(std::move(sample));
    };
    add("plain", {.batch = 3}, {3, 2, 2, 1});
    add("all as long", {}, {2, 2, 2});
    add("two layers, both ways", {.batch = 3, .layers = 2, .bidirectional = true}, {3, 3, 1});
    add("no biases", {.batch = 2, .biases = false}, {2, 1});
    return result;
}

template <RnnKind Kind>
Samples sample_cell(DType dtype) {
    Samples result;
    const int states = Kind == RnnKind::lstm ? 2 : 1;
    for (const bool biases : {false, true})
        for (const std::int64_t batch : {0, 1, 3}) {
            Sample sample = sample_rnn(dtype, Kind, "", {.time = 1, .batch = batch, .biases = biases});
            sample.label = std::string(biases ? "biases" : "no biases") + ", batch " + std::to_string(batch);
            for (int i = 0; i <= states; i++) {  // drop the dimension of time or layers
                const Sizes& sizes = sample.tensors[i].sizes();
                const Sizes rest(sizes.begin() + 1, sizes.end());
                sample.tensors[i] = sample.tensors[i].as_strided(rest, contiguous_strides(rest), 0);
            }
            const Arg state = states == 2 ? Arg(tensor_arguments(1, 2)) : t(1);
            sample.args = {t(0), state, t(1 + states), t(2 + states)};
            if (biases) sample.args.insert(sample.args.end(), {t(3 + states), t(4 + states)});
            result.push_back(std::move(sample));
        }
    return result;
}

Samples sample_layer(DType dtype) {
    const auto layer = [&](const std::string& label, bool reverse, bool biases) {
        const Sample lstm = sample_rnn(dtype, RnnKind::lstm, label, {.biases = biases});
        std::vector<Tensor> tensors = {lstm.tensors[0], lstm.tensors[3], lstm.tensors[4]};
        const std::vector<double> none(static_cast<std::size_t>(lstm.tensors[3].sizes()[0]), 0);
        for (const std::size_t i : {5, 6}) tensors.push_back(biases ? lstm.tensors[i] : values(dtype, none));
        tensors.push_back(lstm.tensors[1]);
        tensors.push_back(lstm.tensors[2]);
        ArgList args = tensor_arguments(0, 7);
        const std::int64_t hidden = lstm.tensors[4].sizes()[1];
        args.insert(args.end(), {reverse, Arg::ints({}), 2, hidden, 1, biases, false, false, false});
        return Sample{label, tensors, args};
    };
    return {layer("forward", false, true), layer("backward", true, true), layer("no biases", false, false)};
}

}  // namespace

Table rnn_table() {
    return {{{"aten.lstm.input"}, sample_sequence<RnnKind::lstm>},
            {{"aten.gru.input"}, sample_sequence<RnnKind::gru>},
            {{"aten.rnn_tanh.input"}, sample_sequence<RnnKind::tanh>},
            {{"aten.rnn_relu.input"}, sample_sequence<RnnKind::relu>},
            {{"aten.lstm.data"}, sample_packed<RnnKind::lstm>},
            {{"aten.gru.data"}, sample_packed<RnnKind::gru>},
            {{"aten.rnn_tanh.data"}, sample_packed<RnnKind::tanh>},
            {{"aten.rnn_relu.data"}, sample_packed<RnnKind::relu>},
            {{"aten.mkldnn_rnn_layer.default"}, sample_layer},
            {{"aten.lstm_cell.default"}, sample_cell<RnnKind::lstm>},
            {{"aten.gru_cell.default"}, sample_cell<RnnKind::gru>},
            {{"aten.rnn_tanh_cell.default"}, sample_cell<RnnKind::tanh>},
            {{"aten.rnn_relu_cell.default"}, sample_cell<RnnKind::relu>}};
}

}  // namespace whittle::samples
