// trace: capture what a model computes, as a folder of graphs and records.
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/subprocess.h"
#include "cli/backend_choice.h"
#include "cli/environment.h"
#include "cli/minify.h"
#include "cli/model.h"
#include "cli/program.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "debug/check.h"
#include "explain/full_code.h"
#include "explain/report.h"
#include "explain/show.h"
#include "explain/words.h"
#include "frontends/clang/launcher.h"
#include "frontends/cpp/description.h"
#include "graph/abilities.h"
#include "run/trace_folder.h"
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
    std::string record = "always", check = "budget";
    bool fullgraph = false, exported = false, minify = false, force = false;
    std::vector<std::string> typed;  ///< the arguments as they were typed
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional(
        "MODEL", options.models,
        "Program (run under capture), ONNX model, graph (JSON), record, or folder written by trace. Several "
        "models, but no programs, are traced into one folder, each named after its file or folder.");
    tool.option("-o,--output", options.output, "DIR",
                "Folder to write. Default: whittle-out. An earlier trace of the same models is replaced, file by file; "
                "nothing else in it is touched.");
    tool.flag("--force", options.force, "Replace the trace in DIR even when it is one of other models.");
    options.backend.declare(tool, "eager");
    tool.choice("--record", options.record, {"always", "on-error", "never"},
                "When to write records: always, only of runs that fail or give wrong results, or never. Of programs "
                "that use Whittle's API also of what capture saw of each function (NAME_frame).");
    tool.choice(
        "--check-capture", options.check, {"always", "budget", "never"},
        "Whether graphs whose results were observed are run on what was observed, and must compute it: always, "
        "of programs until a fifth of their time is spent (budget; at least one second), or never. A graph that "
        "computes something else is a capture fault.");
    tool.flag("--fullgraph", options.fullgraph, "Exit with status 1 when there is a graph break, naming the first.");
    tool.flag("--export", options.exported,
              "As --fullgraph, and exit with status 1, too, when a graph has an input that is no parameter of its "
              "function, nor of a module that it is given: naming all of them.");
    tool.flag("--minify", options.minify,
              "When the backend fails: minimize the failure, write a repro of it and verify that, all below DIR.");
    options.inputs.declare(tool);
    options.program.declare(tool);
    tool.example("trace model.onnx --inputs test_data_set_0 -o traces",
                 "run model.onnx on recorded inputs; its recorded outputs become what replay expects");
    tool.example("trace nets/*/model.onnx -o traces", "several models, named after their folders");
    tool.example("trace model.onnx --input tokens=tokens.npy --seed 7", "one input given, the others made");
    tool.example("trace -o traces ./app -- --steps 3",
                 "capture a LibTorch program; the exit status is the program's own");
    tool.example("trace cc -- g++ -c model.cpp", "compile with capture probes; see trace cc --help");
    tool.exit_one("results differ from the given outputs, the backend failed, or --fullgraph or --export is not met.");
}

/// A backend failed on what was traced: with --minify all the way to a repro, else the command that does it.
void follow_up(const cli::Tool& tool, const Options& options, std::ostream& report, nlohmann::json& json) {
    if (!options.minify) {
        report << "next: " << cli::with_minify(tool, options.typed) << "\n";
        return;
    }
    if (!tool.shared().json) report << '\n';
    const cli::FollowedUp done = cli::follow_up(
        tool, {.model = options.output, .output = options.output / "minimized.json", .backend = options.backend},
        report);
    json.update(done.json);
    json["verified"] = done.verified;
}

/// trace must not write over what it reads, nor over what is somebody else's.
void check_output(const Options& options) {
    const std::string given = options.output.string();
    const fs::path folder = fs::weakly_canonical(options.output);
    for (const fs::path& model : options.models)
        for (const fs::path& read : cli::files_read(model, options.inputs)) {
            const fs::path inside = fs::weakly_canonical(read).lexically_relative(folder);
            if (!inside.empty() && *inside.begin() != "..")
                throw Error(
                    {"--output", {}},
                    "found '" + given + "', which holds the input '" + read.string() + "', expected another folder",
                    "inputs are never overwritten");
        }
    require_replaceable(options.output, options.models, options.force);
}

/// Several models are captured one by one; a program stands alone, for what follows may be meant for it.
void check_models(const Options& options) {
    if (options.models.size() == 1) return;
    if (options.inputs.given())
        throw Error(options.inputs.data_set ? "found --inputs with several models, expected it with one"
                                            : "found --input with several models, expected it with one");
    if (cli::recognize(options.models[0]) == cli::ModelKind::program)
        throw Error({options.models[0].string(), {}},
                    "found '" + options.models[1].string() + "' after the program, expected nothing but options",
                    "put -- before the program's arguments");
    for (const fs::path& model : options.models)
        if (cli::recognize(model) == cli::ModelKind::program)
            throw Error({model.string(), {}}, "found a program among several models, expected it alone");
}

/// Whether --fullgraph and --export have nothing to say against it; else says what the first break is, or which inputs
/// are in the way.
bool is_whole(const Options& options, const explain::Report& report, const std::vector<explain::Frame>& frames) {
    const char* option = options.exported ? "trace: --export: " : "trace: --fullgraph: ";
    if ((options.fullgraph || options.exported) && report.first_break) {
        std::cerr << option << explain::first_break_text(report);
        return false;
    }
    if (!options.exported) return true;
    bool whole = true;
    for (const explain::Frame& frame : frames)
        for (const explain::ForeignInput& input : explain::foreign_inputs(frame.graph)) {
            std::cerr << option << explain::foreign_input_text(input, frame.name);
            whole = false;
        }
    return whole;
}

void print(const TracedFrame& traced, const cli::LoadedFrame& frame, const fs::path& folder) {
    std::cout << (folder / traced.graph).string() << ": " << index_graph(frame.graph, frame.name).ops << " ops\n";
    if (traced.record)
        std::cout << (folder / *traced.record).string() << ": inputs from " << frame.inputs_from
                  << ", expected outputs from " << traced.expected_from << "\n";
    if (!traced.capture_fault.empty()) std::cout << "CAPTURE FAULT " << traced.capture_fault << "\n";
    if (!traced.failure.empty()) std::cout << "FAIL " << traced.failure << "\n";
}

nlohmann::json to_json(const TracedFrame& traced, const cli::LoadedFrame& frame) {
    nlohmann::json json = {{"frame", frame.name}, {"graph", traced.graph.string()}, {"inputs_from", frame.inputs_from}};
    if (traced.record) json["record"] = traced.record->string(), json["expected_from"] = traced.expected_from;
    if (!traced.capture_fault.empty()) json["capture_fault"] = traced.capture_fault;
    if (!traced.failure.empty()) json["failure"] = traced.failure;
    return json;
}

RecordPolicy policy_of(const Options& options) {
    return options.record == "always"  ? RecordPolicy::always
           : options.record == "never" ? RecordPolicy::never
                                       : RecordPolicy::on_error;
}

/// How graphs of a program are checked. Who was told to stop should not go on for long.
CaptureCheck check_of(const Options& options, const cli::RanProgram& ran) {
    constexpr double kPart = 0.2, kLeast = 1;
    if (options.check == "always") return CaptureCheck(CheckPolicy::always);
    if (options.check == "never" || interrupt_signal()) return CaptureCheck(CheckPolicy::never);
    return CaptureCheck(CheckPolicy::budget, std::max(kLeast, kPart * ran.seconds));
}

void tell_fault(const fs::path& graph, const std::string& fault) {
    std::cerr << "trace: CAPTURE FAULT " << graph.string() << ": " << fault << "\n";
}

/// Each captured function as C++, beside its graphs.
void write_code(const cli::Tool& tool, const Options& options) {
    const explain::FullCode code = explain::write_full_code(options.output);
    TraceWriter writer = TraceWriter::continued(options.output);
    for (const fs::path& file : code.files) writer.add_file(file.lexically_relative(options.output));
    writer.save();
    if (tool.shared().quiet) return;
    for (const std::string& note : code.notes) std::cerr << "trace: " << note << "\n";
    for (const fs::path& file : code.files)
        std::cerr << "trace: " << file.string() << ": what runs in place of " << file.parent_path().filename().string()
                  << ", to read and to step through\n";
}

/// "3 graphs, 2 graph breaks, 3 records".
std::string counts(const TraceIndex& index) {
    std::int64_t breaks = 0;
    for (const IndexBreak& entry : index.breaks) breaks += entry.count;
    const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    return explain::plural(size(index.graphs), "graph") + ", " + explain::plural(breaks, "graph break") + ", " +
           explain::plural(size(index.records), "record") +
           (index.graphs.empty() ? "" : ", " + checks_text(count_checks(index)));
}

/// A program of our own API has written the folder itself. It ran on the backend, so that an error was its own to
/// handle and a crash its end; wrong results show when its frames are run once more.
int finish_own(const cli::Tool& tool, const Options& options, const cli::RanProgram& ran, Backend& backend) {
    TraceWriter writer = TraceWriter::continued(options.output);
    name_models(writer.index(), options.output, options.models);
    writer.index().environment = cli::environment();
    CaptureCheck check = check_of(options, ran);
    check_records(options.output, writer.index(), check);
    writer.save();
    write_code(tool, options);
    const TraceIndex& index = writer.index();
    if (!tool.shared().quiet)
        std::cerr << "trace: " << options.output.string() << ": " << counts(index) << "; the program "
                  << (ran.signal ? "was " : "ended with ") << ran.status << "\n";
    nlohmann::json frames = nlohmann::json::array();
    for (const IndexGraph& graph : index.graphs) {
        frames.push_back({{"frame", graph.frame}, {"graph", graph.file.string()}});
        if (graph.capture_fault.empty()) continue;
        frames.back()["capture_fault"] = graph.capture_fault;
        tell_fault(options.output / graph.file, graph.capture_fault);
    }
    nlohmann::json json = {{"output", options.output.string()}, {"frames", frames}, {"program", ran.status}};
    std::vector<debug::FailingFrame> failing;
    if (!offered<Reference>(backend) && !index.graphs.empty() && options.record != "never")
        failing = debug::failing_frames(cli::load_model(options.output, {.keep_unknown = true}), backend,
                                        {.options = options.backend.options()});
    for (const debug::FailingFrame& frame : failing) {
        std::cerr << "trace: FAIL " << frame.file << ": " << frame.failure << "\n";
        json["failures"].push_back({{"frame", frame.name}, {"file", frame.file}, {"failure", frame.failure}});
    }
    if (!failing.empty()) follow_up(tool, options, std::cerr, json);
    if (tool.shared().json) cli::print_json(json);
    std::vector<explain::Frame> whole;
    for (std::size_t i = 0; i < ran.own_graphs.size(); ++i)
        whole.push_back({.name = index.graphs[i].frame, .graph = ran.own_graphs[i]});
    return is_whole(options, explain::explain(index.model, {}, nullptr, &index), whole) ? cli::end_as(ran) : 1;
}

/// The program's stdout stays its own: what we have to say goes to stderr, and the exit status is the program's.
int run_program(const cli::Tool& tool, const Options& options, Backend& backend, const std::string& spec) {
    const fs::path& program = options.models[0];
    remove_trace(options.output);  // the program may write its own
    const cli::RanProgram ran =
        cli::run_program(program, options.program, true, tool.shared().json,
                         {.folder = options.output, .records = options.record, .backend = options.backend.name});
    if (ran.own) return finish_own(tool, options, ran, backend);
    TraceFolder folder(options.output, options.models, spec, cli::environment());
    folder.check_with(check_of(options, ran));
    nlohmann::json json = nlohmann::json::array();
    std::size_t failures = 0;
    std::vector<explain::Frame> frames;
    bool minifiable = false;
    for (const capture::CapturedFrame& frame : ran.frames) {
        for (const capture::CapturedGraph& captured : frame.graphs)
            frames.push_back({.name = frame.name, .graph = captured.graph});
        for (const TracedFrame& traced :
             folder.add(frame, "LibTorch", backend, options.backend.options(), policy_of(options))) {
            json.push_back({{"frame", frame.name}, {"graph", traced.graph.string()}});
            if (traced.record) json.back()["record"] = traced.record->string();
            if (!traced.capture_fault.empty()) {
                json.back()["capture_fault"] = traced.capture_fault;
                tell_fault(options.output / traced.graph, traced.capture_fault);
            }
            if (traced.failure.empty()) continue;
            json.back()["failure"] = traced.failure;
            ++failures;
            minifiable = minifiable || traced.minifiable;
            std::cerr << "trace: FAIL " << (options.output / traced.graph).string() << ": " << traced.failure << "\n";
        }
    }
    for (const std::string& note : ran.notes) {
        folder.note(note);
        // What was not seen may be why a graph differs from what the program computed.
        if (ran.frames.empty() || failures) std::cerr << "trace: " << (failures ? "note: " : "") << note << "\n";
    }
    if (cpp::save_descriptions(options.output, cpp::read_program(program))) folder.add_file(cpp::kDescriptions);
    folder.finish();
    write_code(tool, options);
    if (!tool.shared().quiet)
        std::cerr << "trace: " << options.output.string() << ": " << counts(folder.index())
                  << (folder.index().records.empty() || backend.name() == "eager"
                          ? ""
                          : ", " + std::to_string(failures) + " that differ from LibTorch")
                  << "; the program " << (ran.signal ? "was " : "ended with ") << ran.status << "\n";
    nlohmann::json all = {{"output", options.output.string()}, {"frames", json}, {"program", ran.status}};
    if (minifiable && !offered<Reference>(backend)) follow_up(tool, options, std::cerr, all);
    if (tool.shared().json) cli::print_json(all);
    const explain::Report report = explain::explain(program.string(), {}, nullptr, &folder.index());
    return is_whole(options, report, frames) ? cli::end_as(ran) : 1;
}

/// The graphs of a model that is no program. One that is its whole model is called as the model is: exporters call
/// theirs all alike ("torch_jit"). So is its frame where several models are traced, and others say whose they are.
std::vector<cli::LoadedFrame> frames_of(const Options& options, const fs::path& model, const std::string& name) {
    std::vector<cli::LoadedFrame> frames = cli::load_model(model, {.inputs = options.inputs});
    const bool whole = cli::recognize(model) != cli::ModelKind::trace;
    for (cli::LoadedFrame& frame : frames) {
        if (whole) frame.graph.name = name;
        if (options.models.size() > 1) frame.name = whole ? name : name + "/" + frame.name;
    }
    return frames;
}

int run(const cli::Tool& tool, const Options& options) {
    if (options.minify && options.record == "never")
        throw Error({"--minify", {}}, "found it with --record never, expected records: they hold what is minimized");
    check_models(options);
    check_output(options);
    const std::string spec = options.backend.name.empty() ? std::string(kReferenceBackend) : options.backend.name;
    const std::unique_ptr<Backend> backend = find_backend(spec);
    if (cli::recognize(options.models[0]) == cli::ModelKind::program) return run_program(tool, options, *backend, spec);
    TraceFolder folder(options.output, options.models, spec, cli::environment());
    std::vector<std::vector<cli::LoadedFrame>> models;  // all of them before anything is written
    for (std::size_t i = 0; i < options.models.size(); ++i) {
        options.program.refuse_for_model(options.models[i]);
        models.push_back(frames_of(options, options.models[i], folder.index().models[i].name));
    }
    if (options.check == "never") folder.check_with(CaptureCheck(CheckPolicy::never));
    const RecordPolicy policy = policy_of(options);
    nlohmann::json json = nlohmann::json::array();
    bool good = true, failed = false;
    for (std::size_t i = 0; i < models.size(); ++i)
        for (const cli::LoadedFrame& frame : models[i]) {
            const std::vector<explain::Frame> whole = {
                {.name = frame.name, .file = frame.file.string(), .graph = frame.graph}};
            good = good && is_whole(options, explain::explain(options.models[i].string(), whole, nullptr), whole);
            const TracedFrame traced = folder.add(
                {frame.name, frame.file.string(), frame.graph, frame.inputs, frame.expected, frame.expected_from},
                *backend, options.backend.options(), policy);
            good = good && traced.failure.empty() && traced.capture_fault.empty();
            failed = failed || traced.minifiable;
            json.push_back(to_json(traced, frame));
            if (!tool.shared().json) print(traced, frame, options.output);
        }
    folder.finish();
    failed = failed && !offered<Reference>(*backend);  // the reference is what minify compares with
    nlohmann::json all = {{"output", options.output.string()}, {"frames", json}};
    if (failed) follow_up(tool, options, tool.shared().json ? std::cerr : std::cout, all);
    if (tool.shared().json)
        cli::print_json(all);
    else if (!failed && !folder.index().records.empty())
        std::cout << "next: replay " << shell_quote({options.output.string()}) << " --backend halide\n";
    return good ? 0 : 1;
}

/// `trace cc -- COMPILER ARGS…`.
void declare_cc(cli::Tool& tool, std::vector<std::string>& command) {
    tool.after_dashes(command, "The compiler's command, which may begin with a launcher such as ccache.");
    tool.exit_one("the compiler failed; every other status of its own is passed on, too.");
    tool.example("trace cc -- g++ -g -c model.cpp", "one file");
    tool.example("cmake -B build -DCMAKE_CXX_COMPILER_LAUNCHER=\"trace;cc;--\"", "a whole build");
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool("trace", "MODEL…", "Runs a model and captures what it computes, as a folder of graphs and records.");
    declare(tool, options);
    options.typed = {argv + std::min(argc, 1), argv + argc};
    std::vector<std::string> command;
    cli::Tool cc("trace cc", "-- COMPILER ARGS…",
                 "Compiles one C++ file with capture probes, so that trace and explain can tell its functions, "
                 "statements, variables and branches. If it cannot be probed, says so and compiles it plain.");
    declare_cc(cc, command);
    tool.command(cc, [&] { return cpp::compile_with_probes(command); });
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
