// likely_next(): which sets a search asks about next.
#pragma once

#include <map>
#include <vector>

#include "reduce/search/search.h"

namespace whittle::reduce {

/// The `most` sets that will probably be asked about after `pending`, likeliest first, when each fails with the
/// probability `chance`: the search is deterministic, so rehearsing it with the answers so far and assumed ones tells
/// what it asks next.
std::vector<Set> likely_next(const Problem& problem, Mode mode, const std::map<Set, TestResult>& known,
                             const Set& pending, double chance, std::size_t most);

}  // namespace whittle::reduce
