#include "cli/repro.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/environment.h"
#include "cli/run_options.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "judge/frames.h"
#include "repro/schedule/schedule_repro.h"
#include "repro/timing.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// What a bug report says, and where it goes.
void declare_report(Tool& tool, repro::Options& options) {
    tool.section("Report");
    tool.option("--issue", options.issue, "FILE",
                "File for the bug report, in the format of the compiler's issue tracker. Default: ISSUE.md.");
    tool.option(
        "--bundle", options.bundle, "DIR",
        "Write a folder that reproduces the failure on another machine: repro.cpp, run.sh, the graph, a record, "
        "ISSUE.md, the software versions and the hardware. Read these files before you send the folder.");
    tool.option("--title", options.title, "TEXT", "Title of the report. Default: a summary of the failure.");
    tool.option("--note", options.notes, "TEXT",
                "Line to put at the start of the report, for example the cause, or a quote from the documentation. May "
                "be repeated.");
    tool.option("--also", options.also, "BACKEND",
                "Also run the graph on BACKEND, for example a newer release of the compiler, and report whether "
                "BACKEND fails. May be repeated.");
    tool.option("--checked", options.checked, "TEXT",
                "Line that says whether another release of the compiler fails, for example 'fixed in 2.1'. In the "
                "report, this line follows the version of the compiler. May be repeated.");
    tool.common("--output --issue --bundle --title --note --also --checked --anonymize --backend");
    tool.example("repro report m.json", "write repro.cpp, and the text of a bug report to ISSUE.md");
    tool.example("repro report m.json --also ./newer.so", "check whether another release fails, too");
}

/// What is written, and how it is verified.
void declare_program(Tool& tool, repro::Options& options) {
    tool.section("Generated program");
    tool.choice("--data", options.data, {"auto", "real", "random", "small", "ones", "zeros"},
                "Values of inputs and parameters. real: the recorded values. random: random numbers. small: small "
                "whole numbers. ones: only the number 1. zeros: only the number 0. auto (default): the simplest values "
                "with which the program still fails.");
    tool.flag("--harness", options.harness,
              "Instead of a short program, write a long program. The long program contains the whole graph and the "
              "data, computes the expected results with loops, and prints a verdict.");
    tool.flag("--anonymize", options.anonymize,
              "Rename values, parameters, modules and files. Also replace the data by made-up values, except the data "
              "that the failure needs.");
    tool.option("--repeat", options.runs, "N",
                "Number of runs of the written program; the failure must occur in all runs. 0: only write the program, "
                "without building and running the program. Default: 3.");
    tool.option("--timeout", options.alarm, "S",
                "Time limit for the program that repro writes, in seconds. A program that runs longer counts as hung. "
                "Default: 60.");
    tool.option("--time-limit", options.time_limit, "TIME",
                "If GRAPH is a minimized Halide program: time limit for the reduction of its pipeline, such as 90s, "
                "10m or 2h. Default: 60s.");
}

bool is_python(const ReproOptions& options) { return !options.reports && options.repro.file().extension() == ".py"; }

void require_lines(const char* option, const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        if (line.find_first_not_of(' ') == std::string::npos || line.find('\n') != std::string::npos)
            throw invalid_value(line, option, "expected one line of text");
}

/// Throws Error for options of a C++ program where a script is asked for: PyTorch calls are run once, on what the graph
/// has, and judged by no backend.
void check_python(const ReproOptions& options) {
    const repro::Options& repro = options.repro;
    const repro::Options defaults;
    const std::pair<const char*, bool> given[] = {{"--harness", repro.harness},
                                                  {"--anonymize", repro.anonymize},
                                                  {"--data", repro.data != defaults.data},
                                                  {"--repeat", repro.runs > 0 && repro.runs != defaults.runs},
                                                  {"--timeout", repro.alarm != defaults.alarm},
                                                  {"--backend", !options.backend.name.empty()},
                                                  {"--backend-option", !options.backend.pairs.empty()},
                                                  {"--accuracy", options.accuracy.given()}};
    for (const auto& [option, is_given] : given)
        if (is_given)
            throw Error(std::string(option) + " cannot be used with the Python script " + repro.file().string());
}

/// Throws Error for options that exclude each other, for numbers out of range, for a name that no compiler would take
/// for the language, for a folder that is no bundle of ours, and for a backend that is not there.
void check_usage(const ReproOptions& options) {
    const repro::Options& repro = options.repro;
    if (is_python(options)) check_python(options);
    for (const std::string& spec : repro.also) find_backend(spec);
    if (repro.title) require_lines("--title", {*repro.title});
    require_lines("--note", repro.notes);
    require_lines("--checked", repro.checked);

    require_range("--repeat", static_cast<double>(repro.runs), 0, 1000);
    require_range("--timeout", static_cast<double>(repro.alarm), 1, 86400);
    const std::string name = repro.file().filename().string();
    const bool is_cpp = repro.file().extension() == ".cpp" && !options.old_python;
    if ((!is_cpp && !is_python(options)) || name.starts_with('-'))
        throw invalid_value(repro.output.string(), "--output",
                            std::string("the name must end in ") +
                                (options.reports      ? ".cpp"
                                 : options.old_python ? ".py"
                                                      : ".cpp or .py") +
                                (name.starts_with('-') ? " and not begin with '-'" : ""));
    const auto& bundle = repro.bundle;
    if (bundle && fs::exists(*bundle) && (!fs::is_directory(*bundle) || !fs::is_empty(*bundle)) &&
        !fs::exists(*bundle / "run.sh"))
        throw invalid_value(bundle->string(), "--bundle", "expected a new folder, or an earlier bundle");
    options.backend.check();
}

/// What nobody types: the command line, and the environment in which `backend` fails.
void add_circumstances(repro::Options& options, const Tool& tool, const std::string& backend) {
    // What the user typed names files.
    options.command =
        shell_quote(options.anonymize ? program_words(tool.name(), {"m.json", "--anonymize"}) : tool.command_line());
    options.environment = environment();
    if (!options.bundle) return;
    if (const std::string version = options.runs ? command_version(backend) : ""; !version.empty())
        options.environment["command"] = version;
    if (options.anonymize) return;
    for (const auto& [variable, value] : reported_variables()) options.environment[variable] = without_private(value);
}

/// Who is asked for the failure, and how: as the graph fails, as far as the options do not say otherwise.
Suspect suspect_of(const ReproOptions& options, const LoadedFrame& frame) {
    const bool recorded = frame.graph.failure.has_value();
    if (options.backend.name.empty() && !recorded)
        throw Error({options.repro.graph.string(), {}},
                    "found no failure in the graph, expected a graph that minify wrote",
                    "minimize the failing model first, with " + program_called("minify") +
                        "; or pass the failing backend with --backend");
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
std::optional<Failure> failure_of(const ReproOptions& options, const LoadedFrame& frame, const Suspect& suspect) {
    const bool recorded = frame.graph.failure && options.backend.name.empty();
    const bool changed = options.inputs.given() || options.accuracy.given() || !options.backend.pairs.empty();
    const bool by_command = recorded && frame.graph.failure->backend.empty();  // repro::write_repro() refuses it
    if (recorded && (!changed || by_command)) {
        const bool is_gone = !by_command && options.repro.runs > 0 && !repro::reproduces(frame, options.repro);
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
int print(const Tool& tool, bool good, const nlohmann::json& json, const std::string& text) {
    if (tool.shared().json)
        print_json(json);
    else
        std::cout << text;
    return good ? 0 : 1;
}

/// `recorded`: the failure of the graph, null where --backend was to find one.
int not_failing(const Tool& tool, const Suspect& suspect, const Failure* recorded) {
    const std::string message = recorded ? repro::gone_text(*recorded, suspect.tier == Tier::computes)
                                         : "right: " + passing_text(suspect.spec.text(), suspect.tier) + "\n";
    return print(tool, false, {{"verified", false}, {"runs", 0}, {"message", message.substr(0, message.find('\n'))}},
                 message);
}

int write_for(const Tool& tool, ReproOptions& options, LoadedFrame& frame) {
    repro::Options& repro = options.repro;
    if (is_python(options)) {
        if (frame.graph.dialect == "onnx")
            throw Error({frame.file.string(), {}},
                        "found a graph of ONNX ops, expected ops of PyTorch, because " + repro.file().string() +
                            " is a Python script with PyTorch calls",
                        "to write the program of the backend that fails, give -o a name without .py");
        const repro::PythonRepro written = write_python(frame, repro);
        return print(tool, repro.accepts(written.verified), to_json(written), to_text(written, repro));
    }
    if (frame.record) options.backend.default_to(frame);
    std::optional<Failure> recorded = options.backend.name.empty() ? frame.graph.failure : std::nullopt;
    if (recorded)
        recorded->backend = frame.graph.failure->backend = found_near(frame.graph.failure->backend, frame.file).text();
    const Suspect suspect = suspect_of(options, frame);
    continue_in_release(suspect.spec, suspect.options);
    frame.graph.failure = failure_of(options, frame, suspect);
    if (!frame.graph.failure) return not_failing(tool, suspect, recorded ? &*recorded : nullptr);
    add_circumstances(repro, tool, frame.graph.failure->backend);
    if (frame.graph.failure->slower) {
        const repro::TimingRepro times = repro::write_timing(frame.graph, repro);
        return print(tool, repro.accepts(times.verified), to_json(times), to_text(times, *frame.graph.failure, repro));
    }
    const repro::Repro written = repro::write_repro(frame.graph, repro);
    return print(tool, repro.accepts(written.verified), to_json(written, repro),
                 to_text(written, *frame.graph.failure, repro));
}

/// Throws Error for options that speak of graphs and backends.
void refuse_for_program(const ReproOptions& options) {
    const repro::Options& repro = options.repro;
    const std::pair<const char*, bool> given[] = {{"--harness", repro.harness},
                                                  {"--backend", !options.backend.name.empty()},
                                                  {"--backend-option", !options.backend.pairs.empty()},
                                                  {"--accuracy", options.accuracy.given()},
                                                  {"--input", options.inputs.given()},
                                                  {"--bundle", repro.bundle.has_value()},
                                                  {"--issue", repro.issue.has_value()},
                                                  {"--anonymize", repro.anonymize}};
    for (const auto& [option, is_given] : given)
        if (is_given)
            throw Error(
                {repro.graph.string(), {}},
                std::string("found a minimized Halide program, expected a graph: ") + option + " is for graphs only");
    if (is_python(options))
        throw invalid_value(repro.output.string(), "--output", "the name must end in .cpp for a Halide program");
}

int write_for_program(const Tool& tool, const ReproOptions& options, const repro::MinimizedProgram& program) {
    refuse_for_program(options);
    const repro::ScheduleRepro written = write_schedule_repro(program, options.repro);
    return print(tool, written.none.empty() && options.repro.accepts(written.repro.verified),
                 to_json(written, options.repro), to_text(written, program, options.repro));
}

}  // namespace

void ReproOptions::declare(Tool& tool) {
    tool.positional("GRAPH", repro.graph, "Graph that minify wrote. With --backend: any graph, model or record.");
    tool.option("-o,--output", repro.output, "FILE",
                std::string("File of the program. If the program is not in C++, it is written into a folder, whose "
                            "name is FILE without .cpp. ") +
                    (reports ? ""
                             : "If FILE ends in .py, the program is a Python script with PyTorch calls and the "
                               "expected results. For such a script, GRAPH must have ops of PyTorch. ") +
                    "Default: repro.cpp.");
    if (reports)
        declare_report(tool, repro);
    else
        tool.common("--output --backend --accuracy --data --harness --anonymize --repeat --input");
    tool.flag("--python", old_python, {});
    tool.flag("--no-verify", old_unverified, {});
    backend.declare(tool, "the backend and the backend options stored in GRAPH");
    accuracy.declare(tool, "With --backend: treat a wrong result as a failure.");
    declare_program(tool, repro);
    inputs.declare(tool);
    tool.files([this] {
        if (reports && !repro.bundle && !repro.issue) repro.issue = "ISSUE.md";
        if (old_python && repro.output.empty()) repro.output = "repro.py";
        if (old_unverified) repro.runs = 0;
        UsedFiles used;
        used.reads(repro.graph, inputs);
        if (!repro.bundle) used.writes("--output", repro.file());  // of a bundle's it is the name only
        used.writes("--issue", repro.issue);
        return used;
    });
    tool.exit_one("the graph does not fail, or the program does not reproduce the failure");
}

int write_repro(const Tool& tool, ReproOptions options) {
    check_usage(options);
    const fs::path& graph = options.repro.graph;
    if (const auto program = repro::load_minimized_program(graph)) return write_for_program(tool, options, *program);
    if (options.repro.time_limit && fs::exists(graph))
        throw Error({graph.string(), {}},
                    "found a graph, expected a minimized Halide program: --time-limit is for Halide programs only");
    std::vector<LoadedFrame> frames =
        load_for(graph, {.inputs = options.inputs, .exact = options.accuracy.exact()}, [&](const LoadedFrame& frame) {
            return !is_python(options) && options.backend.knows_more(frame, kReferenceBackend);
        });
    if (frames.size() != 1)
        throw Error({graph.string(), {}}, "found " + plural(frames.size(), "graph") + ", expected one graph",
                    "pass one of the graphs or records in this folder");
    return write_for(tool, options, frames[0]);
}

}  // namespace whittle::cli
