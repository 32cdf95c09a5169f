// Queries that run elsewhere: a query is one folder with everything in it and one command, which a launcher of the
// user's (srun, ssh HOST, docker run …) starts where it likes. Both sides must see the folder under the same name.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "judge/outcome.h"

namespace whittle {

struct Suspect;

struct Launcher {
    std::vector<std::string> prefix;  ///< of the command; empty: there is no launcher
    std::vector<std::string> answer;  ///< the program that calls answer_query(), before the folder
};

/// As run_suspect() where suspect.launcher takes it; the backend is looked up by name there. The limits hold there, and
/// here the launcher has kLaunchTime more of wall clock. A launcher that ends without an answer is unresolved. Throws
/// Error when it cannot be started.
Outcome run_launched(const Graph& graph, std::span<const Tensor> inputs, const Suspect& suspect);

inline constexpr std::chrono::seconds kLaunchTime{600};

/// The other side: runs the query in `folder` and leaves its answer there. It ends early where whoever waits for it
/// does, as far as standard input comes from there. Throws Error for a folder that holds none.
void answer_query(const std::filesystem::path& folder);

}  // namespace whittle
