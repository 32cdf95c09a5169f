#include "cli/repro_options.h"

#include "backends/registry.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "cli/environment.h"
#include "cli/told_variables.h"
#include "cli/tool.h"
#include "cli/usage.h"

namespace whittle::cli {
namespace fs = std::filesystem;

void declare_output(Tool& tool, repro::Options& options) {
    tool.option(
        "-o,--output", options.output, "FILE",
        "The file to write, and where a repro is a folder, its name without .cpp. Default: repro.cpp; with --python, "
        "repro.py.");
}

void declare_repro(Tool& tool, repro::Options& options) {
    tool.choice(
        "--data", options.data, {"auto", "real", "random", "small", "ones", "zeros"},
        "Values of the inputs and parameters: recorded, random, small whole numbers, ones, zeros, or the smallest of "
        "these that still fails in the same way. Default: auto.");
    tool.option(
        "--bundle", options.bundle, "DIR",
        "Write a folder that shows the failure on another machine: repro.cpp, run.sh with the exact commands, the "
        "graph as JSON and ONNX with its inputs, a record for replay, the text of a bug report, and the environment: "
        "versions, and the variables by which programs and libraries are found, to be read before you send it.");
    tool.flag("--python", options.python,
              "Write the graph as a script of PyTorch calls instead, with what the reference computes: repro.py. "
              "Verified where python3 has PyTorch.");
}

void declare_report(Tool& tool, repro::Options& options) {
    tool.option("--issue", options.issue, "FILE",
                "Also write the text of a bug report, in Markdown: what happens, the program, versions, in the form of "
                "the project's tracker; what only a person can check is printed. A bundle has one: ISSUE.md.");
    tool.option(
        "--title", options.title, "TEXT",
        "With --issue or --bundle: the report's title in your own words, as a list of issues shows it. Default: "
        "what fails, and how.");
    tool.option(
        "--note", options.notes, "TEXT",
        "With --issue or --bundle: a line of the report in your own words, above all others: what is wrong, and "
        "the sentence of the documentation that says so. May be given several times.");
    tool.option("--also", options.also, "BACKEND",
                "With --issue or --bundle: ask this backend, too, a newer release of the compiler for instance, and "
                "say in the report whether it fails. May be given several times.");
    tool.option("--checked", options.checked, "TEXT",
                "With --issue or --bundle: a line of the report beside the compiler's version, as you state it: what "
                "you tried or read of a release that is not at hand. May be given several times.");
}

void declare_verification(Tool& tool, repro::Options& options) {
    tool.flag("--harness", options.harness,
              "Write the whole graph with its data, plain loops and a verdict, also where a short program shows the "
              "failure.");
    tool.flag("--anonymize", options.anonymize,
              "Rename what the model's author named (values, parameters, modules, files) and put made-up values into "
              "the place of inputs and parameters wherever it still fails; says which values the failure needs.");
    tool.flag("--no-verify", options.no_verify, "Do not build and run the file.");
    tool.option("--runs", options.runs, "N", "Runs of the verification, which must all show the failure. Default: 3.");
    tool.option("--alarm", options.alarm, "S",
                "Seconds after which the compiler under suspicion counts as hung. Default: 60.");
}

void add_to(UsedFiles& files, const repro::Options& options) {
    if (!options.bundle) files.writes("--output", options.file());  // of a bundle's it is the name only
    files.writes("--issue", options.issue);
}

namespace {

void require_lines(const char* option, const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        if (line.find_first_not_of(' ') == std::string::npos || line.find('\n') != std::string::npos)
            throw invalid_value(line, option, "expected one line of text");
}

}  // namespace

void check_usage(const repro::Options& options, std::span<const GivenOption> others) {
    const repro::Options defaults;
    const GivenOption of_reports[] = {{"--title", options.title.has_value()},
                                      {"--note", !options.notes.empty()},
                                      {"--also", !options.also.empty()},
                                      {"--checked", !options.checked.empty()}};
    // PyTorch calls are run once, on what the graph has, and judged by no backend.
    std::vector<GivenOption> of_repros = {{"--issue", options.issue.has_value()},
                                          {"--harness", options.harness},
                                          {"--anonymize", options.anonymize},
                                          {"--bundle", options.bundle.has_value()}};
    of_repros.insert(of_repros.end(), std::begin(of_reports), std::end(of_reports));
    of_repros.insert(of_repros.end(), {{"--data", options.data != defaults.data},
                                       {"--runs", options.runs != defaults.runs},
                                       {"--alarm", options.alarm != defaults.alarm}});
    of_repros.insert(of_repros.end(), others.begin(), others.end());
    for (const auto& [option, given] : of_repros)
        if (options.python && given) throw Error("--python and " + std::string(option) + " cannot be used together");

    for (const auto& [option, given] : of_reports)
        require_with(given, option, options.issue || options.bundle, "--issue or --bundle");
    for (const std::string& spec : options.also) find_backend(spec);
    if (options.title) require_lines("--title", {*options.title});
    require_lines("--note", options.notes);
    require_lines("--checked", options.checked);

    require_range("--runs", static_cast<double>(options.runs), 1, 1000);
    require_range("--alarm", static_cast<double>(options.alarm), 1, 86400);
    const std::string ending = options.python ? ".py" : ".cpp", name = options.file().filename().string();
    if (options.file().extension() != ending || name.starts_with('-'))
        throw invalid_value(
            options.output.string(), "--output",
            "the name must end in " + ending + (name.starts_with('-') ? " and not begin with '-'" : ""));
    const auto& bundle = options.bundle;
    if (bundle && fs::exists(*bundle) && (!fs::is_directory(*bundle) || !fs::is_empty(*bundle)) &&
        !fs::exists(*bundle / "run.sh"))
        throw invalid_value(bundle->string(), "--bundle", "expected a new folder, or an earlier bundle");
}

void add_circumstances(repro::Options& options, const Tool& tool, const std::string& backend) {
    // What the user typed names files.
    options.command = options.anonymize ? "repro m.json --anonymize" : shell_quote(tool.command_line());
    options.environment = environment();
    if (!options.bundle) return;
    if (const std::string version = options.no_verify ? "" : command_version(backend); !version.empty())
        options.environment["command"] = version;
    if (options.anonymize) return;
    for (const auto& [variable, value] : told_variables()) options.environment[variable] = without_private(value);
}

}  // namespace whittle::cli
