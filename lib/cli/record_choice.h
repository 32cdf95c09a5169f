// Which records replay runs: --filter --to-event --shard --xfail.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "replay/records.h"

namespace whittle::cli {

class Tool;

struct RecordChoice {
    std::string filter = {};
    std::optional<std::int64_t> to_event = {};
    std::string shard = {};  ///< "I/N", from 1
    std::optional<std::filesystem::path> xfail = {};

    void declare(Tool& tool);
    /// Throws Error for an argument that is no record, saying what it is and what makes a record of it, and for numbers
    /// out of range.
    void check_usage(std::span<const std::filesystem::path> arguments) const;
    /// The records that the arguments name, without those that the filter or the shard leaves out. Warns of known
    /// failures that no record has. Throws Error for a filter that finds none of them.
    std::vector<std::filesystem::path> records(const Tool& tool, const std::vector<std::filesystem::path>& arguments,
                                               const KnownFailures& known) const;
    KnownFailures known_failures() const { return xfail ? KnownFailures(*xfail) : KnownFailures(); }
    /// Of frame records, where the arguments are nothing else: after how many of their events they stop.
    std::optional<std::size_t> events(std::span<const std::filesystem::path> arguments) const;
};

}  // namespace whittle::cli
