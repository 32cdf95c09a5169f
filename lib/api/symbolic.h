// Graphs whose inputs' sizes may vary: how their sizes read, and what they ask of each other.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "capture/guard.h"
#include "graph/graph.h"

namespace whittle::api {

struct SymbolicGraph {
    /// That occur in the graph; behind those of inputs those that are data, "u0": no guard is about these.
    std::vector<capture::SizeSymbol> symbols = {};
    std::vector<std::int64_t> values = {};  ///< theirs in the recorded graph
    /// What the graph asks of them, and the node that asks, by its name, where it is one.
    struct Asked {
        capture::SizeCondition condition = {};
        std::string node = {};
        bool is_bound = false;  ///< unless the numbers that it comes from follow from the size
    };
    std::vector<Asked> conditions = {};
    std::vector<std::string> inputs = {}, outputs = {};  ///< sizes in order: "[s0, 3]"
    std::string shape = {};                              ///< the graph without sizes and numbers
    std::vector<std::int64_t> numbers = {};              ///< those numbers, in order
    std::vector<double> reals = {};                      ///< and those of floating point
    /// A symbol that has one size only: an operation, by its node's name, spells it out.
    struct Fixed {
        capture::SizeSymbol symbol = {};
        std::int64_t size = 0;
        std::string node = {}, op = {}, words = {};
    };
    std::vector<Fixed> fixed = {};
};

/// True for graphs that differ in the sizes of their symbols only: each number is the same in both, or a multiple of a
/// symbol's value, as far from it, or so much divided by it, as the other is of the other's.
bool same_but_for_sizes(const SymbolicGraph& a, const SymbolicGraph& b);

/// What was found of the graph at other sizes, given its symbols, their values, its shape and its numbers.
using KnownSymbolic = std::function<std::optional<SymbolicGraph>(const SymbolicGraph& form)>;

/// `graph` has no writes; its placeholders are named after sources, as capture names them. What it asks of sizes is
/// found by trying (passes/symbolic_sizes.h), once: where it is `known`, that is so at these sizes, too.
SymbolicGraph symbolic_graph(const Graph& graph, const std::vector<capture::SizeSymbol>& symbols,
                             const KnownSymbolic& known = {});

}  // namespace whittle::api
