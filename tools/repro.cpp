// repro: one standalone C++ file that shows the failure of a minimized graph, verified by building and running it.
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "cli/accuracy_choice.h"
#include "cli/backend_choice.h"
#include "cli/environment.h"
#include "cli/model.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "debug/write_repro.h"
#include "repro/repro.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;

struct Options {
    fs::path graph;
    fs::path output = "repro.cpp";
    std::optional<fs::path> bundle;
    cli::BackendChoice backend;
    std::string data = "auto";
    cli::AccuracyChoice accuracy;
    bool no_verify = false;
    std::int64_t runs = 3, alarm = 60;
    cli::InputOptions inputs;
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional("GRAPH", options.graph, "What minify wrote; or a graph, model or record with --backend.");
    tool.option("-o,--output", options.output, "FILE", "The file to write. Default: repro.cpp.");
    options.backend.declare(tool, "the one recorded in GRAPH, and its options");
    options.accuracy.declare(tool, "With --backend: a wrong result is a failure to look for.");
    tool.choice(
        "--data", options.data, {"auto", "real", "random", "ones", "zeros"},
        "Values of the inputs and parameters: recorded, random, ones, zeros, or the smallest of these that still "
        "fails in the same way. Default: auto.");
    tool.option(
        "--bundle", options.bundle, "DIR",
        "Write a folder that shows the failure on another machine: repro.cpp, run.sh with the exact commands, the "
        "graph as JSON and ONNX with its inputs, a record for replay, and the environment.");
    tool.flag("--no-verify", options.no_verify, "Do not build and run the file.");
    tool.option("--runs", options.runs, "N", "Runs of the verification, which must all show the failure. Default: 3.");
    tool.option("--alarm", options.alarm, "S",
                "Seconds after which the compiler under suspicion counts as hung. Default: 60.");
    options.inputs.declare(tool);
    tool.example("repro m.json", "m.json as written by minify: writes and verifies repro.cpp");
    tool.example("repro m.json --bundle bug && tar cz bug", "everything for a bug report");
    tool.example("repro env", "what to paste into an issue");
    tool.exit_one("it does not fail, or the file does not show the failure.");
}

/// The graph's recorded failure, or the one that --backend finds on it; nothing when it does not fail.
std::optional<Failure> failure_of(const Options& options, const cli::LoadedFrame& frame) {
    const bool recorded = frame.graph.failure && options.backend.name.empty();
    if (recorded && !options.inputs.given()) return frame.graph.failure;
    if (options.backend.name.empty() && !recorded)
        throw Error({options.graph.string(), {}}, "found a graph without a failure, expected one that minify wrote",
                    "name the backend that fails with --backend");
    Suspect suspect = recorded ? suspect_of(*frame.graph.failure)
                               : Suspect{.spec = options.backend.name, .options = options.backend.options()};
    if (options.accuracy.given()) suspect.accuracy = options.accuracy.accuracy();
    if (options.accuracy.mode) suspect.tier = Tier::computes;
    std::optional<Failure> failure = debug::failure_of(frame, suspect);
    if (failure && recorded) failure->culprit = frame.graph.failure->culprit;
    return failure;
}

/// As minify says it.
int not_failing(const cli::Tool& tool, const std::string& backend, bool accuracy) {
    const std::string message = "not failing: with " + backend +
                                (accuracy ? " it compiles, runs and computes what eager does"
                                          : " it compiles and runs (wrong results count only with --accuracy)");
    if (tool.shared().json)
        cli::print_json({{"verified", false}, {"runs", 0}, {"message", message}});
    else
        std::cout << message << "\n";
    return 1;
}

int tell_environment(const cli::Tool& tool) {
    if (tool.shared().json)
        cli::print_json(cli::environment());
    else
        for (const auto& [name, value] : cli::environment()) std::cout << name << ": " << value << "\n";
    return 0;
}

void check_usage(const Options& options) {
    cli::require_range("--runs", static_cast<double>(options.runs), 1, 1000);
    cli::require_range("--alarm", static_cast<double>(options.alarm), 1, 86400);
    // Of a bundle's it is the name only.
    cli::check_output("--output", options.bundle ? options.output.filename() : options.output,
                      cli::files_read(options.graph, options.inputs));
    const std::string name = options.output.filename().string();
    if (options.output.extension() != ".cpp" || name.starts_with('-'))
        throw Error({"--output", {}}, "found '" + options.output.string() + "', expected a name that ends in .cpp" +
                                          (name.starts_with('-') ? " and does not begin with '-'" : ""));
    if (options.bundle && fs::exists(*options.bundle) &&
        (!fs::is_directory(*options.bundle) || !fs::is_empty(*options.bundle)) &&
        !fs::exists(*options.bundle / "run.sh"))
        throw Error({"--bundle", {}},
                    "found '" + options.bundle->string() + "', expected a new folder or an older bundle");
    if (options.backend.name.empty() && !options.backend.pairs.empty())
        throw Error({"--backend-option", {}}, "found it without --backend, expected both");
}

repro::Options repro_options(const Options& options, const std::string& command) {
    repro::Options wanted;
    wanted.output = options.bundle ? *options.bundle / options.output.filename() : options.output;
    wanted.bundle = options.bundle.has_value();
    wanted.command = command;
    wanted.verify = !options.no_verify;
    wanted.runs = static_cast<int>(options.runs);
    wanted.data.reset();
    for (const repro::Data data : {repro::Data::real, repro::Data::random, repro::Data::ones, repro::Data::zeros})
        if (repro::name(data) == options.data) wanted.data = data;
    wanted.alarm = std::chrono::seconds(options.alarm);
    wanted.environment = cli::environment();
    return wanted;
}

int run(const cli::Tool& tool, Options& options, const std::string& command) {
    check_usage(options);
    std::vector<cli::LoadedFrame> frames = cli::load_model(options.graph, {.inputs = options.inputs});
    if (frames.size() != 1)
        throw Error({options.graph.string(), {}}, "found " + std::to_string(frames.size()) + " graphs, expected one",
                    "name one of its graphs or records");
    if (frames[0].record) options.backend.default_to(frames[0]);
    Graph graph = frames[0].graph;
    if (options.backend.name.empty() && graph.failure)
        frames[0].graph.failure->backend = graph.failure->backend =
            found_near(graph.failure->backend, frames[0].file).text();
    const std::optional<Failure> recorded = graph.failure;
    graph.failure = failure_of(options, frames[0]);
    if (!graph.failure)
        return not_failing(tool, recorded && options.backend.name.empty() ? recorded->backend : options.backend.name,
                           options.accuracy.mode.has_value());
    if (graph.failure->backend.empty())
        throw Error({options.graph.string(), {}},
                    "found a failure that a command judged, expected one of a backend: a repro needs to know what to "
                    "compile with",
                    "minify with --backend, or hand the candidate itself to the command's owner");
    const repro::Options wanted = repro_options(options, command);
    const repro::Report report = repro::write_repro(graph, *find_backend(graph.failure->backend), wanted);
    if (tool.shared().json)
        cli::print_json(debug::to_json(report));
    else
        std::cout << debug::to_text(report, *graph.failure, wanted);
    return !options.no_verify && !report.verified ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool("repro", "GRAPH",
                   "Writes one standalone C++ file that shows a failure with nothing but the compiler under suspicion, "
                   "and verifies it by building and running it.");
    declare(tool, options);
    cli::Tool env("repro env", "", "Prints the environment: what to paste into an issue.");
    tool.command(env, [&] { return tell_environment(env); });
    const std::string command = "repro " + shell_quote({argv + std::min(argc, 1), argv + argc});
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options, command); });
}
