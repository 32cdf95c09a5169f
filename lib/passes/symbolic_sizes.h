// symbolic_sizes(): how the sizes of a graph's values follow from those of its inputs that may vary, and what the
// graph's operations ask of these. Found by trying: shapes are inferred again for other sizes of the inputs, and
// formulas are fitted to what comes out. Nothing is assumed of an operation. Nested graphs go along: their placeholders
// have the sizes of what they are given.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// A dimension of an input (a placeholder) whose size may vary; or one that is data: the first of a call's results
/// (data_sized_results()).
struct SizeSymbol {
    std::string name;  ///< "s0"; "u0" of data
    NodeId input = -1;
    std::size_t dim = 0;
};

/// One for each call whose results have sizes that are data: "u0", "u1" …
std::vector<SizeSymbol> data_symbols(const Graph& graph);

/// What operations rely on: "s0 == 3*s1", "s0 % 3 == 0".
struct SizeRelation {
    std::size_t left = 0;                   ///< positions among the symbols
    std::optional<std::size_t> right = {};  ///< left == factor * right; nothing: left is a multiple of factor
    std::int64_t factor = 1;
    bool operator==(const SizeRelation&) const = default;
};

std::string print(const SizeRelation& relation, const std::vector<SizeSymbol>& symbols);

struct SymbolicSizes {
    std::vector<SizeRelation> relations = {};
    /// The operation that refuses a size, and its words.
    struct Refusal {
        NodeId node = -1;
        std::string words = {};
    };
    /// Of a symbol that others follow, or that is free: the sizes that operations take. From 2 on and up to what the
    /// search tried, where there is no bound.
    struct Range {
        std::size_t symbol = 0;
        std::optional<std::int64_t> least = {}, most = {};
        Refusal below = {}, beyond = {};  ///< who asks for the bound
    };
    std::vector<Range> ranges = {};  ///< of those with a bound
    /// Of each node's first result, one text per dimension: "s0", "2*s0 + s1 - 3", "(s0 + 1)//2", "7".
    std::vector<std::vector<std::string>> sizes = {};
    /// By symbol: the graph is only valid for the one size that it was captured with (an argument spells it out).
    std::vector<bool> fixed = {};
    std::vector<Refusal> refusals = {};  ///< of those, by symbol
};

SymbolicSizes symbolic_sizes(const Graph& graph, const std::vector<SizeSymbol>& symbols);

}  // namespace whittle
