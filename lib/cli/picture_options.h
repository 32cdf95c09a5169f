// --dot, --html and --no-source: what a report is about as pictures, in files of their own.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "cli/subject.h"
#include "report/page/page.h"

namespace whittle::cli {

class Tool;
struct UsedFiles;

struct PictureOptions {
    std::optional<std::filesystem::path> dot = {}, html = {};
    bool no_source = false;

    /// --html and --no-source.
    void declare_page(Tool& tool);
    void declare(Tool& tool);
    /// Those that are written.
    void add_to(UsedFiles& files) const;
    /// Throws Error for --no-source alone.
    void check_usage() const;
    /// Writes them, and returns what the page shows, where there is one. Where a backend was run, values that it
    /// computes wrong are compared with the reference's for the page; the failures of `json`, which are the subject's
    /// in its order, get the `first_wrong`. `json` may be null.
    std::optional<html::PageFacts> write(const Tool& tool, const report::Subject& subject, const report::Report& report,
                                         const SubjectOptions& options, nlohmann::json& json) const;
    /// The page again, with what minify and repro have found since: members `minify` and `repros` of `json`.
    void write_again(html::PageFacts page, const nlohmann::json& json) const;
    /// The page of a comparison, about its second side.
    void write_diff(const Tool& tool, const report::Subject& subject, const report::Report& report,
                    const report::TraceDiff& diff) const;
};

}  // namespace whittle::cli
