// explain, and explain static, which reads a source, too: what was captured from a model, where capture or a backend
// stops, and why.
#pragma once

#include "cli/picture_options.h"
#include "cli/report_options.h"
#include "cli/subject.h"

namespace whittle::cli {

struct ExplainOptions {
    std::optional<std::filesystem::path> model = {};
    PictureOptions pictures = {};
    ReportOptions report = {};
    SourceOptions sources = {};
    SubjectOptions subject = {};
    bool fullgraph = false;

    /// `of_source`: of explain static.
    void declare(Tool& tool, bool of_source);
};

/// Reads the model, or runs the program, and prints the report; of explain static without a MODEL, what is predicted.
/// `analyze` as SourceOptions has it. Returns the exit status.
int explain(const Tool& tool, ExplainOptions options, const Analyze& analyze);

}  // namespace whittle::cli
