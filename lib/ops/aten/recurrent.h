// Recurrent networks as they are called: shapes, checks and the reference kernels, which run whole sequences by the
// equations. rnn.cpp declares the ops and unrolls them.
#pragma once

#include <vector>

#include "ops/core/dense.h"

namespace whittle {

enum class RnnKind { lstm, gru, tanh, relu };

/// Blocks of `hidden` rows in the weights: i f g o for an LSTM, r z n for a GRU.
constexpr std::int64_t gates(RnnKind kind) { return kind == RnnKind::lstm ? 4 : kind == RnnKind::gru ? 3 : 1; }

struct Recurrence {
    RnnKind kind = RnnKind::lstm;
    DType dtype = DType::f32;
    bool biases = false, batch_first = false;
    std::int64_t layers = 1, directions = 1;
    std::int64_t time = 1, batch = 0, input = 0, hidden = 0;

    /// Weights of one layer in one direction: w_ih, w_hh, and b_ih, b_hh.
    std::int64_t weights() const { return biases ? 4 : 2; }
    /// Sizes of the output sequence, and of each part of the last state.
    Sizes sequence_sizes() const {
        const std::int64_t features = directions * hidden;
        return batch_first ? Sizes{batch, time, features} : Sizes{time, batch, features};
    }
    Sizes state_sizes() const { return {layers * directions, batch, hidden}; }
};

/// From a call of lstm.input, gru.input, rnn_tanh.input or rnn_relu.input, or of their forms "data", whose sequences
/// are packed: then the input is [rows, features], and there are as many steps as batch_sizes. Throws Error for
/// operands that do not fit, for dropout (which is random) and for projections.
template <class T>
Recurrence recurrence_of(const Arguments<T>& args);
/// From a call of lstm_cell, gru_cell, rnn_tanh_cell or rnn_relu_cell: one layer, one direction, one time.
template <class T>
Recurrence cell_of(const Arguments<T>& args);

/// "hx": h, and c for an LSTM.
template <class T>
std::vector<T> initial_state(const Arguments<T>& args, RnnKind kind) {
    return kind == RnnKind::lstm ? args.tensors("hx") : std::vector<T>{args.tensor("hx")};
}

/// Whether a call is of a packed sequence: its rows are those of all steps, one after the other, of which there are
/// ever fewer, as batch_sizes says.
bool is_packed(const AnyArguments auto& args) { return args.schema().param("batch_sizes") != nullptr; }

std::vector<ValueMeta> infer_sequence(const Arguments<ValueMeta>& args);
std::vector<Tensor> eval_sequence(const Arguments<Tensor>& args);
std::vector<ValueMeta> infer_cell(const Arguments<ValueMeta>& args);
std::vector<Tensor> eval_cell(const Arguments<Tensor>& args);

}  // namespace whittle
