// A case: a graph with the inputs it is run on and what the reference makes of them. What oracles judge and reductions
// make smaller.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::reduce {

struct Case {
    Graph graph;
    std::vector<Tensor> inputs = {};    ///< one per placeholder
    std::vector<Tensor> expected = {};  ///< one per output; none where a call is opaque (ops/core/opaque.h)
};

/// A placeholder or a get_attr: what holds data.
bool is_leaf(const Node& node);

/// How large a case is, for reports.
struct Size {
    std::size_t calls = 0;  ///< without getitems, nested graphs included
    std::size_t inputs = 0, outputs = 0;
    std::int64_t elements = 0;  ///< of inputs and attributes, nested graphs included
    bool operator==(const Size&) const = default;
};
Size size_of(const Case& sized);
/// "3 ops, 2 inputs, 1 output, 4,096 elements" without the thousands' separators.
std::string text(const Size& size);

}  // namespace whittle::reduce
