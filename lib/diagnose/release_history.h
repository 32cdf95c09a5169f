// Since which release of a compiler a graph fails: the question of every tracker's form, answered by those that are
// installed (graph/abilities.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "judge/judge.h"

namespace whittle::diagnose {

struct ReleaseHistory {
    std::size_t installed = 0;
    std::string last_good = {};                 ///< empty: none that answers is right
    std::string first_bad = {};                 ///< next to it, but for `cannot_tell`
    std::vector<std::string> cannot_tell = {};  ///< see Begin::silent in asker.h
    /// Where a newer one than the failing is installed: the newest, which is "right", "wrong" or "cannot tell".
    std::string newest = {}, newest_is = {};

    /// "1.16.3 is right, wrong since 1.17.0 (of 6 installed)", "wrong at least since 1.16.3, the oldest of 6
    /// installed", "wrong at least since 1.17.0 (of 6 installed; 1.16.3 cannot tell); right in 1.30.0".
    std::string text() const;
};

/// Of a graph with its failure, by a backend that offers Releases, in which the failing one is asked no more: nothing
/// of one that does not or has one release only. Throws Interrupted, where `stop` says so, too.
std::optional<ReleaseHistory> release_history(const Graph& graph, Backend& backend, const Limits& limits,
                                              const std::function<bool()>& stop = {});

}  // namespace whittle::diagnose
