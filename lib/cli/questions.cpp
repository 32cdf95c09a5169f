#include "cli/questions.h"

#include "base/error.h"
#include "cli/diagnose.h"
#include "cli/diff.h"
#include "cli/tool.h"
#include "cli/usage.h"

namespace whittle::cli {

void QuestionOptions::declare(Tool& tool) {
    tool.flag("--divergence", divergence,
              "Run the model on the backend with every value exposed, and say which is the first that differs from the "
              "reference, by how much, where NaN and infinities are born, and what is rounding noise only. -v: all "
              "values.");
    tool.flag("--diagnose", diagnose,
              "Run the model on --backend and on one debug backend after the other, and write a letter: since which "
              "component it fails, which pass or directive is guilty, how sure that is, the last good and the first "
              "bad command, and a verified repro. -v: what minimizing says, too.");
    tool.option(
        "--diff", before, "BEFORE",
        "Say what MODEL has otherwise than BEFORE, which is a model, a program or a folder written by trace, too: "
        "graphs (node by node, whatever the nodes are called), breaks, guards, recompiles, recorded values. "
        "With --ops and --times these, too; with --html as a page. -v: all of it.");
}

void QuestionOptions::add_to(UsedFiles& files, const SubjectOptions& subject,
                             const std::optional<std::filesystem::path>& model) const {
    if (before) files.reads(*before, subject.inputs);
    if (model && diagnose) files.writes("--diagnose", stem_of(*model, subject.program.arguments) + ".min.json");
}

void QuestionOptions::check(const SubjectOptions& subject, const ReportOptions& report, const PictureOptions& pictures,
                            bool of_report) const {
    if (diagnose && (divergence || before || subject.minify || of_report || pictures))
        throw Error(
            "--diagnose excludes --diff, --divergence, --minify, --fullgraph, --static, --dot, --html and --timeline");
    if (divergence && (subject.minify || of_report || pictures))
        throw Error("--divergence excludes --minify, --fullgraph, --static, --dot, --html and --timeline",
                    pictures.html ? "--html with --backend has the error of each value, too" : "");
    if (before && (divergence || subject.runs_backend() || of_report || pictures.dot || pictures.timeline))
        throw Error("--diff excludes --backend, --divergence, --minify, --fullgraph, --static, --dot and --timeline");
    if (diagnose || divergence) report.refuse("--diagnose and --divergence");
    if (before && (report.guards || report.recompiles))
        throw Error("--diff tells guards and recompiles that differ; --guards and --recompiles are for the report");
}

std::optional<int> QuestionOptions::answer(const Tool& tool, const std::filesystem::path& model,
                                           const SubjectOptions& subject, const Shown& shown) const {
    if (before) return tell_diff(tool, *before, model, subject, shown);
    if (diagnose) return cli::diagnose(tool, model, subject, shown.sink);
    if (divergence) return diverge(tool, model, subject, shown.sink);
    return std::nullopt;
}

}  // namespace whittle::cli
