#include "cli/diagnose.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/interpreter.h"
#include "base/interrupt.h"
#include "base/words.h"
#include "cli/halide_program.h"
#include "cli/minify.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "diagnose/diagnosis_report.h"
#include "diagnose/precision.h"
#include "formats/json.h"
#include "reduce/save.h"
#include "report/divergence.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// Minimizes what fails, writes its repro, and fills the diagnosis with both.
void follow(const Tool& tool, const LoadedFrame& frame, const fs::path& output, const Suspect& failing,
            const CulpritOptions& options, diagnose::DiagnosisReport& diagnosis, std::ostream& report) {
    nlohmann::json ignored;
    MinifyOptions asked{options.subject, frame.file, output};
    asked.time_limit = options.time_limit;
    asked.backend.name = failing.spec.text();
    asked.backend.pairs.clear();
    for (const auto& [key, value] : failing.options) asked.backend.pairs.push_back(key + "=" + value);
    asked.search.repeat = std::max(diagnosis.components.repeat, 2);
    const repro::Followed followed = follow_up(tool, {.minify = true, .asked = asked}, report, ignored);
    const std::vector<reduce::Minimized>& results = followed.minimized.results;
    if (const auto done = std::ranges::find_if(results, &reduce::Minimized::failed); done != results.end()) {
        diagnosis.minimized = done->smallest.graph;
        diagnosis.minimized_file = done->output;
        diagnosis.drifted = done->drifted_files;
    }
    if (!followed.repros.empty() && followed.repros[0].report)
        diagnosis.repro = followed.repros[0].report->output, diagnosis.verified = followed.verified;
    else if (!followed.repros.empty())
        diagnosis.no_repro = followed.repros[0].none;
}

/// Those of a frame that fails, to `out` or into `all`; the first minimized graph goes to `output`.
void write_reports(const Tool& tool, const LoadedFrame& frame, const diagnose::DiagnosisReport& first,
                   const fs::path& output, const CulpritOptions& options, std::ostream& out, nlohmann::json& all) {
    const bool json = tool.shared().json;
    std::ostringstream unseen;
    diagnose::ReportSteps steps;
    steps.begin = [&](const diagnose::DiagnosisReport& diagnosis, std::size_t number) {
        if (json) return;
        out << (number > 1 ? "\n" : "") << diagnosis.model << ": fails with " << diagnosis.components.last().backend
            << (number > 1 ? " even with the culprit above switched off" : "") << "\n"
            << to_text(diagnosis.components) << std::flush;
    };
    steps.follow = [&](diagnose::DiagnosisReport& diagnosis, const Suspect& failing, std::size_t number) {
        follow(tool, frame, number > 1 ? reduce::numbered_result(output, number) : output, failing, options, diagnosis,
               tool.shared().verbose ? out : unseen);
    };
    steps.send = [&](const diagnose::DiagnosisReport& diagnosis) {
        if (json)
            all.push_back(to_json(diagnosis));
        else
            out << "\n" << to_text(diagnosis) << std::flush;
    };
    diagnose::write_reports(frame, first, steps);
}

/// The frames that a backend can be run on; of a program, what it recorded into `scratch`. `judged`: also what Whittle
/// cannot read.
std::vector<LoadedFrame> frames_of_model(const Tool& tool, const fs::path& model, SubjectOptions& options,
                                         const fs::path& scratch, bool judged) {
    fs::path runnable = model;
    const bool run = is_run(recognize(model));
    if (run) {
        SubjectOptions recorded{{.inputs = options.inputs}, options.program};
        recorded.values = true;
        const report::Subject subject = subject_of(tool, model, recorded, scratch);
        if (subject.frames.empty())
            throw Error({subject.model, {}}, "nothing was captured: " + join(subject.index->notes, "; "));
        runnable = subject.runnable;
        options.inputs = recorded.inputs;
    } else {
        options.program.refuse_for_model(model);
        options.inputs = options.inputs.completed(model);  // the file alone has no values
    }
    const ModelOptions load{.inputs = options.inputs, .as_stated = true, .exact = options.accuracy.exact()};
    std::vector<LoadedFrame> frames = judged ? load_for(runnable, load) : load_model(runnable, load);
    if (frames.empty()) throw Error({model.string(), {}}, "found no graph in the model");
    options.backend.default_to(frames[0]);
    return frames;
}

/// What a report calls the frame: of a program, its name; what was recorded of it is gone at the end.
std::string named(const CulpritOptions& asked, const LoadedFrame& frame) {
    if (!is_run(recognize(asked.model))) return frame.file.string();
    return program_identity(asked.model, asked.subject.program.arguments).string() + " (" + frame.name + ")";
}

}  // namespace

void CulpritOptions::declare(Tool& tool, bool diagnoses) {
    tool.positional(
        "MODEL", model,
        diagnoses ? kModelHelp : "ONNX model, PyTorch export (.pt2), graph, record or folder written by trace.");
    report.declare_output(tool);
    subject.backend.declare(tool, "the backend stored in MODEL; if MODEL has none, halide");
    subject.accuracy.declare(
        tool, "How to compare results. Default: the mode stored in each record, or close if there is no record.",
        kRecordedTolerances);
    subject.inputs.declare(tool);
    if (diagnoses) {
        subject.program.declare(tool);
        tool.section("Precision");
        tool.choice("--precision", precision, {"f16", "bf16"},
                    "Do not search for a failure. Find the operations that must stay in f32 if all other operations "
                    "compute in f16 or bf16. The outputs of this mixed model must match the f32 outputs, within the "
                    "tolerances of f16 or bf16. --backend selects the backend that runs the mixed model (default: "
                    "eager). The mixed model is written to MODEL.mixed.json.");
    }
    if (!diagnoses) {
        tool.section("Comparison");
        tool.choice(
            "--compare", compare, {"kernels", "values", "ring"},
            "What to compare with the reference. kernels: each compiled kernel; a kernel runs alone, on operands that "
            "the reference computed. values: every intermediate value; the model runs as a whole. ring: like "
            "kernels, but in integer arithmetic, so that all bits must be equal; see share/doc/how-to/exact.md. "
            "Default: kernels if the backend can run a kernel alone; otherwise values.");
    }
    subject.limits.declare(tool, kLimited);
    if (diagnoses)
        tool.option(
            "--time-limit", time_limit, "TIME",
            "Stop the minimization of each failure after TIME (such as 90s, 10m or 2h), and report the smallest "
            "failing graph found so far. Default: no limit. If MODEL is a program that uses Halide, TIME also limits "
            "the reduction of the pipeline in the repro. Default for this reduction: 60s.");
    tool.common("--output --backend --accuracy --input");
    tool.exit_one(diagnoses ? "the backend fails; with --precision: the outputs of the mixed model differ"
                            : "a value differs");
    tool.files([this, diagnoses] {
        UsedFiles used;
        report.add_to(used);
        subject.add_to(used, model);
        const std::string stem = diagnoses ? stem_of(model, subject.program.arguments) : std::string();
        if (!precision.empty())
            used.writes("--precision", stem + ".mixed.json");
        else if (diagnoses)
            used.writes("explain diagnose", stem + ".min.json");
        return used;
    });
}

/// The comparison that was asked for; by default that of kernels, and of values where there are no kernels to compare.
static report::FrameDivergence diverged(const LoadedFrame& frame, const Suspect& suspect, const std::string& compare) {
    const auto arithmetic = compare == "ring" ? KernelArithmetic::ring : KernelArithmetic::floats;
    const bool possible = runs_kernels(*find_backend(suspect.spec, suspect.options), suspect.options, arithmetic);
    if (!compare.empty() && compare != "values" && !possible)
        throw Error("--compare=" + compare + " cannot be used with --backend " + suspect.spec.text() +
                    ", which does not run its kernels one by one: expected a backend such as halide, or "
                    "--compare=values");
    if (compare == "values" || !possible) return report::diverge(frame, suspect);
    report::FrameDivergence one = report::diverge_by_kernels(frame, suspect, arithmetic);
    if (!compare.empty() || !one.kernels || one.kernels->none.empty()) return one;
    std::optional<KernelJudgements> none = std::move(one.kernels);
    one = report::diverge(frame, suspect);
    one.kernels = std::move(none);
    return one;
}

int diverge(const Tool& tool, const CulpritOptions& options) {
    options.subject.backend.check();
    ReportSink sink(tool, options.model, options.report.output);
    std::vector<report::FrameDivergence> all;
    for (const LoadedFrame& frame :
         load_model(options.model, {.inputs = options.subject.inputs, .exact = options.subject.accuracy.exact()})) {
        SubjectOptions own = options.subject;
        own.backend.default_to(frame);
        all.push_back(diverged(frame, own.suspect(), options.compare));
        if (tool.shared().json) continue;
        sink.out() << (all.size() > 1 ? "\n" : "")
                   << to_text(all.back(), {.verbose = tool.shared().verbose, .columns = sink.columns()});
    }
    if (tool.shared().json) print_json(to_json(all));
    sink.close();
    return std::ranges::any_of(all, [](const auto& one) { return one.differs(); });
}

static int find_precision(const Tool& tool, const CulpritOptions& asked) {
    SubjectOptions options = asked.subject;
    if (options.accuracy.mode.value_or("close") != "close")
        throw Error("--precision cannot be used with --accuracy=" + *options.accuracy.mode + ", expected close");
    if (asked.time_limit) throw Error("--time-limit cannot be used with --precision, which minimizes nothing");
    options.backend.check();
    ReportSink sink(tool, asked.model, asked.report.output);
    const TempDir scratch("whittle-precision");
    const bool chosen = !options.backend.name.empty();  // what a record was made with is not what runs it in f16
    const std::vector<LoadedFrame> frames =
        frames_of_model(tool, asked.model, options, scratch.path() / "traced", false);
    Suspect suspect = options.suspect();
    if (!chosen) suspect.spec = BackendSpec(kReferenceBackend), suspect.options = {};
    const auto backend = find_backend(suspect.spec, suspect.options);
    const diagnose::PrecisionRequest request{
        .half = dtype_from_name(asked.precision).value(), .suspect = suspect, .stop = interrupted};
    nlohmann::json all = nlohmann::json::array();
    bool holds = true;
    for (std::size_t i = 0; i < frames.size(); ++i) {
        diagnose::PrecisionReport report = diagnose::precision(frames[i], *backend, request);
        report.model = whittle::cli::named(asked, frames[i]);
        if (report.after.holds) {
            const std::string number = frames.size() > 1 ? "-" + std::to_string(i + 1) : "";
            report.file = stem_of(asked.model, options.program.arguments) + number + ".mixed.json";
            save_graph(report.mixed, report.file);
        }
        holds = holds && report.after.holds;
        if (tool.shared().json)
            all.push_back(to_json(report));
        else
            sink.out() << (i > 0 ? "\n" : "") << to_text(report) << std::flush;
    }
    if (tool.shared().json) print_json({{"frames", all}});
    sink.close();
    return holds ? 0 : 1;
}

int diagnose(const Tool& tool, const CulpritOptions& given) {
    if (!given.precision.empty()) return find_precision(tool, given);
    const fs::path& model = given.model;
    CulpritOptions asked = given;
    SubjectOptions& options = asked.subject;
    options.backend.check();
    if (recognize(model) == ModelKind::program && options.backend.name.empty())
        if (const std::optional<int> status = diagnose_program(tool, asked)) return *status;
    ReportSink sink(tool, model, asked.report.output);
    const TempDir scratch("whittle-diagnose");
    const std::vector<LoadedFrame> frames = frames_of_model(tool, model, options, scratch.path() / "traced", true);
    const Suspect suspect = options.suspect();
    const bool json = tool.shared().json;
    std::vector<std::pair<const LoadedFrame*, diagnose::ComponentVerdict>> failing;
    std::vector<JudgedFrame> judged;
    nlohmann::json all = nlohmann::json::array();
    for (const LoadedFrame& frame : frames) {
        diagnose::ComponentVerdict components = diagnose::first_failing_component(frame, suspect);
        judged.push_back(judged_frame(components));
        if (components.fails())
            failing.emplace_back(&frame, std::move(components));
        else if (json)
            all.push_back(to_json(diagnose::DiagnosisReport{named(asked, frame), suspect, std::move(components)}));
        else
            sink.out() << named(asked, frame) << ": " << words(components.verdict()) << " with " << suspect.spec.text()
                       << "\n"
                       << to_text(components);
    }
    for (std::size_t i = 0; i < failing.size(); ++i) {
        const LoadedFrame& frame = *failing[i].first;
        const std::string number = failing.size() > 1 ? "-" + std::to_string(i + 1) : "";
        write_reports(tool, frame,
                      {.model = named(asked, frame),
                       .suspect = suspect,
                       .components = failing[i].second,
                       .ops = frame.graph.calls().size(),
                       .accuracy = options.accuracy.words(),
                       .inputs = options.inputs.words(),
                       .record = frame.record.has_value()},
                      stem_of(model, options.program.arguments) + number + ".min.json", asked, sink.out(), all);
    }
    if (json) {
        nlohmann::json report = {{"frames", all}};
        add_verdict(report, judged);
        print_json(report);
    }
    sink.close();
    return failing.empty() ? 0 : 1;
}

}  // namespace whittle::cli
