// --dot, --html and --no-source: what a report is about as pictures, in files of their own.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <vector>

#include "cli/subject.h"
#include "explain/report.h"

namespace whittle::cli {

class Tool;

struct PictureOptions {
    std::optional<std::filesystem::path> dot, html, timeline;
    bool no_source = false;

    explicit operator bool() const { return dot || html || timeline; }
    void declare(Tool& tool);
    /// Throws Error for files that cannot be written or that are `read`, and for --no-source alone.
    void check(const std::vector<std::filesystem::path>& read) const;
    /// Where a backend was run, values that it computes wrong are compared with the reference's for the page.
    void write(const Tool& tool, const debug::Subject& subject, const explain::Report& report,
               const SubjectOptions& options) const;
};

}  // namespace whittle::cli
