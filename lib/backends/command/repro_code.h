// Repros of command backends.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "graph/emitter.h"

namespace whittle {

/// A program that writes the folder that the command reads, runs it, and reads what it wrote. `words` are the
/// command's. Throws Error when the graph has no spelling in the command's format.
SuspectCode command_code(const EmitRequest& request, const std::vector<std::string>& words);

/// What a worker is asked, as a line; "{}" stands for the folder.
struct WorkerQuestion {
    std::string text;
    std::string text_without;  ///< the culprit's switch; empty: no switch is culprit
};

/// The same for a worker, which is asked once about the files in `folder`.
SuspectCode worker_code(const EmitRequest& request, const std::vector<std::string>& words,
                        const std::filesystem::path& folder, const WorkerQuestion& question);

/// What of a command's words is a file of its own and no program of the system: it lies beside the repro.
bool is_companion(const std::string& word);

/// The files of a script's folder that the script names, or imports as Python's modules, and those that these name:
/// without them it does not run elsewhere. In the order of their names; none of a file that is no text.
std::vector<std::filesystem::path> files_named_by(const std::filesystem::path& script);

}  // namespace whittle
