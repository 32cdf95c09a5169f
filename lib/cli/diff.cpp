#include "cli/diff.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/diff_values.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "report/trace_diff.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

struct Side {
    report::Subject subject;
    report::Report report = {};
    std::vector<LoadedFrame> values = {};

    report::Capture capture() const { return {subject.frames, report, values}; }
};

/// What folders of trace, and records, keep.
std::vector<LoadedFrame> recorded(const fs::path& model, const SubjectOptions& options) {
    const ModelKind kind = recognize(model);
    if (kind != ModelKind::trace && kind != ModelKind::record) return {};
    std::vector<LoadedFrame> all = load_model(model, {.inputs = options.inputs});
    std::erase_if(all, [](const LoadedFrame& frame) { return !frame.record; });
    return all;
}

Side side_of(const Tool& tool, const fs::path& model, SubjectOptions options, const fs::path& scratch) {
    if (!is_run(recognize(model))) options.program.refuse_for_model(model);
    options.values = true;  // a program's are compared as those of a folder are
    Side side{.subject = subject_of(tool, model, options, scratch)};
    const std::unique_ptr<Backend> backend = find_backend(options.backend.spec(kDefaultSuspect));
    side.report = report::report(side.subject, *backend);
    const fs::path& runnable = side.subject.runnable;
    if (!side.subject.frames.empty()) side.values = recorded(runnable.empty() ? model : runnable, options);
    return side;
}

/// Arguments are for the program, inputs for the model, where one is compared with the other.
SubjectOptions for_one_of(const SubjectOptions& both, const fs::path& model, const fs::path& other) {
    SubjectOptions own = both;
    const bool runs = is_run(recognize(model));
    if (runs == is_run(recognize(other))) return own;
    if (runs)
        own.inputs = {};
    else
        own.program = {};
    return own;
}

}  // namespace

void DiffOptions::declare(Tool& tool) {
    tool.positional("BEFORE", before, "Baseline of the comparison: a model, a program or a folder, like AFTER.");
    tool.positional("AFTER", after, kModelHelp);
    tool.flag("--values", values,
              "Compare two folders that 'trace --hashes' wrote. Name the first operation whose operands are equal and "
              "whose result differs in its bits, and the first that differs by more than rounding.");
    tool.option("--record", record, "DIR",
                "With --values: run the program of AFTER again, up to the first operation that differs, and write its "
                "operands and results to DIR as a record for replay, minify and repro.");
    report.declare(tool, true);
    pictures.declare_page(tool);
    subject.accuracy.declare(tool, "How to compare recorded values.");
    tool.section("Backends");
    subject.backend.declare_libraries(tool);
    subject.inputs.declare(tool);
    subject.program.declare(tool);
    tool.common("--output --html --accuracy --ops --times");
    tool.example("explain diff yesterday/ today/", "compare two traces, for example in CI to find new graph breaks");
    tool.example("explain diff a/ b/ --values --record first/",
                 "name the operation at which two runs part, and keep it");
    tool.exit_one("something differs");
    tool.files([this] { return files(); });
}

UsedFiles DiffOptions::files() const {
    UsedFiles used;
    used.reads(before, subject.inputs);
    report.add_to(used);
    used.writes("--record", record);
    pictures.add_to(used);
    subject.add_to(used, after);
    return used;
}

int diff(const Tool& tool, const DiffOptions& options) {
    if (options.record && !options.values)
        throw Error("--record needs --values", "--record keeps the operation that --values finds");
    if (options.values) return diff_values(tool, options);
    options.pictures.check_usage();
    options.subject.backend.check();
    if (options.subject.accuracy.exact())
        throw Error("--accuracy=exact cannot be used with explain diff, which compares recorded values",
                    "--accuracy=strict compares all bits");
    ReportSink sink(tool, options.after, options.report.output);
    const TempDir scratch("whittle-diff");
    const fs::path &before = options.before, &after = options.after;
    const Side first = side_of(tool, before, for_one_of(options.subject, before, after), scratch.path() / "before");
    const Side second = side_of(tool, after, for_one_of(options.subject, after, before), scratch.path() / "after");
    const report::TraceDiff diff = report::diff(first.capture(), second.capture(), options.subject.accuracy.accuracy());
    if (tool.shared().json)
        print_json(report::to_json(diff));
    else
        sink.out() << report::to_text(diff, options.report.shown(tool, sink));
    options.pictures.write_diff(tool, second.subject, second.report, diff);
    sink.close();
    return diff.same() ? 0 : 1;
}

}  // namespace whittle::cli
