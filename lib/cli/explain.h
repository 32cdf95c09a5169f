// explain, and explain static, which reads a source, too: what was captured from a model, where capture or a backend
// stops, and why.
#pragma once

#include <string>
#include <vector>

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

// What explain prints of Whittle itself: the backends that exist, and what a kind of graph break means.

/// The ids of all kinds of breaks, and "all".
std::vector<std::string> break_ids();
/// The page of the kind of break `id`, of all of them for "all". Throws Error for another word.
std::string break_page(const std::string& id);

/// What there is a list of: "backends" …
std::vector<std::string> lists();
/// The same with what each lists: "backends (…); releases (…)".
std::string lists_text();
/// Prints one of them; of no word, what lists there are. Throws Error for another word.
void print_list(const Tool& tool, const std::string& what);

}  // namespace whittle::cli
