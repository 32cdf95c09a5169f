#include "cli/diagnose.h"

#include <algorithm>
#include <functional>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "cli/minify.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "debug/check.h"
#include "debug/diagnose.h"
#include "debug/divergence.h"
#include "debug/letter.h"
#include "graph/abilities.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// Minimizes what fails, writes its repro, and fills the letter with both.
void follow(const Tool& tool, const LoadedFrame& frame, const fs::path& output, const SubjectOptions& options,
            debug::Letter& letter, std::ostream& report) {
    const debug::Tried& who = letter.guilt.who();
    BackendChoice guilty = options.backend;
    if (!who.suspect) {
        guilty = {.name = who.backend, .op_libraries = options.backend.op_libraries};
        if (!who.component->option.empty()) guilty.pairs.emplace_back(who.component->option);
    }
    letter.accuracy = options.accuracy.words();
    letter.inputs = options.inputs.words();
    letter.options = options.backend.options();
    letter.record = frame.record.has_value();
    const std::unique_ptr<Backend> backend = find_backend(guilty.spec(kDefaultSuspect));
    if (offered<Reference>(*backend)) {  // it has no failures of its own that could be followed
        letter.no_repro = "the reference itself differs from what was recorded";
        debug::address(letter, *backend);
        return;
    }
    nlohmann::json ignored;
    const Followed followed = follow_up(tool,
                                        {.minify = true,
                                         .model = frame.file,
                                         .output = output,
                                         .backend = guilty,
                                         .accuracy = options.accuracy,
                                         .inputs = options.inputs,
                                         .repeat = std::max(letter.guilt.repeat, 2)},
                                        report, ignored);
    if (!followed.minified.graphs.empty()) {
        letter.minimized = followed.minified.graphs[0];
        letter.minimized_file = followed.minified.files[0];
        letter.drifted = followed.minified.drifted;
    }
    if (!followed.repros.empty())
        letter.repro = followed.repros[0], letter.verified = followed.verified;
    else
        letter.no_repro = followed.no_repro;
    debug::address(letter, *backend);
}

/// The options of the suspect that leave out whom the letter names, where that can be.
std::optional<BackendChoice> without_culprit(const debug::Letter& letter, const BackendChoice& suspect) {
    if (!letter.minimized || !letter.minimized->failure || !letter.minimized->failure->culprit) return std::nullopt;
    const std::unique_ptr<Backend> backend = find_backend(suspect.spec(kDefaultSuspect));
    const Switchable* parts = offered<Switchable>(*backend);
    if (!parts) return std::nullopt;
    const auto options = debug::without_culprit(*letter.minimized->failure->culprit, *parts, suspect.options());
    if (!options || *options == suspect.options()) return std::nullopt;
    BackendChoice rest{.name = suspect.name, .op_libraries = suspect.op_libraries};
    for (const auto& [key, value] : *options) rest.pairs.push_back(key + "=" + value);
    return rest;
}

/// Tells `letter` of the frame that fails, and as long as it fails without the culprits that were named, of the next.
void tell_culprits(const Tool& tool, const LoadedFrame& frame, const std::string& stem, SubjectOptions options,
                   debug::Guilt guilt, const std::string& model, const std::function<void(const debug::Letter&)>& tell,
                   std::ostream& out) {
    for (std::size_t number = 1;; ++number) {
        debug::Letter letter{.model = model,
                             .suspect = options.suspect().spec.text(),
                             .guilt = guilt,
                             .ops = frame.graph.calls().size()};
        if (!tool.shared().json)
            out << model << ": fails with " << guilt.who().backend << (number > 1 ? " without it, too" : "") << "\n"
                << debug::to_text(guilt) << std::flush;
        const fs::path output = stem + ".min.json";
        std::ostringstream unseen;
        follow(tool, frame, number > 1 ? debug::numbered_result(output, number) : output, options, letter,
               tool.shared().verbose ? out : unseen);
        tell(letter);
        const std::optional<BackendChoice> rest = without_culprit(letter, options.backend);
        if (!rest) return;
        options.backend = *rest;
        guilt = debug::first_guilty(frame, options.suspect());
        if (!guilt.fails()) return;
        if (!tool.shared().json) out << "\n";
    }
}

/// The frames that a backend can be run on; of a program, what it recorded into `scratch`.
std::vector<LoadedFrame> frames_of_model(const Tool& tool, const fs::path& model, SubjectOptions& options,
                                         const fs::path& scratch) {
    fs::path runnable = model;
    const bool run = is_run(recognize(model));
    if (run) {
        SubjectOptions recorded = options;
        if (recorded.backend.name.empty()) recorded.backend.name = std::string(kDefaultSuspect);
        const debug::Subject subject = subject_of(tool, model, recorded, scratch);
        if (subject.frames.empty())
            throw Error({model.string(), {}}, "nothing was captured: " + join(subject.index->notes, "; "));
        runnable = subject.runnable;
        options.inputs = recorded.inputs;
    } else {
        options.program.refuse_for_model(model);
        if (!options.inputs.given()) options.inputs.add(values_beside(model));  // the file alone has none
    }
    // The ops of a program's own are no mistake: it is told of each graph that it cannot be judged.
    std::vector<LoadedFrame> frames =
        load_model(runnable, {.inputs = options.inputs, .keep_unknown = run, .as_stated = true});
    if (frames.empty()) throw Error({model.string(), {}}, "it holds no graph");
    options.backend.default_to(frames[0]);
    return frames;
}

/// What a report calls the frame: of a program, its name; what was recorded of it is gone at the end.
std::string named(const fs::path& model, const LoadedFrame& frame) {
    return is_run(recognize(model)) ? model.string() + " (" + frame.name + ")" : frame.file.string();
}

}  // namespace

void CulpritOptions::declare(Tool& tool, bool diagnoses) {
    tool.positional("MODEL", model,
                    diagnoses ? kModelHelp : "ONNX model, PyTorch export (.pt2), graph, record or trace.");
    report.declare_output(tool);
    subject.backend.declare(tool, "what MODEL was recorded with, else halide");
    subject.accuracy.declare(tool, "Which results differ.");
    subject.inputs.declare(tool);
    if (diagnoses) subject.program.declare(tool);
    tool.common("--output --backend --accuracy --input");
    tool.files([this, diagnoses] {
        UsedFiles used;
        report.add_to(used);
        subject.add_to(used, model);
        if (diagnoses) used.writes("explain diagnose", stem_of(model, subject.program.arguments) + ".min.json");
        return used;
    });
}

int diverge(const Tool& tool, const CulpritOptions& options) {
    options.subject.backend.check();
    ReportSink sink(tool, options.model, options.report.output);
    std::vector<debug::FrameDivergence> all;
    for (const LoadedFrame& frame : load_model(options.model, {.inputs = options.subject.inputs})) {
        SubjectOptions own = options.subject;
        own.backend.default_to(frame);
        all.push_back(debug::diverge(frame, own.suspect()));
        if (tool.shared().json) continue;
        sink.out() << (all.size() > 1 ? "\n" : "")
                   << debug::to_text(all.back(), {.all = tool.shared().verbose, .columns = sink.columns()});
    }
    if (tool.shared().json) print_json(debug::to_json(all));
    sink.close();
    return std::any_of(all.begin(), all.end(), [](const auto& one) { return one.differs(); });
}

int diagnose(const Tool& tool, const CulpritOptions& asked) {
    const fs::path& model = asked.model;
    SubjectOptions options = asked.subject;
    options.backend.check();
    ReportSink sink(tool, model, asked.report.output);
    const TempDir scratch("whittle-diagnose");
    const std::vector<LoadedFrame> frames = frames_of_model(tool, model, options, scratch.path() / "traced");
    const Suspect suspect = options.suspect();
    const bool json = tool.shared().json;
    std::vector<std::pair<const LoadedFrame*, debug::Guilt>> failing;
    std::vector<debug::JudgedFrame> judged;
    nlohmann::json all = nlohmann::json::array();
    for (const LoadedFrame& frame : frames) {
        debug::Guilt guilt = debug::first_guilty(frame, suspect);
        judged.push_back(debug::judged_frame(guilt));
        if (guilt.fails())
            failing.emplace_back(&frame, std::move(guilt));
        else if (json)
            all.push_back(debug::to_json(debug::Letter{named(model, frame), suspect.spec.text(), std::move(guilt)}));
        else
            sink.out() << named(model, frame) << ": " << words(guilt.verdict()) << " with " << suspect.spec.text()
                       << "\n"
                       << debug::to_text(guilt);
    }
    for (std::size_t i = 0; i < failing.size(); ++i) {
        const auto& [frame, guilt] = failing[i];
        const auto tell = [&](const debug::Letter& letter) {
            if (json)
                all.push_back(debug::to_json(letter));
            else
                sink.out() << "\n" << debug::to_text(letter) << std::flush;
        };
        const std::string stem =
            stem_of(model, options.program.arguments) + (failing.size() > 1 ? "-" + std::to_string(i + 1) : "");
        tell_culprits(tool, *frame, stem, options, guilt, named(model, *frame), tell, sink.out());
    }
    if (json) {
        nlohmann::json report = {{"frames", all}};
        debug::add_verdict(report, judged);
        print_json(report);
    }
    sink.close();
    return failing.empty() ? 0 : 1;
}

}  // namespace whittle::cli
