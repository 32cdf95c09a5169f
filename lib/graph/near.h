// The nearest graph that a compiler gets right: a failing one with one change, which says what matters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "graph/graph.h"
#include "graph/schema.h"

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

/// "Right without `dilations`."; "This would be right without `dilations`.". `graph` is the
/// failing one, under the names that a report has.
std::string near_text(const Graph& graph, const NearCase& near);

/// "Sub(x, ReduceMean(…))": a call for a title; `swapped`: with its operands in the other order.
std::string call_in_title(const Graph& graph, const Node& call, bool swapped = false);

}  // namespace whittle
