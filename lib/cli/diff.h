// explain diff: two models, programs or folders written by trace, and what differs between them.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/report_options.h"
#include "cli/subject.h"

namespace whittle::cli {

struct DiffOptions {
    std::filesystem::path before = {}, after = {};
    ReportOptions report = {};
    PictureOptions pictures = {};
    SubjectOptions subject = {};
    bool values = false;  ///< two runs of a program by hashes of their results are compared
    /// A folder for the operation at which the two part, as a record.
    std::optional<std::filesystem::path> record = {};

    void declare(Tool& tool);
    UsedFiles files() const;
};

/// Reads both, or runs them, prints what differs, and returns the exit status: 1 when anything does.
int diff(const Tool& tool, const DiffOptions& options);

}  // namespace whittle::cli
