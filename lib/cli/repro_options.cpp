#include "cli/repro_options.h"

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "cli/environment.h"
#include "cli/tool.h"
#include "cli/usage.h"

namespace whittle::cli {
namespace fs = std::filesystem;

void declare_output(Tool& tool, repro::Options& options) {
    tool.option("-o,--output", options.output, "FILE",
                "File to write. If the repro is a folder, the name of the folder is FILE without .cpp. Default: "
                "repro.cpp, or repro.py with --python.");
}

void declare_python(Tool& tool, repro::Options& options) {
    tool.flag("--python", options.python,
              "Instead of a C++ program, write a Python script of PyTorch calls, with the results of the reference.");
}

void declare_repro(Tool& tool, repro::Options& options) {
    tool.section("Generated program");
    tool.choice("--data", options.data, {"auto", "real", "random", "small", "ones", "zeros"},
                "Values of inputs and parameters: recorded (real), random, small whole numbers (small), ones, zeros, "
                "or the simplest of these with which the program still fails (auto, the default).");
    tool.flag("--harness", options.harness,
              "Instead of a short program, write a program with the whole graph, the data of the graph, loops that "
              "compute the reference, and a verdict.");
    tool.flag("--anonymize", options.anonymize,
              "Rename values, parameters, modules and files, and replace data by made-up values unless the failure "
              "needs the data.");
    tool.flag("--no-verify", options.no_verify, "Only write the program; do not build and run it.");
    tool.option("--repeat", options.runs, "N",
                "Number of verification runs, which must all show the failure. Default: 3.");
    tool.option("--timeout", options.alarm, "S", "Seconds after which the compiler counts as hung. Default: 60.");
}

void declare_report(Tool& tool, repro::Options& options) {
    tool.section("Report");
    tool.option("--issue", options.issue, "FILE",
                "File of the bug report, in the format of the compiler's issue tracker. Default: ISSUE.md.");
    tool.option("--bundle", options.bundle, "DIR",
                "Write a folder that reproduces the failure on another machine: repro.cpp, run.sh, the graph, a "
                "record, ISSUE.md and the environment. Review the folder before you send it.");
    tool.option("--title", options.title, "TEXT", "Title of the report. Default: a summary of the failure.");
    tool.option("--note", options.notes, "TEXT",
                "Line to put at the start of the report, for example the cause or a quote from the documentation. May "
                "be repeated.");
    tool.option("--also", options.also, "BACKEND",
                "Also test BACKEND, for example a newer release, and report whether BACKEND fails. May be repeated.");
    tool.option("--checked", options.checked, "TEXT",
                "Line to put next to the version in the report: what you know about other releases. May be repeated.");
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
    // PyTorch calls are run once, on what the graph has, and judged by no backend.
    std::vector<GivenOption> of_repros = {{"--harness", options.harness},
                                          {"--anonymize", options.anonymize},
                                          {"--data", options.data != defaults.data},
                                          {"--repeat", options.runs != defaults.runs},
                                          {"--timeout", options.alarm != defaults.alarm}};
    of_repros.insert(of_repros.end(), others.begin(), others.end());
    for (const auto& [option, given] : of_repros)
        if (options.python && given) throw Error("--python and " + std::string(option) + " cannot be used together");

    for (const std::string& spec : options.also) find_backend(spec);
    if (options.title) require_lines("--title", {*options.title});
    require_lines("--note", options.notes);
    require_lines("--checked", options.checked);

    require_range("--repeat", static_cast<double>(options.runs), 1, 1000);
    require_range("--timeout", static_cast<double>(options.alarm), 1, 86400);
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
    options.command =
        shell_quote(options.anonymize ? program_words(tool.name(), {"m.json", "--anonymize"}) : tool.command_line());
    options.environment = environment();
    if (!options.bundle) return;
    if (const std::string version = options.no_verify ? "" : command_version(backend); !version.empty())
        options.environment["command"] = version;
    if (options.anonymize) return;
    for (const auto& [variable, value] : reported_variables()) options.environment[variable] = without_private(value);
}

}  // namespace whittle::cli
