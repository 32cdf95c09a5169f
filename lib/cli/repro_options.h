// How a repro is written and verified, as options of repro: --data --bundle --harness --anonymize --issue --no-verify
// --title --note --also --checked --runs --alarm.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "repro/repro.h"

namespace whittle::cli {

class Tool;
struct UsedFiles;

/// Throws Error where it is: --python is given.
void refuse_with_python(const char* option, bool given);

struct ReproOptions {
    std::filesystem::path output = "repro.cpp";
    std::optional<std::filesystem::path> bundle = {};
    std::optional<std::filesystem::path> issue = {};
    std::optional<std::string> title = {};
    std::vector<std::string> also = {}, notes = {}, checked = {};
    std::string data = "auto";
    bool no_verify = false, python = false, harness = false, anonymize = false;
    std::int64_t runs = 3, alarm = 60;

    /// -o.
    void declare_output(Tool& tool);
    void declare(Tool& tool);
    /// Those that are written.
    void add_to(UsedFiles& files) const;
    /// Throws Error for numbers out of range, for a name that no compiler would take for C++, and for a folder that is
    /// no bundle of ours.
    void check_usage();
    /// For a repro of the failure. The command line in the file's head is the tool's.
    repro::Options options(const Tool& tool, const Failure& failure) const;

  private:
    /// Throws Error for what only a report has where there is none, and for a backend that is not there.
    void check_report() const;
    /// -o, or its default.
    std::filesystem::path file() const;
};

}  // namespace whittle::cli
