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
#include "cli/diagnose_program.h"
#include "cli/minify.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "diagnose/letter.h"
#include "diagnose/precision.h"
#include "formats/json.h"
#include "reduce/save.h"
#include "report/divergence.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// Minimizes what fails, writes its repro, and fills the letter with both.
void follow(const Tool& tool, const LoadedFrame& frame, const fs::path& output, const Suspect& guilty,
            const SubjectOptions& options, diagnose::Letter& letter, std::ostream& report) {
    BackendChoice backend{.name = guilty.spec.text(), .op_libraries = options.backend.op_libraries};
    for (const auto& [key, value] : guilty.options) backend.pairs.push_back(key + "=" + value);
    nlohmann::json ignored;
    MinifyOptions asked{.model = frame.file,
                        .output = output,
                        .backend = backend,
                        .accuracy = options.accuracy,
                        .limits = options.limits,
                        .inputs = options.inputs};
    asked.search.repeat = std::max(letter.guilt.repeat, 2);
    const repro::Followed followed = follow_up(tool, {.minify = true, .asked = asked}, report, ignored);
    const std::vector<reduce::Minimized>& results = followed.minimized.results;
    if (const auto done = std::ranges::find_if(results, &reduce::Minimized::failed); done != results.end()) {
        letter.minimized = done->smallest.graph;
        letter.minimized_file = done->output;
        letter.drifted = done->drifted_files;
    }
    if (!followed.repros.empty() && followed.repros[0].report)
        letter.repro = followed.repros[0].report->output, letter.verified = followed.verified;
    else if (!followed.repros.empty())
        letter.no_repro = followed.repros[0].none;
}

/// Those of a frame that fails, to `out` or into `all`; the first minimized graph goes to `output`.
void write_letters(const Tool& tool, const LoadedFrame& frame, const diagnose::Letter& first, const fs::path& output,
                   const SubjectOptions& options, std::ostream& out, nlohmann::json& all) {
    const bool json = tool.shared().json;
    std::ostringstream unseen;
    diagnose::LetterSteps steps;
    steps.begin = [&](const diagnose::Letter& letter, std::size_t number) {
        if (json) return;
        out << (number > 1 ? "\n" : "") << letter.model << ": fails with " << letter.guilt.who().backend
            << (number > 1 ? " even without the culprit above" : "") << "\n"
            << to_text(letter.guilt) << std::flush;
    };
    steps.follow = [&](diagnose::Letter& letter, const Suspect& guilty, std::size_t number) {
        follow(tool, frame, number > 1 ? reduce::numbered_result(output, number) : output, guilty, options, letter,
               tool.shared().verbose ? out : unseen);
    };
    steps.send = [&](const diagnose::Letter& letter) {
        if (json)
            all.push_back(to_json(letter));
        else
            out << "\n" << to_text(letter) << std::flush;
    };
    diagnose::write_letters(frame, first, steps);
}

/// The frames that a backend can be run on; of a program, what it recorded into `scratch`.
std::vector<LoadedFrame> frames_of_model(const Tool& tool, const fs::path& model, SubjectOptions& options,
                                         const fs::path& scratch) {
    fs::path runnable = model;
    const bool run = is_run(recognize(model));
    if (run) {
        SubjectOptions recorded{.inputs = options.inputs, .program = options.program, .values = true};
        const report::Subject subject = subject_of(tool, model, recorded, scratch);
        if (subject.frames.empty())
            throw Error({subject.model, {}}, "nothing was captured: " + join(subject.index->notes, "; "));
        runnable = subject.runnable;
        options.inputs = recorded.inputs;
    } else {
        options.program.refuse_for_model(model);
        options.inputs = options.inputs.completed(model);  // the file alone has no values
    }
    std::vector<LoadedFrame> frames =
        load_model(runnable, {.inputs = options.inputs, .as_stated = true, .exact = options.accuracy.exact()});
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
    subject.backend.declare(tool, "the backend that MODEL was recorded with, else halide");
    subject.accuracy.declare(tool, "How to compare results. Default: the mode in each record.", kRecordedTolerances);
    subject.inputs.declare(tool);
    if (diagnoses) {
        subject.program.declare(tool);
        tool.section("Precision");
        tool.choice("--precision", precision, {"f16", "bf16"},
                    "Instead of looking for a failure: find the operations that must stay in f32, so that the other "
                    "operations can compute in f16 or bf16. The model with these operations in f32 runs on the backend "
                    "(default: eager), and its outputs must match those in f32 within the tolerances of f16 or bf16. "
                    "Writes MODEL.mixed.json.");
    }
    if (!diagnoses) {
        tool.section("Comparison");
        tool.choice(
            "--compare", compare, {"kernels", "values", "ring"},
            "What to compare with the reference. kernels: each kernel as the backend compiled it, alone, on the "
            "operands that the reference computes. values: each value of the model, as an output. ring: each "
            "kernel in integer arithmetic, compared bit by bit (share/doc/how-to/exact.md). Default: "
            "kernels where the backend can run them one by one, else values.");
    }
    subject.limits.declare(tool, kLimited);
    tool.common("--output --backend --accuracy --input");
    tool.exit_one(diagnoses ? "the backend fails, or no graph could be judged" : "a value differs");
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
    const bool possible = runs_kernels(*find_backend(suspect.spec, suspect.options));
    if (!compare.empty() && compare != "values" && !possible)
        throw Error("--compare=" + compare + " cannot be used with --backend " + suspect.spec.text() +
                    ", which does not run its kernels one by one: expected a backend such as halide, or "
                    "--compare=values");
    if (compare == "values" || !possible) return report::diverge(frame, suspect);
    const auto arithmetic = compare == "ring" ? KernelArithmetic::ring : KernelArithmetic::floats;
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
    return std::any_of(all.begin(), all.end(), [](const auto& one) { return one.differs(); });
}

static int find_precision(const Tool& tool, const CulpritOptions& asked) {
    SubjectOptions options = asked.subject;
    if (options.accuracy.mode.value_or("close") != "close")
        throw Error("--precision cannot be used with --accuracy=" + *options.accuracy.mode + ", expected close");
    options.backend.check();
    ReportSink sink(tool, asked.model, asked.report.output);
    const TempDir scratch("whittle-precision");
    const bool chosen = !options.backend.name.empty();  // what a record was made with is not what runs it in f16
    const std::vector<LoadedFrame> frames = frames_of_model(tool, asked.model, options, scratch.path() / "traced");
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

int diagnose(const Tool& tool, const CulpritOptions& asked) {
    if (!asked.precision.empty()) return find_precision(tool, asked);
    const fs::path& model = asked.model;
    SubjectOptions options = asked.subject;
    options.backend.check();
    if (recognize(model) == ModelKind::program && options.backend.name.empty())
        if (const std::optional<int> status = diagnose_program(tool, asked)) return *status;
    ReportSink sink(tool, model, asked.report.output);
    const TempDir scratch("whittle-diagnose");
    const std::vector<LoadedFrame> frames = frames_of_model(tool, model, options, scratch.path() / "traced");
    const Suspect suspect = options.suspect();
    const bool json = tool.shared().json;
    std::vector<std::pair<const LoadedFrame*, diagnose::Guilt>> failing;
    std::vector<JudgedFrame> judged;
    nlohmann::json all = nlohmann::json::array();
    for (const LoadedFrame& frame : frames) {
        diagnose::Guilt guilt = diagnose::first_guilty(frame, suspect);
        judged.push_back(judged_frame(guilt));
        if (guilt.fails())
            failing.emplace_back(&frame, std::move(guilt));
        else if (json)
            all.push_back(to_json(diagnose::Letter{named(asked, frame), suspect, std::move(guilt)}));
        else
            sink.out() << named(asked, frame) << ": " << words(guilt.verdict()) << " with " << suspect.spec.text()
                       << "\n"
                       << to_text(guilt);
    }
    for (std::size_t i = 0; i < failing.size(); ++i) {
        const LoadedFrame& frame = *failing[i].first;
        const std::string number = failing.size() > 1 ? "-" + std::to_string(i + 1) : "";
        write_letters(tool, frame,
                      {.model = named(asked, frame),
                       .suspect = suspect,
                       .guilt = failing[i].second,
                       .ops = frame.graph.calls().size(),
                       .accuracy = options.accuracy.words(),
                       .inputs = options.inputs.words(),
                       .record = frame.record.has_value()},
                      stem_of(model, options.program.arguments) + number + ".min.json", options, sink.out(), all);
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
