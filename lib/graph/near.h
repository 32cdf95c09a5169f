// The nearest graph that a compiler gets right: a failing one with one change, which says what matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "graph/graph.h"

namespace whittle {

struct NearCase {
    enum class Change {     // who says more comes first
        contiguous,         ///< all inputs are
        separate,           ///< an input for each place in which `node` reads the same one
        swapped,            ///< the two operands of `node`
        not_returned,       ///< `node` is no output
        without_attribute,  ///< of `node`, or without an operand that it may lack
        without_call,       ///< its first operand in the place of `node`
        opset,
        f32  ///< in the place of another dtype
    };
    Change change = Change::contiguous;
    NodeId node = -1;
    std::string attribute = {};
    std::int64_t opset = 0;
    DType dtype = DType::f32;  ///< what the graph has in its place
    bool same_result = false;  ///< what is computed of the failing graph is what is right of this one

    bool operator==(const NearCase&) const = default;
};

}  // namespace whittle
