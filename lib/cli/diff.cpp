#include "cli/diff.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/environment.h"
#include "cli/messages.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "formats/json.h"
#include "ops/aten/capture.h"
#include "record/launch/hashes.h"
#include "report/hash_diff.h"
#include "report/trace_diff.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

// ---- values, by their hashes

void require_hashes(const fs::path& folder) {
    if (!holds_hashes(folder))
        throw Error({folder.string(), {}}, "found no recording of hashes, expected a folder that trace --hashes wrote",
                    shell_quote(program_words("trace", {"--hashes", "-o", folder.string(), "./app"})));
}

/// What is kept: its operands agree, or nothing of that kind was found.
const report::DifferingOperation* first_of(const report::HashDiff& diff) {
    for (const report::ProcessDiff& process : diff.processes) {
        if (process.bits) return &*process.bits;
        if (process.beyond) return &*process.beyond;
    }
    return nullptr;
}

/// In place or not, and by its name in the core ATen set: graphs have other forms of some ops.
std::string plain_name(std::string_view target) {
    std::string name(core_target(target));
    const auto overload = name.find('.', name.find('.') + 1);
    name = name.substr(0, overload);
    if (name.ends_with('_')) name.pop_back();
    return name;
}

/// Runs the program of the second folder again, up to the operation.
std::string record(const Tool& tool, const DiffOptions& options, const report::HashDiff& diff) {
    const report::DifferingOperation* const operation = first_of(diff);
    if (!operation) throw Error({"--record", {}}, "found no operation that differs, so there is nothing to record");
    if (diff.processes_after > 1)
        throw Error({options.after.string(), {}},
                    "found hashes of " + std::to_string(diff.processes_after) +
                        " processes, expected hashes of one process; --record runs only programs of one process");
    require_replaceable(*options.record, {}, true, [](const fs::path&) { return false; });
    const TraceLock lock(*options.record);
    remove_trace(*options.record);
    const BackendSpec reference(kReferenceBackend);
    const Traced traced = record_operation(load_hashes(options.after), operation->after,
                                           {.folder = *options.record,
                                            .suspect = {.spec = reference},
                                            .records = RecordPolicy::always,
                                            .check = CheckPolicy::never,
                                            .environment = environment(reference, {})});
    bool found = false;
    std::string text;
    for (const TracedFrame& frame : traced.frames) {
        if (!frame.record) continue;
        const fs::path file = *options.record / *frame.record;
        text += "written:  " + file.string() + "\n";
        for (const Node& node : load_graph(*options.record / frame.graph).nodes)
            found = found || plain_name(node.target) == plain_name(operation->op);
    }
    if (!found)
        warn(tool, "operation " + std::to_string(operation->after) + " of this run is not " + operation->op +
                       ": the program does not call the same operations in the same order in every run");
    return text + next_replay(traced);
}

int diff_values(const Tool& tool, const DiffOptions& options) {
    require_hashes(options.before);
    require_hashes(options.after);
    ReportSink sink(tool, options.after, options.report.output);
    const report::HashDiff diff = report::diff_hashes(options.before, options.after);
    nlohmann::json json = report::to_json(diff);
    if (!tool.shared().json) sink.out() << report::to_text(diff, options.report.shown(tool, sink));
    std::string after;
    if (options.record && !diff.same()) {
        after = record(tool, options, diff);
        json["record"] = options.record->string();
    } else if (first_of(diff)) {
        after = next_line(shell_quote(program_words(
            "explain", {"diff", options.before.string(), options.after.string(), "--values", "--record", "first"})));
    }
    if (tool.shared().json)
        print_json(json);
    else if (!tool.shared().quiet && !after.empty())
        sink.out() << "\n" << after;
    sink.close();
    return diff.same() ? 0 : 1;
}

// ---- models and traces

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
    tool.positional("BEFORE", before,
                    "Baseline of the comparison. BEFORE and AFTER can be models, programs or folders.");
    tool.positional("AFTER", after, kModelHelp);
    tool.flag("--values", values,
              "Compare two folders that 'trace --hashes' wrote. Report the first operation that has equal operands in "
              "both folders, but results with different bits. Also report the first operation whose results differ by "
              "more than rounding explains.");
    tool.option("--record", record, "DIR",
                "With --values: run the program of AFTER again, up to the first operation that differs. Write the "
                "operands and results of this operation to DIR, as a record for replay, minify and repro.");
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
                 "find the first operation that differs between two runs, and save it as a record");
    tool.exit_one("BEFORE and AFTER differ");
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
        throw Error("--record needs --values", "add --values: --record saves the operation that --values finds");
    if (options.values) return diff_values(tool, options);
    if (holds_hashes(options.before) && holds_hashes(options.after))
        throw Error({options.before.string(), {}},
                    "found hashes, which trace --hashes wrote, expected traces: only --values compares hashes",
                    tool.command_with("--values"));
    options.pictures.check_usage();
    options.subject.backend.check();
    if (options.subject.accuracy.exact())
        throw Error("--accuracy=exact cannot be used with explain diff, which compares recorded values",
                    "to compare all bits, use --accuracy=strict");
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
