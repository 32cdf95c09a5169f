// How minify searches, as its user declares it: one struct from the command line to the search.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/interrupt.h"

namespace whittle::reduce {

inline constexpr char kDeletion[] = "calls";
/// kDeletion, then the reductions: what llvm-reduce calls delta passes. They run in this order until nothing
/// changes.
std::vector<std::string> pass_names();

struct Strategy {
    std::string mode = "auto";  ///< see search/search.h
    std::vector<std::string> passes = pass_names();
    std::int64_t repeat = 2;  ///< runs of the original, where answers that disagree make it flaky, and of the result
    /// Candidates that are judged at a time (parallel.h). Changes the time, never the result nor the order of the
    /// answers.
    std::int64_t jobs = 1;
    std::optional<std::int64_t> step_limit = {};  ///< distinct cases that are run; answers of a journal are free
    std::optional<std::chrono::steady_clock::time_point> end = {};  ///< when it stops with the best so far
    bool resume = false;  ///< the journal's answers are taken, where an earlier search left one

    /// An interrupt came, or its time is up.
    bool stopped() const { return interrupted() || (end && std::chrono::steady_clock::now() >= *end); }
};

}  // namespace whittle::reduce
