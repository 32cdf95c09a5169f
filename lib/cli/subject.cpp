#include "cli/subject.h"

#include <algorithm>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/interpreter.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "cli/minify.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "graph/abilities.h"
#include "record/launch/trace.h"
#include "trace/load.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

using Suspected = std::unique_ptr<Backend>;

/// Null where none is to be run.
Suspected suspected(const SubjectOptions& options) {
    return options.runs_backend() ? find_backend(options.suspect().spec, options.backend.options()) : nullptr;
}

report::Subject subject_of_program(const Tool& tool, const fs::path& program, const SubjectOptions& options,
                                   const fs::path& folder) {
    Suspected backend = suspected(options);
    if (backend && offered<Reference>(*backend)) backend.reset();  // capture has held it against what was observed
    ProgramRequest request = options.program.request(tool, program, options.inputs);
    request.with_data = backend || options.values;
    request.with_times = options.times || options.kernels;
    request.halide = options.halide;
    request.halide_left_out = options.halide_left_out;
    if (request.with_data) request.folder = folder;
    const bool coded = is_debug_file(LogArtifact::full_code);  // which runs on the records
    if (request.with_data || coded) request.records = RecordPolicy::always;
    const RanProgram ran = run_program(request);
    report::Subject subject = report::subject_of(ran);
    if (!request.with_data) return subject;
    subject.runnable = folder;
    if (!backend) {
        if (!ran.own)
            trace(ran, {.folder = folder,
                        .models = {ran.identity()},
                        .suspect = {.spec = kReferenceBackend},
                        .check = CheckPolicy::never});
        return subject;
    }
    TriedFrames tried;
    if (!ran.own)
        tried = report::try_frames(ran, folder, *backend, options.suspect());
    else if (!ran.own->graphs.empty())
        tried = try_frames(load_model(folder, {}), *backend, options.suspect());
    for (JudgedFrame& frame : tried.frames) frame.file = fs::path(frame.file).filename().string();
    report::note_tried(subject, std::move(tried));
    return subject;
}

report::Subject subject_of_model(const fs::path& model, SubjectOptions& options) {
    const auto load = [&](bool need_inputs) {
        return load_model(model, {.inputs = options.inputs,
                                  .keep_unknown = true,
                                  .as_stated = options.backend.name == kInfersAnew,
                                  .need_inputs = need_inputs,
                                  .exact = options.accuracy.exact()});
    };
    std::vector<LoadedFrame> runnable;
    if (options.runs_backend()) runnable = load(true);
    if (options.minify) options.backend.default_to(runnable.at(0));
    Suspected backend = suspected(options);
    // Capture has held the reference against what records hold.
    const auto recorded = [](const LoadedFrame& frame) { return frame.record.has_value(); };
    if (backend && offered<Reference>(*backend) && std::ranges::all_of(runnable, recorded)) backend.reset();
    // What is run is what is told of, but of a folder, whose records are run, and of what is run only in part.
    const bool other = runnable.empty() || recognize(model) == ModelKind::trace || options.accuracy.exact();
    report::Subject subject = report::subject_of(model, other ? load(false) : runnable);
    if (!backend) return subject;
    subject.runnable = model;
    report::note_tried(subject, try_frames(runnable, *backend, options.suspect()));
    return subject;
}

}  // namespace

void SubjectOptions::add_to(UsedFiles& files, const std::optional<fs::path>& model) const {
    if (model) files.reads(*model, inputs);
    files.reads_words(program.arguments);
    if (model && minify) files.writes("--minify", stem_of(*model, program.arguments) + ".min.json");
}

void SubjectOptions::check_usage() const {
    if (accuracy.given() && !runs_backend())
        throw Error("--accuracy, --rtol and --atol require --backend or --minify",
                    "to compare results, add --backend, or run explain divergence, explain diagnose or explain diff");
    if (!backend.pairs.empty() && !runs_backend())
        throw Error("--backend-option requires --backend or --minify",
                    "for the default backend, add --backend " + std::string(kDefaultSuspect));
    backend.check();
}

Suspect SubjectOptions::suspect() const {
    Suspect suspect = RunOptions::suspect(kDefaultSuspect);
    suspect.tier = Tier::computes;
    return suspect;
}

static Profile profile_of(const fs::path& model, const SubjectOptions& options) {
    return report::profile(load_model(model, {.inputs = options.inputs, .keep_unknown = true}), options.suspect(),
                           options.kernels);
}

report::Subject subject_of(const Tool& tool, const fs::path& model, SubjectOptions& options, const fs::path& scratch) {
    const bool run = is_run(recognize(model)), measures = options.times || options.kernels;
    // Else --minify finds the backend in the model.
    const bool known = !options.backend.name.empty() || (options.times && !options.minify);
    if (run && options.accuracy.exact())
        throw Error({model.string(), {}}, "--accuracy=exact requires a model or a trace, found a program",
                    shell_quote(program_words("trace", {"-o", "DIR", model.string()})) +
                        " captures a trace; pass this trace (DIR) in place of the program");
    std::optional<Profile> measured;
    // Before the backend is run otherwise: what that compiles would be found in its cache.
    if (measures && known && !run) measured = profile_of(model, options);
    report::Subject subject =
        run ? subject_of_program(tool, model, options, scratch) : subject_of_model(model, options);
    if (run) options.inputs = {};  // what was recorded has them
    if (measures && !measured && !subject.runnable.empty()) measured = profile_of(subject.runnable, options);
    if (measures) report::add_profile(subject, std::move(measured).value_or(Profile()));
    return subject;
}

std::string stem_of(const fs::path& model, const std::vector<std::string>& arguments) {
    using Kind = Interpreted::Kind;
    const std::optional<Interpreted> runs = interpreted(model, arguments);
    fs::path name = fs::absolute(runs && runs->kind == Kind::script ? fs::path(runs->text) : model).lexically_normal();
    if (!name.has_filename()) name = name.parent_path();  // DIR/
    const std::string stem = runs && runs->kind == Kind::module_name ? runs->text : name.stem().string();
    return (stem.starts_with('-') ? "./" : "") + stem;
}

bool follow_up(const Tool& tool, const fs::path& model, const SubjectOptions& options, const report::Subject& subject,
               std::ostream& report, nlohmann::json& json) {
    if (options.minify && subject.frames.empty()) {
        report << "\nnothing to minimize: no graph was captured\n";
        return false;
    }
    if (subject.runnable.empty() || (subject.failing().empty() && !options.minify)) return true;
    if (subject.failing().empty()) {
        report << "\nnothing to minimize: no graph fails\n";
        return true;
    }
    const std::vector<JudgedFrame> failing = subject.failing();
    const bool only_file = std::ranges::any_of(failing, &JudgedFrame::only_file);
    // Parts of a file are judged by how they end.
    if (only_file && !options.minify && std::ranges::all_of(failing, &JudgedFrame::wrong)) return true;
    if (!options.minify) report << "\n";
    const std::string stem = stem_of(model, options.program.arguments);
    MinifyOptions asked{options, subject.runnable, stem + ".min.json"};
    if (only_file) {
        asked.model = model;
        asked.output = stem + ".min.onnx";
        follow_up(tool, of_file(options.minify, asked), report, json);
        return true;
    }
    follow_up(tool, {.minify = options.minify, .scratch = is_run(recognize(model)), .asked = asked}, report, json);
    return true;
}

}  // namespace whittle::cli
