// What explain answers instead of its report: --divergence, --diagnose, --diff.
#pragma once

#include <filesystem>
#include <optional>

#include "cli/report_options.h"
#include "cli/subject.h"

namespace whittle::cli {

struct QuestionOptions {
    bool divergence = false, diagnose = false;
    std::optional<std::filesystem::path> before = {};  ///< --diff

    void declare(Tool& tool);
    /// Throws Error where two are asked at once, or one beside what the report alone has: `of_report`, that one of
    /// --fullgraph, --static, --dot and --html is given.
    void check(const SubjectOptions& subject, const ReportOptions& report, bool of_report) const;
    /// Answers and returns the exit status; nothing when none was asked.
    std::optional<int> answer(const Tool& tool, const std::filesystem::path& model, const SubjectOptions& subject,
                              const ReportOptions& report, const ReportSink& sink) const;
};

}  // namespace whittle::cli
