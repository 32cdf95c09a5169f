// explain diff: two models, programs or folders written by trace, and what differs between them.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/picture_options.h"
#include "cli/report_options.h"
#include "cli/subject.h"

namespace whittle::cli {

struct DiffOptions {
    std::filesystem::path before = {}, after = {};
    ReportOptions report = {};
    PictureOptions pictures = {};
    SubjectOptions subject = {};
    bool values = false;
    std::optional<std::filesystem::path> record = {};  ///< a folder

    void declare(Tool& tool);
    UsedFiles files() const;
};

/// Reads both, or runs them, prints what differs, and returns the exit status: 1 when anything does.
int diff(const Tool& tool, const DiffOptions& options);

}  // namespace whittle::cli
