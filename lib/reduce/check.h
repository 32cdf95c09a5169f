// check(): which of several graphs fail, and how.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "judge/frames.h"
#include "reduce/request.h"

namespace whittle::reduce {

struct Findings {
    /// A distinct failure.
    struct Failing {
        const LoadedFrame* smallest;                    ///< of the graphs that fail in this way
        std::vector<std::filesystem::path> alike = {};  ///< the files of all of them
    };
    std::string judge = {};                              ///< who was asked
    std::vector<Failing> failing = {};                   ///< in the order in which they were met
    std::map<std::string, std::string> not_judged = {};  ///< by file: why
};

/// Asks the judge once of each distinct graph and its inputs; up to `repeat` times until it fails. Throws Error where a
/// command cannot be asked.
Findings check(const std::vector<LoadedFrame>& frames, const Request& request);

}  // namespace whittle::reduce
