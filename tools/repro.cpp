// repro: one standalone C++ file that shows the failure of a minimized graph, verified by building and running it.
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/words.h"
#include "cli/accuracy_choice.h"
#include "cli/backend_choice.h"
#include "cli/environment.h"
#include "cli/issue_bundle.h"
#include "cli/model.h"
#include "cli/programs.h"
#include "cli/repro_options.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "debug/check.h"
#include "debug/write_repro.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;

struct Options {
    fs::path graph;
    cli::BackendChoice backend;
    cli::AccuracyChoice accuracy;
    cli::ReproOptions repro;
    cli::InputOptions inputs;
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional("GRAPH", options.graph, "What minify wrote; or a graph, model or record with --backend.");
    options.repro.declare_output(tool);
    options.backend.declare(tool, "the one recorded in GRAPH, and its options");
    options.accuracy.declare(tool, "With --backend: a wrong result is a failure to look for.");
    options.repro.declare(tool);
    options.inputs.declare(tool);
    tool.example("repro m.json", "m.json as written by minify: writes and verifies repro.cpp");
    tool.example("repro m.json --bundle bug && tar cz bug", "everything for a bug report");
    tool.example("repro --python m.json", "the same operations as PyTorch calls: repro.py");
    tool.example("repro env", "what to paste into an issue");
    tool.exit_one("it does not fail, or the file does not show the failure.");
}

/// The graph's recorded failure, or the one that --backend finds on it; nothing when it does not fail.
std::optional<Failure> failure_of(const Options& options, const cli::LoadedFrame& frame) {
    const bool recorded = frame.graph.failure && options.backend.name.empty();
    if (recorded && !options.inputs.given() && !options.accuracy.given()) return frame.graph.failure;
    if (options.backend.name.empty() && !recorded)
        throw Error({options.graph.string(), {}}, "the graph does not say how it fails, as those that minify writes do",
                    "name the backend that fails with --backend");
    Suspect suspect = recorded ? suspect_of(*frame.graph.failure)
                               : Suspect{.spec = options.backend.name, .options = options.backend.options()};
    if (options.accuracy.given()) suspect.accuracy = options.accuracy.accuracy();
    if (options.accuracy.mode) suspect.tier = Tier::computes;
    std::optional<Failure> failure = debug::failure_of(frame, suspect);
    if (failure && recorded) {
        failure->culprit = frame.graph.failure->culprit;
        failure->signature.rate = frame.graph.failure->signature.rate;
    }
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

int write_python(const cli::Tool& tool, const Options& options, const LoadedFrame& frame) {
    const debug::PythonRepro repro = debug::write_python(frame, options.repro.output, !options.repro.no_verify);
    if (tool.shared().json)
        cli::print_json(debug::to_json(repro));
    else
        std::cout << debug::to_text(repro);
    return options.repro.no_verify || repro.verified ? 0 : 1;
}

int run(const cli::Tool& tool, Options& options) {
    options.repro.check_usage();
    options.backend.check();
    if (options.repro.python) {
        cli::refuse_with_python("--backend", !options.backend.name.empty());
        cli::refuse_with_python("--accuracy", options.accuracy.given());
    }
    cli::require_with(!options.backend.options().empty(), "--backend-option", !options.backend.name.empty(),
                      "--backend");
    std::vector<cli::LoadedFrame> frames =
        cli::load_for(options.graph, {.inputs = options.inputs}, [&](const LoadedFrame& frame) {
            return !options.repro.python && options.backend.knows_more(frame, kReferenceBackend);
        });
    if (frames.size() != 1)
        throw Error({options.graph.string(), {}},
                    "it holds " + plural(frames.size(), "graph") + ", of which repro takes one",
                    "name one of its graphs or records");
    LoadedFrame& frame = frames[0];
    if (options.repro.python) return write_python(tool, options, frame);
    if (frame.record) options.backend.default_to(frame);
    std::string recorded;
    if (options.backend.name.empty() && frame.graph.failure)
        recorded = frame.graph.failure->backend = found_near(frame.graph.failure->backend, frame.file).text();
    frame.graph.failure = failure_of(options, frame);
    if (!frame.graph.failure) return not_failing(tool, options, recorded);
    const repro::Options wanted = options.repro.options(tool, *frame.graph.failure);
    const repro::Report report = debug::write_repro(frame.graph, options.graph, wanted);
    if (tool.shared().json)
        cli::print_json(debug::to_json(report));
    else
        std::cout << debug::to_text(report, *frame.graph.failure, wanted);
    return wanted.verify && !report.verified ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool(cli::program_named("repro"));
    declare(tool, options);
    tool.files([&] {
        cli::UsedFiles used;
        used.reads(options.graph, options.inputs);
        options.repro.add_to(used);
        return used;
    });
    cli::Tool env("repro env", "[-- COMMAND]", "Prints the environment: what to paste into an issue.");
    cli::IssueBundleOptions bundle;
    bundle.declare(env);
    tool.command(env, [&] {
        cli::require_with(!bundle.command.empty(), "a command", !bundle.folder.empty(), "--bundle");
        bundle.folder.empty() ? cli::print_environment(env) : cli::write_issue_bundle(env, bundle);
        return 0;
    });
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
