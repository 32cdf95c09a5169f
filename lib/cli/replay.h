// replay: which records run, on what, and how that is reported.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/run_options.h"
#include "replay/records.h"

namespace whittle::cli {

/// "I/N", from 1, or, where that is empty, what the environment says (shard_from_environment()). Throws Error.
Shard shard_of(const std::string& shard);

struct ReplayChoice : RunOptions {
    std::vector<std::filesystem::path> arguments = {};  ///< records, or folders that hold them
    PaceChoice pace = {};
    std::string filter = {}, shard = {};  ///< shard: "I/N", from 1
    std::optional<std::int64_t> to_event = {};
    std::optional<std::filesystem::path> xfail = {};
    int jobs = 1;
    bool require_judged = false;
    std::vector<std::string> reports = {};  ///< "junit=FILE", "tap"

    void declare(Tool& tool);
    /// Throws Error for an argument that is no record, saying what it is and what makes a record of it, for numbers out
    /// of range, and for a backend that is not there.
    void check_usage() const;
    /// The records that the arguments name, without those that the filter or the shard leaves out. Warns of known
    /// failures that no record has. Throws Error for a filter that finds none of them.
    std::vector<std::filesystem::path> records(const Tool& tool, const KnownFailures& known) const;
    /// Of frame records, where the arguments are nothing else: after how many of their events they stop.
    std::optional<std::size_t> events() const;
};

/// Runs the records and reports them. Returns the exit status.
int replay(const Tool& tool, const ReplayChoice& options);

}  // namespace whittle::cli
