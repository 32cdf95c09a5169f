#include "cli/repro_options.h"

#include "backends/registry.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "cli/environment.h"
#include "cli/tool.h"
#include "cli/usage.h"

namespace whittle::cli {
namespace fs = std::filesystem;

void ReproOptions::declare_output(Tool& tool) {
    tool.option("-o,--output", repro.output, "FILE",
                "The file to write, and where a repro is a folder, its name without .cpp. Default: repro.cpp" +
                    std::string(report ? "." : "; with --python, repro.py."));
}

void ReproOptions::declare(Tool& tool) {
    if (report) declare_report(tool);
    tool.section("The program");
    tool.choice("--data", data, {"auto", "real", "random", "small", "ones", "zeros"},
                "Values of inputs and parameters: recorded (real), random, small whole numbers, ones, zeros, or the "
                "simplest that fails (auto).");
    if (!report)
        tool.flag("--python", python,
                  "Write a script of PyTorch calls instead, with the reference's results: repro.py.");
    tool.flag("--harness", repro.harness,
              "Write the whole graph with its data, plain loops and a verdict, not a short program.");
    tool.flag("--anonymize", repro.anonymize,
              "Rename values, parameters, modules and files, and make data up wherever it still fails.");
    tool.flag("--no-verify", no_verify, "Do not build and run the file.");
    tool.option("--repeat", repro.runs, "N", "Runs of the verification, which must all show the failure. Default: 3.");
    tool.option("--timeout", repro.alarm, "S", "Seconds after which the compiler counts as hung. Default: 60.");
}

void ReproOptions::declare_report(Tool& tool) {
    tool.section("The report");
    tool.option("--issue", repro.issue, "FILE",
                "File of the report, in the form of the project's tracker. Default: ISSUE.md.");
    tool.option("--bundle", bundle, "DIR",
                "Write a folder that shows the failure on another machine: repro.cpp, run.sh, the graph, a record, "
                "ISSUE.md and the environment. Read it before you send it.");
    tool.option("--title", repro.title, "TEXT", "Title of the report. Default: what fails, and how.");
    tool.option("--note", repro.notes, "TEXT",
                "First line of the report: the cause, or the documentation's words. May be repeated.");
    tool.option("--also", also, "BACKEND",
                "Ask this backend, too, such as a newer release, and report whether it fails. May be repeated.");
    tool.option("--checked", repro.checked, "TEXT",
                "A line beside the version: what you tried or read of another release. May be repeated.");
}

void ReproOptions::add_to(UsedFiles& files) const {
    if (!bundle) files.writes("--output", file());  // of a bundle's it is the name only
    files.writes("--issue", issue());
}

fs::path ReproOptions::file() const { return python && repro.output == "repro.cpp" ? "repro.py" : repro.output; }

std::optional<fs::path> ReproOptions::issue() const {
    return report && !bundle && !repro.issue ? std::optional<fs::path>("ISSUE.md") : repro.issue;
}

void refuse_with_python(const char* option, bool given) {
    if (given) throw Error("--python and " + std::string(option) + " cannot be used together");
}

static void require_lines(const char* option, const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        if (line.find_first_not_of(' ') == std::string::npos || line.find('\n') != std::string::npos)
            throw invalid_value(line, option, "expected one line of text");
}

void ReproOptions::complete() {
    const ReproOptions defaults;
    if (python) {  // which is run once, on what the graph has, and judged by no backend
        refuse_with_python("--harness", repro.harness);
        refuse_with_python("--anonymize", repro.anonymize);
        refuse_with_python("--data", data != defaults.data);
        refuse_with_python("--repeat", repro.runs != defaults.repro.runs);
        refuse_with_python("--timeout", repro.alarm != defaults.repro.alarm);
    }
    for (const std::string& spec : also) find_backend(spec);
    if (!repro.title.empty()) require_lines("--title", {repro.title});
    require_lines("--note", repro.notes);
    require_lines("--checked", repro.checked);
    require_range("--repeat", repro.runs, 1, 1000);
    require_range("--timeout", static_cast<double>(repro.alarm.count()), 1, 86400);
    repro.output = file();
    repro.issue = issue();
    repro.verify = !no_verify;
    repro.data = repro::data_called(data);
    repro.also.assign(also.begin(), also.end());
    const std::string ending = python ? ".py" : ".cpp", name = repro.output.filename().string();
    if (repro.output.extension() != ending || name.starts_with('-'))
        throw invalid_value(
            repro.output.string(), "--output",
            "the name must end in " + ending + (name.starts_with('-') ? " and not begin with '-'" : ""));
    if (bundle && fs::exists(*bundle) && (!fs::is_directory(*bundle) || !fs::is_empty(*bundle)) &&
        !fs::exists(*bundle / "run.sh"))
        throw invalid_value(bundle->string(), "--bundle", "expected a new folder, or an earlier bundle");
}

repro::Options ReproOptions::options(const Tool& tool, const Failure& failure) const {
    repro::Options wanted = repro;
    wanted.command = shell_quote(tool.command_line());
    wanted.environment = environment();
    wanted.bundle = bundle.has_value();
    if (!bundle) return wanted;
    wanted.output = *bundle / repro.output.filename();
    if (const std::string version = repro.verify ? command_version(failure.backend) : ""; !version.empty())
        wanted.environment["command"] = version;
    if (!repro.anonymize)
        for (const auto& [variable, value] : reported_variables()) wanted.environment[variable] = without_private(value);
    return wanted;
}

}  // namespace whittle::cli
