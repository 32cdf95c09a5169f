// What ONNX's recurrent ops (RNN, GRU, LSTM) share: their sizes, options and activation functions.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "ops/onnx/rewrite.h"

namespace whittle::onnx_dialect {

struct Activation {
    std::string name;
    double alpha = 0, beta = 0;
};

/// One call: sizes of its operands, checked against each other, and its attributes.
struct Recurrent {
    std::int64_t time = 0, batch = 0, input = 0, hidden = 0, directions = 1;
    std::int64_t gates = 1;  ///< 1 RNN, 3 GRU, 4 LSTM
    bool batch_first = false;
    std::vector<Activation> activations;  ///< of the first direction, then of the second
    double clip = 0;                      ///< of what goes into an activation; 0: not clipped
    std::int64_t results = 1;             ///< Y, Y_h, Y_c: how many of them
    std::string direction;

    /// Direction `d` runs from the last element to the first.
    bool reversed(std::int64_t d) const { return direction == "reverse" || d == 1; }
    const Activation& activation(std::int64_t d, std::size_t i) const {
        return activations[static_cast<std::size_t>(d) * activations.size() / static_cast<std::size_t>(directions) + i];
    }
    Sizes y_sizes() const {
        return batch_first ? Sizes{batch, time, directions, hidden} : Sizes{time, directions, batch, hidden};
    }
    Sizes state_sizes() const {
        return batch_first ? Sizes{batch, directions, hidden} : Sizes{directions, batch, hidden};
    }
};

/// Reads the attributes. `defaults` are the activation functions of one direction. Throws Error for operands that do
/// not fit each other and unknown options.
template <class T>
Recurrent recurrent_of(const Arguments<T>& arguments, std::int64_t gates, const std::vector<std::string>& defaults);

double apply(const Activation& activation, double x);
V apply(const Activation& activation, const V& x);

}  // namespace whittle::onnx_dialect
