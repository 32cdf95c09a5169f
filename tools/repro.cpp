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
#include "judge/frames.h"
#include "repro/repro.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;

struct Options {
    repro::Options repro;
    cli::BackendChoice backend;
    cli::AccuracyChoice accuracy;
    cli::InputOptions inputs;
};

/// `reports`: of repro report, which writes the text of a bug report, too.
void declare(cli::Tool& tool, Options& options, bool reports) {
    tool.positional("GRAPH", options.repro.graph,
                    "Graph written by minify, or, with --backend, any graph, model or record.");
    cli::declare_output(tool, options.repro);
    reports ? cli::declare_report(tool, options.repro) : cli::declare_python(tool, options.repro);
    options.backend.declare(tool, "the backend and backend options recorded in GRAPH");
    options.accuracy.declare(tool, "With --backend: treat a wrong result as a failure.");
    cli::declare_repro(tool, options.repro);
    options.inputs.declare(tool);
    tool.files([&options, reports] {
        if (reports && !options.repro.bundle && !options.repro.issue) options.repro.issue = "ISSUE.md";
        cli::UsedFiles used;
        used.reads(options.repro.graph, options.inputs);
        cli::add_to(used, options.repro);
        return used;
    });
    tool.exit_one("the graph does not fail, or the program does not reproduce the failure");
}

void show_examples(cli::Tool& repro, cli::Tool& report) {
    repro.common("--output --backend --accuracy --data --python --harness --anonymize --no-verify --repeat --input");
    repro.example("repro m.json", "write and verify repro.cpp for m.json, which minify wrote");
    repro.example("repro report m.json --bundle bug && tar cz bug", "pack everything for a bug report");
    repro.example("repro --python m.json", "write the same operations as PyTorch calls: repro.py");
    repro.example("repro env", "print what to paste into an issue");
    report.common("--output --issue --bundle --title --note --also --checked --anonymize --backend");
    report.example("repro report m.json", "write repro.cpp, and the text of a bug report to ISSUE.md");
    report.example("repro report m.json --also ./newer.so", "check whether another release fails, too");
}

/// Who is asked for the failure, and how: as the graph fails, as far as the options do not say otherwise.
Suspect suspect_of(const Options& options, const cli::LoadedFrame& frame) {
    const bool recorded = frame.graph.failure.has_value();
    if (options.backend.name.empty() && !recorded)
        throw Error({options.repro.graph.string(), {}},
                    "found no failure in the graph, expected a graph that minify wrote",
                    "pass the failing backend with --backend");
    Suspect suspect = recorded ? whittle::suspect_of(*frame.graph.failure) : Suspect{};
    if (!options.backend.name.empty()) suspect.spec = options.backend.name, suspect.options.clear();
    for (const auto& [key, value] : options.backend.options()) suspect.options[key] = value;
    if (options.accuracy.given()) suspect.accuracy = options.accuracy.accuracy();
    if (options.accuracy.mode) suspect.tier = Tier::computes;
    suspect.accuracy = accuracy_for(frame, suspect);
    return suspect;
}

/// The graph's recorded failure, as long as it reproduces, or the one that the options find on it; nothing when it does
/// not fail.
std::optional<Failure> failure_of(const Options& options, const cli::LoadedFrame& frame, const Suspect& suspect) {
    const bool recorded = frame.graph.failure && options.backend.name.empty();
    const bool changed = options.inputs.given() || options.accuracy.given() || !options.backend.pairs.empty();
    const bool by_command = recorded && frame.graph.failure->backend.empty();  // write_repro() refuses it
    if (recorded && (!changed || by_command)) {
        const bool is_gone = !by_command && !options.repro.no_verify && !repro::reproduces(frame, options.repro);
        return is_gone ? std::nullopt : frame.graph.failure;
    }
    std::optional<Failure> failure = repro::failure_of(frame, suspect);
    if (failure && recorded) {
        // Under other options the compiler makes other decisions.
        if (options.backend.pairs.empty()) failure->culprit = frame.graph.failure->culprit;
        failure->signature.rate = frame.graph.failure->signature.rate;
    }
    return failure;
}

/// Prints the result in the form that was asked for. Returns the exit status.
int print(const cli::Tool& tool, bool good, const nlohmann::json& json, const std::string& text) {
    if (tool.shared().json)
        cli::print_json(json);
    else
        std::cout << text;
    return good ? 0 : 1;
}

/// `recorded`: the failure of the graph, null where --backend was to find one.
int not_failing(const cli::Tool& tool, const Suspect& suspect, const Failure* recorded) {
    const std::string message = recorded ? repro::gone_text(*recorded, suspect.tier == Tier::computes)
                                         : not_failing_text(suspect.spec.text(), suspect.tier) + "\n";
    return print(tool, false, {{"verified", false}, {"runs", 0}, {"message", message.substr(0, message.find('\n'))}},
                 message);
}

int run(const cli::Tool& tool, Options& options) {
    repro::Options& repro = options.repro;
    const cli::GivenOption judged[] = {{"--backend", !options.backend.name.empty()},
                                       {"--backend-option", !options.backend.pairs.empty()},
                                       {"--accuracy", options.accuracy.given()}};
    cli::check_usage(repro, judged);
    options.backend.check();
    std::vector<cli::LoadedFrame> frames =
        cli::load_for(repro.graph, {.inputs = options.inputs}, [&](const LoadedFrame& frame) {
            return !repro.python && options.backend.knows_more(frame, kReferenceBackend);
        });
    if (frames.size() != 1)
        throw Error({repro.graph.string(), {}}, "found " + plural(frames.size(), "graph") + ", expected one",
                    "give one of its graphs or records");
    LoadedFrame& frame = frames[0];
    if (repro.python) {
        const repro::PythonRepro written = write_python(frame, repro);
        return print(tool, repro.accepts(written.verified), to_json(written), to_text(written, repro));
    }
    if (frame.record) options.backend.default_to(frame);
    std::optional<Failure> recorded = options.backend.name.empty() ? frame.graph.failure : std::nullopt;
    if (recorded)
        recorded->backend = frame.graph.failure->backend = found_near(frame.graph.failure->backend, frame.file).text();
    const Suspect suspect = suspect_of(options, frame);
    frame.graph.failure = failure_of(options, frame, suspect);
    if (!frame.graph.failure) return not_failing(tool, suspect, recorded ? &*recorded : nullptr);
    cli::add_circumstances(repro, tool, frame.graph.failure->backend);
    const repro::Repro written = write_repro(frame.graph, repro);
    return print(tool, repro.accepts(written.verified), to_json(written, repro),
                 to_text(written, *frame.graph.failure, repro));
}

}  // namespace

int main(int argc, char** argv) {
    Options options, reported;
    cli::Tool tool(cli::program_named("repro"));
    declare(tool, options, false);
    cli::Tool report("repro report", "GRAPH",
                     "Write the program and the text of a bug report, or with --bundle a folder that reproduces the "
                     "failure elsewhere.");
    declare(report, reported, true);
    show_examples(tool, report);
    tool.command(report, [&] { return run(report, reported); });
    cli::Tool env("repro env", "[-- COMMAND]", "Print the environment, to paste into an issue.");
    cli::IssueBundleOptions bundle;
    bundle.declare(env);
    tool.command(env, [&] {
        cli::require_with(!bundle.command.empty(), "a command", !bundle.folder.empty(), "--bundle");
        bundle.folder.empty() ? cli::print_environment(env) : cli::write_issue_bundle(env, bundle);
        return 0;
    });
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
