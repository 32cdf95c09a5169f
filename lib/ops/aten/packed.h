// Packed sequences: the steps of sequences of unlike lengths one after the other, each without those that have ended.
// How many rows a step has is data, in a list `batch_sizes` that never grows; sizes of a graph do not depend on it.
// https://pytorch.org/docs/stable/generated/torch.nn.utils.rnn.PackedSequence.html
#pragma once

#include "ops/core/op.h"

namespace whittle {

/// Where the rows of a packed sequence are among [time, batch].
struct Packing {
    V there;     ///< [time, batch, 1]
    V rows;      ///< [time * batch]: where in the packed rows each is; of those that are not there any
    V unpacked;  ///< [rows]: where in time * batch each packed row is
};

/// As nodes of the graph, of a list batch_sizes of `time` numbers, whose sum is `rows`.
Packing packing_of(std::int64_t time, std::int64_t batch, const V& batch_sizes, std::int64_t rows);

}  // namespace whittle
