// explain: what was captured from a model, where capture or a backend stops, and why.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "base/variables.h"
#include "cli/accuracy_choice.h"
#include "cli/backend_choice.h"
#include "cli/minify.h"
#include "cli/model.h"
#include "cli/program.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "debug/check.h"
#include "explain/divergence.h"
#include "explain/report.h"
#include "explain/show.h"
#include "explain/static_report.h"
#include "frontends/clang/unit.h"
#include "frontends/cpp/command.h"
#include "frontends/cpp/description.h"
#include "graph/abilities.h"
#include "run/captured.h"
#include "run/trace_folder.h"
#include "trace/frame_record.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;

struct Options {
    std::optional<fs::path> model, dot;
    cli::BackendChoice backend;
    cli::AccuracyChoice accuracy;
    cli::InputOptions inputs;
    cli::ProgramOptions program;
    std::optional<std::string> break_id, source, source_flags;
    bool ops = false, guards = false, times = false, recompiles = false;
    bool fullgraph = false, list_backends = false, list_variables = false, divergence = false, minify = false;
    std::vector<std::string> typed;  ///< the arguments as they were typed
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional("MODEL", options.model,
                    "Program (run under capture), ONNX model, graph (JSON), record, or folder written by trace.",
                    false);
    tool.flag("--ops", options.ops, "Add a table of all operations: how often each is called, and with what results.");
    tool.flag("--guards", options.guards, "Add the guards of each captured graph: when it may be used again.");
    tool.flag("--times", options.times, "Add how long each captured graph took to compile.");
    tool.flag("--recompiles", options.recompiles, "Add every recompile: its guard, how often, and what would stop it.");
    options.backend.declare(tool, "halide; one that is named is also run, and what it fails on is told first");
    tool.flag("--fullgraph", options.fullgraph, "Exit with status 1 when there is a graph break, naming the first.");
    tool.flag("--minify", options.minify,
              "Run the backend, of a program on what its frames recorded, and when it fails minimize the failure into "
              "MODEL.min.json, write a repro of it (MODEL.min.cpp) and verify that.");
    tool.option("--dot", options.dot, "FILE", "Write the graphs as a picture for Graphviz's dot.");
    tool.option("--break", options.break_id, "ID",
                "Say what the break ID (WB0001 …) means and how to avoid it, or 'all' of them, and stop.");
    tool.option(
        "--static", options.source, "FILE.cpp",
        "Predict the breaks of a C++ program from its source; with a program or a folder written by trace, also say "
        "which of them were seen.");
    tool.option(
        "--static-flags", options.source_flags, "FLAGS",
        "The flags that FILE.cpp is compiled with, as one word. Without a program as MODEL they may also follow --.");
    tool.flag("--divergence", options.divergence,
              "Run the model on the backend with every value exposed, and say which is the first that differs from the "
              "reference, by how much, where NaN and infinities are born, and what is rounding noise only. -v: all "
              "values.");
    options.accuracy.declare(tool, "With --divergence, --minify or --backend: which results differ.");
    tool.flag("--list-backends", options.list_backends, "List the backends that exist, and stop.");
    tool.flag("--list-variables", options.list_variables,
              "List the environment variables that switch things without the programs, as Markdown, and stop.");
    options.inputs.declare(tool);
    options.program.declare(tool);
    tool.example("explain ./app -- --steps 3", "run a LibTorch program and say where its graphs break");
    tool.example("explain model.onnx --ops", "what model.onnx consists of, and what halide cannot compile");
    tool.example("explain model.onnx --dot m.dot && dot -Tsvg m.dot > m.svg", "a picture of it");
    tool.example("explain model.onnx --backend ./mine.so --fullgraph", "does a backend of your own take all of it?");
    tool.example("explain --static model.cpp -- -std=c++17 -Iinclude", "where capture of a program would have to stop");
    tool.example("explain model.onnx --backend halide --divergence", "the first value that Halide computes wrong");
    tool.example("explain model.onnx --backend ./mine.so --minify", "from a failing compile to a verified repro");
    tool.exit_one(
        "with --fullgraph, there is a graph break; with --divergence, the results differ; a backend that was named, or "
        "with --minify the default one, fails.");
}

int list(const cli::Tool& tool) {
    const std::vector<BackendInfo> backends = list_backends();
    if (tool.shared().json) {
        nlohmann::json all = nlohmann::json::array();
        for (const BackendInfo& b : backends)
            all.push_back({{"name", b.name}, {"description", b.description}, {"from", b.from}});
        cli::print_json({{"backends", all}});
        return 0;
    }
    std::size_t widest = 0;
    for (const BackendInfo& b : backends) widest = std::max(widest, b.name.size());
    for (const BackendInfo& b : backends)
        std::printf("%-*s  %s\n", static_cast<int>(widest), b.name.c_str(), b.description.c_str());
    return 0;
}

/// What is explained: graphs, and what was noticed while they were captured.
struct Subject {
    std::vector<explain::Frame> frames = {};
    std::optional<TraceIndex> index = {};
    /// Where the backend is run: what fails, and where the recorded frames are.
    std::vector<debug::FailingFrame> failing = {};
    fs::path runnable = {};
};

Suspect suspect_of(const Options& options) {
    return {.spec = options.backend.name.empty() ? BackendSpec(kDefaultSuspect) : BackendSpec(options.backend.name),
            .options = options.backend.options(),
            .accuracy = options.accuracy.accuracy(),
            .tier = Tier::computes};
}

/// The backend to run the graphs on; null when none was asked for. The reference has no failures of its own.
std::unique_ptr<Backend> suspect(const Options& options) {
    if (options.backend.name.empty() && !options.minify) return nullptr;
    std::unique_ptr<Backend> backend =
        find_backend(options.backend.name.empty() ? std::string(kDefaultSuspect) : options.backend.name);
    return offered<Reference>(*backend) ? nullptr : std::move(backend);
}

/// `runnable`: the frames with their inputs, when a backend is to be run on them.
Subject subject_of_model(const Options& options, const std::vector<cli::LoadedFrame>& runnable) {
    if (!options.source) options.program.refuse_for_model(*options.model);
    const cli::ModelOptions how{.inputs = options.inputs, .keep_unknown = true, .need_inputs = false};
    Subject subject;
    for (cli::LoadedFrame& loaded : cli::load_model(*options.model, how)) {
        explain::Frame frame{.name = loaded.name, .file = loaded.file.string(), .graph = std::move(loaded.graph)};
        for (const Break& b : loaded.breaks) frame.breaks.push_back({b.node, b.reason});
        subject.frames.push_back(std::move(frame));
    }
    if (fs::is_directory(*options.model)) {
        subject.index = load_index(*options.model);
        for (const IndexRecord& record : subject.index->records)
            if (record.graph.empty() && failed(load_frame_record(*options.model / record.file)))
                subject.index->notes.push_back("capture failed in a function: " + record.file.string() +
                                               " has what it did; replay captures it again");
    }
    for (explain::Frame& frame : subject.frames)
        frame.captured = subject.index && explain::was_captured(frame, *subject.index);
    if (const auto backend = suspect(options)) {
        subject.runnable = *options.model;
        subject.failing = debug::failing_frames(runnable, *backend, suspect_of(options));
    }
    return subject;
}

/// The program's frames as a trace below `folder`, run on the backend.
void run_recorded(const cli::RanProgram& ran, const fs::path& folder, const Options& options, Backend& backend,
                  Subject& subject) {
    subject.runnable = folder;
    if (ran.own) {
        if (!ran.own->graphs.empty())
            subject.failing =
                debug::failing_frames(cli::load_model(folder, {.keep_unknown = true}), backend, suspect_of(options));
        for (debug::FailingFrame& frame : subject.failing) frame.file = fs::path(frame.file).filename().string();
        return;
    }
    TraceFolder trace(folder, {&*options.model, 1}, options.backend.name, {});
    for (const capture::CapturedFrame& frame : ran.frames)
        for (const TracedFrame& traced :
             trace.add(frame, "LibTorch", backend, options.backend.options(), RecordPolicy::on_error))
            if (traced.minifiable)
                subject.failing.push_back({frame.name, traced.graph.filename().string(), traced.failure});
    trace.finish();
}

Subject subject_of_program(const cli::Tool& tool, const Options& options, const fs::path& folder) {
    const std::unique_ptr<Backend> backend = suspect(options);
    cli::OwnTrace own;
    if (backend) own = {.folder = folder, .records = "always"};
    const cli::RanProgram ran =
        cli::run_program(*options.model, options.program, backend != nullptr, tool.shared().json, own);
    Subject subject{.index = index_of(options.model->string(), ran.frames)};
    if (ran.own) subject.index = ran.own;
    subject.index->notes.insert(subject.index->notes.end(), ran.notes.begin(), ran.notes.end());
    for (std::size_t i = 0; i < ran.own_graphs.size(); ++i) {
        const IndexGraph& entry = ran.own->graphs[i];
        subject.frames.push_back(
            {.name = entry.frame, .file = entry.file.string(), .graph = ran.own_graphs[i], .captured = true});
    }
    if (ran.signal || ran.exit_code)
        subject.index->notes.insert(subject.index->notes.begin(), "the program: " + ran.status);
    for (const capture::CapturedFrame& frame : ran.frames)
        for (const capture::CapturedGraph& graph : frame.graphs)
            subject.frames.push_back(
                {.name = frame.name, .file = graph.graph.name + ".json", .graph = graph.graph, .captured = true});
    if (backend) run_recorded(ran, folder, options, *backend, subject);
    return subject;
}

int tell_break(const std::string& id) {
    if (id == "all") {
        std::cout << explain::break_catalogue_page();
        return 0;
    }
    const capture::BreakInfo* info = capture::find_break(id);
    if (!info)
        throw Error({"--break", {}}, "found '" + id + "', expected an id from " +
                                         std::string(capture::break_catalogue().front().id) + " to " +
                                         std::string(capture::break_catalogue().back().id) + ", or 'all'");
    std::cout << explain::break_page(*info);
    return 0;
}

explain::TextOptions text_options(const cli::Tool& tool, const Options& options) {
    return {.ops = options.ops,
            .guards = options.guards,
            .times = options.times,
            .recompiles = options.recompiles,
            .verbose = tool.shared().verbose,
            .color = tool.shared().color_out};
}

bool is_program(const Options& options) {
    return options.model && cli::recognize(*options.model) == cli::ModelKind::program;
}

/// What the sources say: the one of --static, else those that were compiled by `trace cc`.
std::vector<cpp::Analysis> analyses_of(const Options& options) {
    const std::vector<std::string>& functions = options.program.functions;
    std::vector<cpp::Analysis> analyses;
    if (options.source) {
        std::vector<std::string> flags = shell_split(options.source_flags.value_or(""));
        const std::vector<std::string>& rest = options.program.arguments;
        if (!is_program(options)) flags.insert(flags.end(), rest.begin(), rest.end());
        analyses.push_back(cpp::analyze({*options.source, cpp::clang_flags(flags)}));
        const std::vector<std::string> unknown = cpp::keep_functions(analyses[0], functions);
        if (unknown.empty()) return analyses;
        std::vector<std::string> names;
        for (const cpp::Function& f : analyses[0].functions) names.push_back(f.name);
        throw Error({"--function", {}}, "found '" + unknown[0] + "', which is no function of " + *options.source,
                    did_you_mean(unknown[0], names));
    }
    if (options.source_flags) throw Error("found --static-flags, expected it with --static only");
    if (!options.model) return analyses;
    const std::vector<cpp::StaticTables> described = is_program(options) ? cpp::read_program(*options.model)
                                                     : fs::is_directory(*options.model)
                                                         ? cpp::load_descriptions(*options.model)
                                                         : std::vector<cpp::StaticTables>();
    for (const cpp::StaticTables& tables : described) {
        analyses.push_back(tables.analysis);
        cpp::keep_functions(analyses.back(), functions);
    }
    return analyses;
}

int tell_predictions(const cli::Tool& tool, const Options& options, const cpp::Analysis& analysis) {
    if (tool.shared().json)
        cli::print_json(explain::to_json(analysis));
    else
        std::cout << explain::to_text(analysis, text_options(tool, options));
    for (const cpp::Prediction& p : analysis.predictions) {
        if (!options.fullgraph || p.possible) continue;
        std::cerr << "explain: --fullgraph: found a graph break at " << analysis.file << ":" << p.range.line << ": "
                  << p.reason << "\n";
        return 1;
    }
    return 0;
}

int tell_divergence(const cli::Tool& tool, const Options& options) {
    nlohmann::json all = nlohmann::json::array();
    bool differs = false;
    std::string name;
    for (const cli::LoadedFrame& frame : cli::load_model(*options.model, {.inputs = options.inputs})) {
        cli::BackendChoice choice = options.backend;
        choice.default_to(frame);
        name = choice.name.empty() ? std::string(kDefaultSuspect) : choice.name;
        const Divergence divergence =
            diverge(frame.graph, frame.inputs, *find_backend(name), choice.options(), {}, options.accuracy.accuracy());
        differs = differs || divergence.plain.failed() || divergence.first;
        const std::string what = frame.file.empty() ? options.model->string() : frame.file.string();
        if (!tool.shared().json)
            std::cout << (all.empty() ? "" : "\n")
                      << explain::to_text(divergence, what, name, {.all = tool.shared().verbose});
        all.push_back(explain::to_json(divergence));
        all.back()["file"] = what;
    }
    if (tool.shared().json) cli::print_json({{"backend", name}, {"divergence", std::move(all)}});
    return differs ? 1 : 0;
}

/// What the backend fails on comes first; of what is in the report anyway, nothing.
void tell_failures(const Subject& subject, std::ostream& out) {
    for (const debug::FailingFrame& frame : subject.failing)
        out << "FAIL " << frame.name << " (" << frame.file << "): " << frame.failure << "\n";
    if (!subject.failing.empty()) out << "\n";
}

/// At the end: with --minify from the failure to a verified repro, else the command that does it.
void follow_up(const cli::Tool& tool, const Options& options, const Subject& subject, nlohmann::json& json) {
    std::ostream& report = tool.shared().json ? std::cerr : std::cout;
    if (subject.runnable.empty()) return;
    if (subject.failing.empty()) {
        if (options.minify)
            report << "\nnot failing: with "
                   << (options.backend.name.empty() ? std::string(kDefaultSuspect) : options.backend.name)
                   << " it compiles, runs and computes what eager does\n";
        return;
    }
    if (!options.minify) {
        report << "\nnext: " << cli::with_minify(tool, options.typed) << "\n";
        return;
    }
    cli::FollowUp wanted{
        .model = subject.runnable, .backend = options.backend, .accuracy = options.accuracy, .inputs = options.inputs};
    wanted.output = fs::absolute(*options.model).lexically_normal();
    if (!wanted.output.has_filename()) wanted.output = wanted.output.parent_path();  // DIR/
    wanted.output = wanted.output.stem().string() + ".min.json";
    if (!tool.shared().json) report << '\n';
    const cli::FollowedUp done = cli::follow_up(tool, wanted, report);
    json.update(done.json);
    json["verified"] = done.verified;
}

nlohmann::json to_json(const std::vector<debug::FailingFrame>& failing) {
    nlohmann::json list = nlohmann::json::array();
    for (const debug::FailingFrame& frame : failing)
        list.push_back({{"frame", frame.name}, {"file", frame.file}, {"failure", frame.failure}});
    return list;
}

int run(const cli::Tool& tool, Options& options) {
    if (options.list_backends) return list(tool);
    if (options.list_variables) {
        std::cout << variables_page();
        return 0;
    }
    if (options.break_id) return tell_break(*options.break_id);
    const std::vector<cpp::Analysis> analyses = analyses_of(options);
    if (!options.model && !analyses.empty()) return tell_predictions(tool, options, analyses[0]);
    if (!options.model) throw Error("found no MODEL, expected one", "see explain --help");
    if (options.accuracy.given() && !options.divergence && !options.minify && options.backend.name.empty())
        throw Error(
            "found --accuracy, --rtol, --atol or --ulp, expected them with --divergence, --minify or --backend only");
    if (options.divergence) return tell_divergence(tool, options);
    if (options.dot) cli::check_output("--dot", *options.dot, cli::files_read(*options.model, options.inputs));
    std::vector<cli::LoadedFrame> runnable;
    if ((options.minify || !options.backend.name.empty()) && !is_program(options)) {
        runnable = cli::load_model(*options.model, {.inputs = options.inputs, .keep_unknown = true});
        if (options.minify) options.backend.default_to(runnable.at(0));
    }
    const std::unique_ptr<Backend> backend =
        find_backend(options.backend.name.empty() ? std::string(kDefaultSuspect) : options.backend.name);
    const TempDir folder("whittle-explain");
    const Subject subject = is_program(options) ? subject_of_program(tool, options, folder.path() / "traced")
                                                : subject_of_model(options, runnable);
    if (!analyses.empty() && !subject.index)
        throw Error({options.model->string(), {}},
                    "found neither a program nor a folder written by trace, expected one with --static",
                    "leave MODEL out to see the predictions alone");
    explain::Report report = explain::explain(options.model->string(), subject.frames, backend.get(),
                                              subject.index ? &*subject.index : nullptr);
    report.failing = subject.failing.size();
    if (options.dot) write_file(*options.dot, explain::to_dot(subject.frames, backend.get()));

    nlohmann::json json;
    if (tool.shared().json) {
        json = explain::to_json(report);
        if (!analyses.empty()) json["static"] = explain::joined_json(analyses, subject.index->breaks);
        if (!subject.runnable.empty()) json["failures"] = to_json(subject.failing);
    } else {
        tell_failures(subject, std::cout);
        std::cout << explain::to_text(report, text_options(tool, options));
        if (!analyses.empty())
            std::cout << explain::joined_text(analyses, subject.index->breaks, text_options(tool, options));
    }
    const bool broken = options.fullgraph && !report.break_reasons.empty();
    if (broken) std::cerr << "explain: --fullgraph: " << explain::first_break_text(report);
    follow_up(tool, options, subject, json);
    if (tool.shared().json) cli::print_json(json);
    return !subject.failing.empty() || broken ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool("explain", "MODEL",
                   "Says what was captured from a model, where capture or a backend stops, and why.");
    declare(tool, options);
    options.typed = {argv + std::min(argc, 1), argv + argc};
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
