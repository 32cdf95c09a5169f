// A reduction: a name, a description and the places where it could make a case simpler. One driver (simplify()) owns
// the search for those that can be had at once.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "reduce/reductions/draft.h"

namespace whittle::reduce {

/// One place. Edits of one case can be applied together: what contradicts an earlier one has no effect, or makes no
/// legal case.
struct Edit {
    std::string what;  ///< "bypass %relu", for logs and tests
    std::function<void(Draft&, std::int64_t level)> apply;
    /// `simplest` is tried first. Where that does not fail any more, the levels between are bisected; `unchanged` is
    /// the level of the case as it is.
    std::int64_t simplest = 0, unchanged = 1;
};

struct Reduction {
    std::string_view name;
    std::string_view doc;  ///< "one line, as minify passes shows it"
    std::vector<Edit> (*edits)(const Case&);
};

/// In the order in which they run.
std::span<const Reduction> reductions();

// One file each.
std::vector<Edit> nested_edits(const Case& from);
std::vector<Edit> output_edits(const Case& from);
std::vector<Edit> bypass_edits(const Case& from);
std::vector<Edit> operand_edits(const Case& from);
std::vector<Edit> dimension_edits(const Case& from);
std::vector<Edit> dtype_edits(const Case& from);
std::vector<Edit> argument_edits(const Case& from);
std::vector<Edit> value_edits(const Case& from);
std::vector<Edit> data_edits(const Case& from);

/// A tensor whose every element is `value`.
Tensor filled(DType dtype, const Sizes& sizes, const Scalar& value);

/// Calls f(graph, at) for the case's graph and all graphs nested in it; `at` gives the draft of that graph.
using DraftOf = std::function<Draft&(Draft&)>;
void for_each_graph(const Case& from, const std::function<void(const Graph&, const DraftOf&)>& f);

}  // namespace whittle::reduce
