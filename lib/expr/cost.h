// What a group has to do at the least, whatever its schedule: for who compares how fast it was with what a machine can.
#pragma once

#include <cstdint>

#include "expr/group.h"

namespace whittle::expr {

struct Cost {
    /// Arithmetic on floats: each element of each stage once; an exp counts as an addition does.
    std::int64_t flops = 0;
    /// Of inputs and outputs, each element once. An input with strides of 0 is as large as its memory.
    std::int64_t bytes = 0;
};
Cost cost(const Group& group);

/// Expression nodes that interpreting the group evaluates, at most.
double interpreted_nodes(const Group& group);

}  // namespace whittle::expr
