// trace: capture what a model computes, as a folder of graphs and records.
#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>

#include "base/subprocess.h"
#include "cli/environment.h"
#include "cli/limits.h"
#include "cli/messages.h"
#include "cli/minify.h"
#include "cli/program.h"
#include "cli/programs.h"
#include "cli/tool.h"
#include "cli/trace_options.h"
#include "cli/usage.h"
#include "frontends/clang/launcher.h"
#include "record/launch/trace.h"
#include "report/subject.h"
#include "trace/folder.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;

struct Options {
    std::vector<fs::path> models;
    fs::path output = "whittle-out";
    cli::BackendChoice backend;
    cli::InputOptions inputs;
    cli::ProgramOptions program;
    cli::RecordOptions record;
    cli::WholeOptions whole;
    cli::GraphOptions graphs;
    cli::LimitOptions limits;
    bool minify = false, force = false;
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional(
        "MODEL", options.models,
        std::string(cli::kModelHelp) +
            " Several models go into one folder, each under the name of its file; one that cannot be read does "
            "not stop the others. Programs and TorchScript modules are traced one at a time.");
    tool.option("-o,--output", options.output, "DIR",
                "Folder to write. An earlier trace of the same models in this folder is replaced; other files are "
                "kept. Default: whittle-out.");
    tool.flag("--force", options.force, "Replace the trace in DIR even if it is a trace of other models.");
    options.record.declare(tool);
    options.whole.declare(tool);
    tool.flag("--minify", options.minify,
              "If the backend fails, write the minimized failure and a verified repro to DIR.");
    options.graphs.declare(tool);
    options.backend.declare(tool, "eager, the reference");
    options.inputs.declare(tool);
    options.program.declare(tool);
    options.limits.declare(tool, cli::kLimited);
    tool.common("--output --force --input --backend --minify --fullgraph --record --function --compile --capture");
    tool.example("trace nets/*/model.onnx -o traces",
                 "trace several models, named after their folders, each on the inputs in its test_data_set_0; replay "
                 "expects the outputs in these folders");
    tool.example("trace model.onnx --input tokens=tokens.npy --seed 7",
                 "give one input, and make the others at random");
    tool.example("trace net.pt --input 'x=f32[1, 3, 224, 224]'", "trace a TorchScript module on random numbers");
    tool.example("trace -o traces ./app -- --steps 3", "trace a LibTorch program and pass on its exit status");
    tool.example("trace cc -- g++ -c model.cpp", "compile with capture probes (see trace cc --help)");
    tool.exit_one(
        "the results differ from the given outputs, the backend failed, or --fullgraph is not met; if a program fails, "
        "its own exit status is passed on");
}

/// Where the suspect fails: with --minify all the way to a repro, else the command that makes it small. The records say
/// which backend it was.
void follow_up(const cli::Tool& tool, const Options& options, const fs::path& model, const Traced& traced,
               std::ostream& report, nlohmann::json& json) {
    const bool recorded = options.record.records() != RecordPolicy::never, wrong = traced.wrong();
    if (traced.only_file()) {  // what was recorded does not fail
        cli::follow_up(tool,
                       cli::of_file(options.minify, {.model = model,
                                                     .output = options.output / "minimized.onnx",
                                                     .judge = {.backend = options.backend},
                                                     .search = {.limits = options.limits},
                                                     .inputs = options.inputs}),
                       report, json);
        return;
    }
    cli::follow_up(
        tool,
        {.minify = options.minify,
         .next = recorded ? cli::minify_command(options.output, wrong, {}, {}, {}, options.limits)
                          : cli::minify_command(model, wrong, options.backend, {}, options.inputs, options.limits),
         .asked = {.model = options.output,
                   .output = options.output / "minimized.json",
                   .judge = {.backend = options.backend},
                   .search = {.limits = options.limits}}},
        report, json);
}

/// The program's stdout stays its own: what we have to say goes to stderr, and the exit status is the program's.
int trace_program(const cli::Tool& tool, const Options& options, const TraceRequest& request) {
    remove_trace(options.output);  // the program may write its own
    ProgramRequest program = options.program.request(tool, options.models[0], options.inputs);
    program.backend = options.backend.name;
    const RanProgram ran = run_to_trace(program, request);
    const Traced traced = trace(ran, request);
    options.graphs.write(report::graphs_of(ran));
    for (const std::string& line : to_lines(traced, tool.shared().quiet))
        std::cerr << tool.called() << ": " << line << "\n";
    nlohmann::json json = to_json(traced);
    if (traced.minifiable()) follow_up(tool, options, options.models[0], traced, std::cerr, json);
    if (tool.shared().json) cli::print_json(json);
    const bool failed = traced.minifiable() && ran.good();
    return options.whole.hold(tool, traced.index, report::graphs_of(ran)) && !failed ? cli::end_as(ran) : 1;
}

/// The first model that fails. Of several, each frame is named after its model.
fs::path failing_model(const Traced& traced, const std::vector<fs::path>& models) {
    if (models.size() == 1) return models[0];
    const JudgedFrame fails = with_verdict(traced.all_judged(), Verdict::fails).at(0);
    const std::string name = fails.name.substr(0, fails.name.find('/'));
    const auto model = std::ranges::find(traced.index.models, name, &IndexModel::name);
    return models.at(static_cast<std::size_t>(model - traced.index.models.begin()));
}

int trace_models(const cli::Tool& tool, const Options& options, TraceRequest request) {
    bool whole = true;
    TraceObserver observer;
    observer.before = [&](const LoadedFrame& frame) {
        whole = whole && options.whole.hold(tool, {.name = frame.name,
                                                   .file = frame.file.string(),
                                                   .graph = frame.graph,
                                                   .breaks = frame.breaks,
                                                   .unknown = frame.unknown});
    };
    observer.after = [&](const TracedFrame& traced) {
        if (!tool.shared().json) std::cout << to_text(traced, options.output);
    };
    observer.failed = [&](const Error& error) { cli::report_error(tool, error); };
    cli::ModelsToTrace read = cli::models_to_trace(options.models, options.inputs, options.backend, options.output);
    for (const NotTraced& one : read.unread) observer.failed(one.error);
    if (!read.frames.empty()) options.graphs.apply(tool, read.frames);
    request.models = read.models;
    Traced traced = trace(read.frames, request, observer);
    traced.not_traced.insert(traced.not_traced.begin(), read.unread.begin(), read.unread.end());
    nlohmann::json json = to_json(traced);
    std::ostream& report = tool.shared().json ? std::cerr : std::cout;
    report << not_traced_text(traced);
    if (traced.minifiable())
        follow_up(tool, options, failing_model(traced, read.models), traced, report, json);
    else if (!tool.shared().json)
        std::cout << next_replay(traced);
    if (tool.shared().json) cli::print_json(json);
    if (!traced.not_traced.empty()) return 2;
    return whole && traced.good() ? 0 : 1;
}

int run(const cli::Tool& tool, const Options& options) {
    if (options.minify) options.record.require("--minify", "the records hold what is minimized");
    if (options.models.size() == 1) options.graphs.check(options.models[0]);  // several are models only
    const TraceLock lock(options.output);
    cli::check_traced(options.models, options.inputs, options.program, options.output, options.force);
    options.backend.check();  // what is wrong with it is told before anything runs
    const BackendSpec backend = options.backend.spec(kReferenceBackend);
    const auto environment = cli::environment(backend, options.backend.options());
    const TraceRequest request{
        .folder = options.output,
        .models = options.program.identities(options.models),
        .suspect = {.spec = backend, .options = options.backend.options(), .limits = options.limits.limits()},
        .records = options.record.records(),
        .check = cli::check_policy_called(options.program.capture().check),
        .environment = environment,
        .load = [](const fs::path& folder) { return cli::load_model(folder, {.keep_unknown = true}); }};
    if (options.models.size() == 1 && cli::is_run(cli::recognize(options.models[0])))
        return trace_program(tool, options, request);
    return trace_models(tool, options, request);
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool(cli::program_named("trace"));
    declare(tool, options);
    tool.files([&] { return cli::files_of_trace(options.models, options.inputs, options.program, options.graphs); });
    std::vector<std::string> compiler;
    cli::Tool cc("trace cc", "-- COMPILER ARGS…",
                 "Compile one C++ file with capture probes, which let trace and explain show the functions, "
                 "statements, variables and branches of the file. If the file cannot have probes, it is compiled "
                 "without probes, and a message says so.");
    cc.after_dashes(compiler, "Compiler command, with or without a launcher such as ccache.");
    cc.exit_one("the compiler exited with 1; its other exit statuses are passed on unchanged");
    cc.example("trace cc -- g++ -g -c model.cpp", "compile one file");
    cc.example("cmake -B build -DCMAKE_CXX_COMPILER_LAUNCHER=\"trace;cc;--\"", "compile a whole build");
    tool.command(cc, [&] { return cpp::compile_with_probes(compiler); });
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
