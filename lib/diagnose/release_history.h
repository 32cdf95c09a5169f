// Since which release of a compiler a graph fails: the question of every tracker's form, answered by those that are
// installed (graph/releases.h).
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.h"
#include "judge/judge.h"

namespace whittle::diagnose {

/// Two releases between which a graph began to fail: both were asked, and who lies between them gave no answer.
struct Begin {
    std::optional<std::size_t> right = {};  ///< none of the older ones that was asked is
    std::size_t fails = 0;
    std::vector<std::size_t> silent = {};  ///< between the two, or older than `fails` where none is right; ascending
    bool operator==(const Begin&) const = default;
};

/// Of releases 0, 1 …, oldest first, of which `failing` is known to fail. Asks each at most once: log2 of them where
/// all answer and no failure came and went, or one of its begins where one did; those that are silent cost a question
/// each. `stop` is asked before each question; nothing when it says so.
std::optional<Begin> begin_of_failure(std::size_t failing, const std::function<Again(std::size_t)>& ask,
                                      const std::function<bool()>& stop = {});

struct ReleaseHistory {
    std::size_t installed = 0;
    std::string last_good = {};                 ///< empty: none that answers is right
    std::string first_bad = {};                 ///< next to it, but for `cannot_tell`
    std::vector<std::string> cannot_tell = {};  ///< see Begin::silent
    /// Where a newer one than the failing is installed: the newest, which is "right", "wrong" or "cannot tell".
    std::string newest = {}, newest_is = {};

    /// "1.16.3 is right, wrong since 1.17.0 (of 6 installed)", "wrong at least since 1.16.3, the oldest of 6
    /// installed", "wrong at least since 1.17.0 (of 6 installed; 1.16.3 cannot tell); right in 1.30.0".
    std::string text() const;
};

/// Of a graph with its failure, by a backend that offers Releases, in which the failing one is asked no more: nothing
/// of one that does not or has one release only, or when stopped. Each question is a query within limits like any
/// other, asked as often as the failure's rate wants before it says that a release is right. Throws Interrupted.
std::optional<ReleaseHistory> release_history(const Graph& graph, Backend& backend, const Limits& limits,
                                              const std::function<bool()>& stop = {});

}  // namespace whittle::diagnose
