// How a repro is written and verified, as options of repro: --data --bundle --harness --anonymize --issue --no-verify
// --runs
// --alarm.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>

#include "repro/repro.h"

namespace whittle::cli {

class Tool;

struct ReproOptions {
    std::filesystem::path output = "repro.cpp";
    std::optional<std::filesystem::path> bundle = {};
    std::optional<std::filesystem::path> issue = {};
    std::string data = "auto";
    bool no_verify = false, python = false, harness = false, anonymize = false;
    std::int64_t runs = 3, alarm = 60;

    /// -o.
    void declare_output(Tool& tool);
    void declare(Tool& tool);
    /// Throws Error for numbers out of range, for a name that no compiler would take for C++, for a folder that is no
    /// bundle of ours, and for an output that is one of the files `read`.
    void check_usage(std::span<const std::filesystem::path> read);
    /// The command line in the file's head is the tool's.
    repro::Options options(const Tool& tool) const;
};

}  // namespace whittle::cli
