// The repro of a graph that takes too long: a script that runs it on both sides in turns, and prints both times with
// their spread. It needs Python and the compilers' own processes, and nothing of Whittle.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "repro/repro.h"

namespace whittle::repro {

struct TimingRepro {
    std::filesystem::path output;                      ///< run.py, in a folder of its own
    std::vector<std::filesystem::path> sidecars = {};  ///< the two models, in folders beside it
    bool verified = false;                             ///< it was run, and found the first side too slow
    std::string printed = {};                          ///< by the run, or why there was none
};

/// Of a graph whose failure is `slow`. Writes the files whether or not it verifies. Throws Error where one of the two
/// compilers is no process of its own that takes times.
TimingRepro write_timing(const Graph& graph, const Options& options);
std::string to_text(const TimingRepro& repro, const Failure& failure, const Options& options);
nlohmann::json to_json(const TimingRepro& repro);

}  // namespace whittle::repro
