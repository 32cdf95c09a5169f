// check(): which of several graphs fail, and how.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "judge/frames.h"
#include "reduce/request.h"

namespace whittle::reduce {

/// The smallest graph of each distinct failure.
struct Findings {
    std::string judge = {};                                        ///< who was asked
    std::vector<const LoadedFrame*> failing = {};                  ///< in the order in which their failures were met
    std::vector<std::vector<std::filesystem::path>> alike = {};    ///< of each: all files that fail in this way
    std::map<std::filesystem::path, std::string> not_judged = {};  ///< by file: why
};

/// Asks the judge once of each distinct graph and its inputs; up to `repeat` times until it fails. Throws Error where a
/// command cannot be asked.
Findings check(const std::vector<LoadedFrame>& frames, const Search& search);

/// What is printed where there is nothing to minimize. `seen` are the judge's words.
std::string not_failing_text(const Search& search, const std::string& judge, const std::string& seen);

}  // namespace whittle::reduce
