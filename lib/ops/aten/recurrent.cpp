#include "ops/aten/recurrent.h"
#include "ops/aten/formulas.h"

#include <algorithm>
#include <cmath>

#include "base/checked.h"
#include "ops/core/gemm.h"

namespace whittle {
namespace {

using namespace aten;

RnnKind kind_of(const std::string& op) {
    if (op.starts_with("lstm")) return RnnKind::lstm;
    if (op.starts_with("gru")) return RnnKind::gru;
    if (op.starts_with("rnn_tanh")) return RnnKind::tanh;
    WHITTLE_CHECK(op.starts_with("rnn_relu"), op + " is not a recurrent op");
    return RnnKind::relu;
}

void expect_meta(const Recurrence& r, const std::string& op, const std::string& what, const ValueMeta& found,
                 const Sizes& sizes) {
    check_same_dtype(op, r.dtype, what, found.dtype);
    if (found.sizes != sizes)
        throw Error(op + ": found '" + what + "' of sizes " + to_string(found.sizes) + ", expected " +
                    to_string(sizes));
}

template <class T>
void check_state(const Arguments<T>& args, const Recurrence& r, const Sizes& sizes) {
    const std::vector<T> state = initial_state(args, r.kind);
    if (r.kind == RnnKind::lstm && state.size() != 2)
        throw Error(args.schema().name + ": found " + std::to_string(state.size()) +
                    " tensors in hx, expected 2: the hidden state and the cell state");
    for (const T& part : state) expect_meta(r, args.schema().name, "hx", meta_of(part), sizes);
}

template <class T>
void check_weights(const Recurrence& r, const std::string& op, const std::vector<T>& weights, std::int64_t features) {
    const std::int64_t rows = gates(r.kind) * r.hidden;
    expect_meta(r, op, "w_ih", meta_of(weights[0]), {rows, features});
    expect_meta(r, op, "w_hh", meta_of(weights[1]), {rows, r.hidden});
    for (std::size_t i = 2; i < weights.size(); i++) expect_meta(r, op, "bias", meta_of(weights[i]), {rows});
}

template <class T>
std::vector<T> weights_of(const std::vector<T>& params, const Recurrence& r, std::int64_t which) {
    const auto first = params.begin() + which * r.weights();
    return std::vector<T>(first, first + r.weights());
}

}  // namespace

template <class T>
Recurrence recurrence_of(const Arguments<T>& args) {
    const std::string& op = args.schema().name;
    const bool packed = is_packed(args);
    const ValueMeta input = meta_of(args.tensor(packed ? "data" : "input"));
    Recurrence r{kind_of(op), input.dtype, args.boolean("has_biases"), !packed && args.boolean("batch_first")};
    r.layers = args.integer("num_layers");
    r.directions = args.boolean("bidirectional") ? 2 : 1;
    if (input.sizes.size() != (packed ? 2 : 3))
        throw Error(op + ": found an input of sizes " + to_string(input.sizes) + ", expected " +
                    (packed ? "two" : "three") + " dimensions");
    if (args.boolean("train") && args.number("dropout") != 0)
        throw Error(op + ": found a nonzero dropout in training, expected 0: dropout is random",
                    "export the model in evaluation mode");
    if (packed) {
        if (initial_state(args, r.kind).empty()) throw Error(op + ": found an empty hx, expected the initial state");
        const ValueMeta steps = meta_of(args.tensor("batch_sizes")), state = meta_of(initial_state(args, r.kind).at(0));
        if (steps.dtype != DType::i64 || steps.sizes.size() != 1 || state.sizes.size() != 3)
            throw Error(op + ": found batch_sizes of " + std::string(name(steps.dtype)) + to_string(steps.sizes) +
                        " and an hx of sizes " + to_string(state.sizes) +
                        ", expected batch_sizes of dtype i64 with 1 dimension, and an hx with 3 dimensions");
        r.time = steps.sizes[0];
        r.batch = state.sizes[1];
    } else {
        r.time = input.sizes[r.batch_first ? 1 : 0];
        r.batch = input.sizes[r.batch_first ? 0 : 1];
    }
    r.input = input.sizes.back();
    const std::vector<T> params = args.tensors("params");
    const std::int64_t expected = (Checked(r.layers) * r.directions * r.weights()).value();
    if (r.time < 1 || r.layers < 1 || static_cast<std::int64_t>(params.size()) != expected)
        throw Error(op + ": found " + std::to_string(params.size()) + " params and a sequence of " +
                        std::to_string(r.time) + " steps, expected " +
                        std::to_string(std::max<std::int64_t>(expected, 1)) + " params and at least one step",
                    "if the module has a proj_size, build the module without it: projections are not supported");
    if (meta_of(params[1]).sizes.size() != 2)
        throw Error(op + ": found params[1] of sizes " + to_string(meta_of(params[1]).sizes) + ", expected a matrix");
    r.hidden = meta_of(params[1]).sizes[1];
    check_state(args, r, r.state_sizes());
    for (std::int64_t i = 0; i < r.layers * r.directions; i++)
        check_weights(r, op, weights_of(params, r, i), i < r.directions ? r.input : r.directions * r.hidden);
    return r;
}

template <class T>
Recurrence cell_of(const Arguments<T>& args) {
    const std::string& op = args.schema().name;
    const ValueMeta input = meta_of(args.tensor("input")), w_hh = meta_of(args.tensor("w_hh"));
    if (input.sizes.size() != 2 || w_hh.sizes.size() != 2)
        throw Error(op + ": found input of sizes " + to_string(input.sizes) + " and w_hh of sizes " +
                    to_string(w_hh.sizes) + ", expected 2 dimensions for each");
    Recurrence r{kind_of(op), input.dtype};
    r.batch = input.sizes[0];
    r.input = input.sizes[1];
    r.hidden = w_hh.sizes[1];
    std::vector<T> weights = {args.tensor("w_ih"), args.tensor("w_hh")};
    for (const char* name : {"b_ih", "b_hh"})
        if (const auto bias = args.optional_tensor(name)) weights.push_back(*bias);
    check_state(args, r, {r.batch, r.hidden});
    check_weights(r, op, weights, r.input);
    return r;
}

template Recurrence recurrence_of(const Arguments<V>&);
template Recurrence cell_of(const Arguments<V>&);

std::vector<ValueMeta> infer_sequence(const Arguments<ValueMeta>& args) {
    const Recurrence r = recurrence_of(args);
    const Sizes packed = is_packed(args) ? Sizes{args.tensor("data").sizes[0], r.directions * r.hidden} : Sizes{};
    std::vector<ValueMeta> results = {ValueMeta::contiguous(r.dtype, is_packed(args) ? packed : r.sequence_sizes())};
    results.resize(r.kind == RnnKind::lstm ? 3 : 2, ValueMeta::contiguous(r.dtype, r.state_sizes()));
    return results;
}

std::vector<ValueMeta> infer_cell(const Arguments<ValueMeta>& args) {
    const Recurrence r = cell_of(args);
    return std::vector<ValueMeta>(r.kind == RnnKind::lstm ? 2 : 1, ValueMeta::contiguous(r.dtype, {r.batch, r.hidden}));
}

// ---- eval: the equations, element by element ----

namespace {

/// Half types are rounded wherever an op of their own would store its result.
template <class T>
struct Cell {
    Recurrence r;

    T round(T x) const { return rounded(x, r.dtype); }
    T sigmoid(T x) const { return round(1 / (1 + std::exp(-x))); }
    T tanh(T x) const { return round(std::tanh(x)); }

    /// One element's new h (and c) from its gates' contributions x (input) and y (hidden).
    T next(const T* x, const T* y, T h, T& c) const {
        const std::int64_t n = r.hidden;
        const auto gate = [&](std::int64_t i) { return round(x[i * n] + y[i * n]); };
        switch (r.kind) {
            case RnnKind::tanh:
                return tanh(gate(0));
            case RnnKind::relu:
                return gate(0) > 0 || std::isnan(gate(0)) ? gate(0) : T{0};
            case RnnKind::gru: {
                const T reset = sigmoid(gate(0)), keep = sigmoid(gate(1));
                const T fresh = tanh(round(x[2 * n] + round(reset * y[2 * n])));
                return round(round(round(h - fresh) * keep) + fresh);
            }
            case RnnKind::lstm:
                c = round(round(sigmoid(gate(1)) * c) + round(sigmoid(gate(0)) * tanh(gate(2))));
                return round(sigmoid(gate(3)) * tanh(c));
        }
        __builtin_unreachable();
    }
};

/// rows × weight^T + bias, rounded: [count, weight rows].
template <class T>
std::vector<T> project(const T* rows, std::int64_t count, const Tensor& weight, const Tensor* bias) {
    const std::int64_t n = weight.sizes()[0], k = weight.sizes()[1];
    const Elements<T> elements(weight);
    std::vector<T> result(static_cast<std::size_t>(count * n), T{0});
    if (bias) result = load_broadcast<T>(*bias, {count, n});
    gemm({rows, count, k, k, 1}, {elements.data(), k, n, elements.stride(1), elements.stride(0)}, result.data(), n,
         true);
    for (T& x : result) x = rounded(x, weight.dtype());
    return result;
}

/// Advances h and c ([batch, hidden]) by one step, given the input's contribution to all gates.
template <class T>
void advance(const Cell<T>& cell, const T* from_input, const Tensor& w_hh, const Tensor* b_hh, T* h, T* c) {
    const Recurrence& r = cell.r;
    const std::vector<T> from_hidden = project(h, r.batch, w_hh, b_hh);
    for (std::int64_t i = 0; i < r.batch * r.hidden; i++) {
        const std::int64_t at = i / r.hidden * gates(r.kind) * r.hidden + i % r.hidden;
        h[i] = cell.next(from_input + at, from_hidden.data() + at, h[i], c[i]);
    }
}

/// All layers over a [time, batch, features] sequence, which becomes the output; h and c hold all states.
template <class T>
void run(const Cell<T>& cell, const std::vector<Tensor>& params, std::vector<T>& sequence, std::vector<T>& h,
         std::vector<T>& c) {
    const Recurrence& r = cell.r;
    const std::int64_t state = r.batch * r.hidden, width = gates(r.kind) * r.hidden;
    for (std::int64_t layer = 0; layer < r.layers; layer++) {
        std::vector<T> output(static_cast<std::size_t>(r.time * r.directions * state));
        for (std::int64_t direction = 0; direction < r.directions; direction++) {
            const std::int64_t which = layer * r.directions + direction;
            const std::vector<Tensor> weights = weights_of(params, r, which);
            const std::vector<T> from_input =
                project(sequence.data(), r.time * r.batch, weights[0], r.biases ? &weights[2] : nullptr);
            T *own_h = h.data() + which * state, *own_c = c.data() + which * state;
            for (std::int64_t i = 0; i < r.time; i++) {
                const std::int64_t t = direction == 1 ? r.time - 1 - i : i;
                advance(cell, from_input.data() + t * r.batch * width, weights[1], r.biases ? &weights[3] : nullptr,
                        own_h, own_c);
                for (std::int64_t b = 0; b < r.batch; b++)
                    std::copy_n(own_h + b * r.hidden, r.hidden,
                                output.data() + ((t * r.batch + b) * r.directions + direction) * r.hidden);
            }
        }
        sequence = std::move(output);
    }
}

/// A [batch, time, features] tensor with the first two dimensions exchanged, or as it is.
Tensor time_first(const Tensor& tensor, bool batch_first) {
    if (!batch_first) return tensor;
    Sizes sizes = tensor.sizes();
    Strides strides = tensor.strides();
    std::swap(sizes[0], sizes[1]);
    std::swap(strides[0], strides[1]);
    return tensor.as_strided(sizes, strides, tensor.offset());
}

template <class T>
std::vector<Tensor> evaluate_sequence(const Recurrence& r, const Arguments<Tensor>& args) {
    const std::vector<Tensor> start = initial_state(args, r.kind);
    std::vector<T> h = start[0].values<T>(), c = start.back().values<T>();
    std::vector<T> sequence = time_first(args.tensor("input"), r.batch_first).values<T>();
    run(Cell<T>{r}, args.tensors("params"), sequence, h, c);
    const Tensor output = store(sequence, r.dtype, {r.time, r.batch, r.directions * r.hidden});
    std::vector<Tensor> results = {time_first(output, r.batch_first).contiguous(), store(h, r.dtype, r.state_sizes())};
    if (r.kind == RnnKind::lstm) results.push_back(store(c, r.dtype, r.state_sizes()));
    return results;
}

template <class T>
std::vector<Tensor> evaluate_cell(const Recurrence& r, const Arguments<Tensor>& args) {
    const std::vector<Tensor> start = initial_state(args, r.kind);
    std::vector<T> h = start[0].values<T>(), c = start.back().values<T>();
    const auto b_ih = args.optional_tensor("b_ih"), b_hh = args.optional_tensor("b_hh");
    const std::vector<T> input = args.tensor("input").values<T>();
    const std::vector<T> from_input = project(input.data(), r.batch, args.tensor("w_ih"), b_ih ? &*b_ih : nullptr);
    advance(Cell<T>{r}, from_input.data(), args.tensor("w_hh"), b_hh ? &*b_hh : nullptr, h.data(), c.data());
    std::vector<Tensor> results = {store(h, r.dtype, {r.batch, r.hidden})};
    if (r.kind == RnnKind::lstm) results.push_back(store(c, r.dtype, {r.batch, r.hidden}));
    return results;
}

}  // namespace

std::vector<Tensor> eval_sequence(const Arguments<Tensor>& args) {
    const Recurrence r = recurrence_of(args);
    return r.dtype == DType::f64 ? evaluate_sequence<double>(r, args) : evaluate_sequence<float>(r, args);
}

std::vector<Tensor> eval_cell(const Arguments<Tensor>& args) {
    const Recurrence r = cell_of(args);
    return r.dtype == DType::f64 ? evaluate_cell<double>(r, args) : evaluate_cell<float>(r, args);
}

}  // namespace whittle
