// repro: one standalone C++ file that shows the failure of a minimized graph, verified by building and running it.
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/accuracy_choice.h"
#include "cli/backend_choice.h"
#include "cli/environment.h"
#include "cli/model.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "debug/check.h"
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
        throw Error({options.graph.string(), {}}, "the graph does not say how it fails, as those that minify writes do",
                    "name the backend that fails with --backend");
    Suspect suspect = recorded ? suspect_of(*frame.graph.failure)
                               : Suspect{.spec = options.backend.name, .options = options.backend.options()};
    if (options.accuracy.given()) suspect.accuracy = options.accuracy.accuracy();
    if (options.accuracy.mode) suspect.tier = Tier::computes;
    std::optional<Failure> failure = debug::failure_of(frame, suspect);
    if (failure && recorded) failure->culprit = frame.graph.failure->culprit;
    return failure;
}

int not_failing(const cli::Tool& tool, const Options& options, const std::string& recorded) {
    const std::string message = debug::not_failing_text(options.backend.name.empty() ? recorded : options.backend.name,
                                                        options.accuracy.mode ? Tier::computes : Tier::ends);
    if (tool.shared().json)
        cli::print_json({{"verified", false}, {"runs", 0}, {"message", message}});
    else
        std::cout << message << "\n";
    return 1;
}

void check_usage(const Options& options) {
    cli::require_range("--runs", static_cast<double>(options.runs), 1, 1000);
    cli::require_range("--alarm", static_cast<double>(options.alarm), 1, 86400);
    // Of a bundle's it is the name only.
    cli::check_output("--output", options.bundle ? options.output.filename() : options.output,
                      cli::files_read(options.graph, options.inputs));
    const std::string name = options.output.filename().string();
    if (options.output.extension() != ".cpp" || name.starts_with('-'))
        throw cli::invalid_value(
            options.output.string(), "--output",
            std::string("the name must end in .cpp") + (name.starts_with('-') ? " and not begin with '-'" : ""));
    if (options.bundle && fs::exists(*options.bundle) &&
        (!fs::is_directory(*options.bundle) || !fs::is_empty(*options.bundle)) &&
        !fs::exists(*options.bundle / "run.sh"))
        throw cli::invalid_value(options.bundle->string(), "--bundle", "expected a new folder, or an earlier bundle");
    cli::require_with(!options.backend.pairs.empty(), "--backend-option", !options.backend.name.empty(), "--backend");
}

repro::Options repro_options(const cli::Tool& tool, const Options& options) {
    return {.output = options.bundle ? *options.bundle / options.output.filename() : options.output,
            .command = shell_quote(tool.command_line()),
            .verify = !options.no_verify,
            .runs = static_cast<int>(options.runs),
            .data = repro::data_called(options.data),
            .alarm = std::chrono::seconds(options.alarm),
            .environment = cli::environment(),
            .bundle = options.bundle.has_value()};
}

int run(const cli::Tool& tool, Options& options) {
    check_usage(options);
    std::vector<cli::LoadedFrame> frames = cli::load_model(options.graph, {.inputs = options.inputs});
    if (frames.size() != 1)
        throw Error({options.graph.string(), {}},
                    "it holds " + plural(frames.size(), "graph") + ", of which repro takes one",
                    "name one of its graphs or records");
    LoadedFrame& frame = frames[0];
    if (frame.record) options.backend.default_to(frame);
    std::string recorded;
    if (options.backend.name.empty() && frame.graph.failure)
        recorded = frame.graph.failure->backend = found_near(frame.graph.failure->backend, frame.file).text();
    frame.graph.failure = failure_of(options, frame);
    if (!frame.graph.failure) return not_failing(tool, options, recorded);
    const repro::Options wanted = repro_options(tool, options);
    const repro::Report report = debug::write_repro(frame.graph, options.graph, wanted);
    if (tool.shared().json)
        cli::print_json(debug::to_json(report));
    else
        std::cout << debug::to_text(report, *frame.graph.failure, wanted);
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
    tool.command(env, [&] { return cli::print_environment(env), 0; });
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
