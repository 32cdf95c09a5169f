// What explain answers instead of its report: --divergence, --diagnose, --diff.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/picture_options.h"
#include "cli/report_options.h"
#include "cli/subject.h"

namespace whittle::cli {

/// How an answer is shown.
struct Shown {
    const ReportOptions& report;
    const PictureOptions& pictures;
    const ReportSink& sink;
};

struct QuestionOptions {
    bool divergence = false, diagnose = false;
    std::optional<std::filesystem::path> before = {};  ///< --diff

    void declare(Tool& tool);
    /// What is read to be compared with, and what --diagnose writes of the model.
    void add_to(UsedFiles& files, const SubjectOptions& subject,
                const std::optional<std::filesystem::path>& model) const;
    /// Throws Error where two are asked at once, or one beside what the report alone has: `of_report`, that one of
    /// --fullgraph and --static is given. A comparison has a page, too.
    void check(const SubjectOptions& subject, const ReportOptions& report, const PictureOptions& pictures,
               bool of_report) const;
    /// Answers and returns the exit status; nothing when none was asked.
    std::optional<int> answer(const Tool& tool, const std::filesystem::path& model, const SubjectOptions& subject,
                              const Shown& shown) const;
};

}  // namespace whittle::cli
