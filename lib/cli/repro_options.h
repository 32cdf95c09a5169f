// How a repro is written and verified, as options of repro and repro report.
#pragma once

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
    bool report = false;  ///< of repro report, which writes a bug report, too
    repro::Options repro = {};
    std::optional<std::filesystem::path> bundle = {};
    std::vector<std::string> also = {};
    std::string data = "auto";
    bool no_verify = false, python = false;

    /// -o.
    void declare_output(Tool& tool);
    void declare(Tool& tool);
    /// Those that are written.
    void add_to(UsedFiles& files) const;
    /// Fills `repro`. Throws Error for numbers out of range, for a name that no compiler would take for C++, for a
    /// folder that is no bundle of ours, and for a backend that is not there.
    void complete();
    /// With what is known of the failure. The command line in the file's head is the tool's.
    repro::Options options(const Tool& tool, const Failure& failure) const;

  private:
    void declare_report(Tool& tool);
    /// -o, or its default.
    std::filesystem::path file() const;
    /// Where the text of a bug report goes; a bundle has one in its folder.
    std::optional<std::filesystem::path> issue() const;
};

}  // namespace whittle::cli
