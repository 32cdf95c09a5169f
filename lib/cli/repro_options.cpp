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

void ReproOptions::declare_output(Tool& tool) {
    tool.option(
        "-o,--output", output, "FILE",
        "The file to write, and where a repro is a folder, its name without .cpp. Default: repro.cpp; with --python, "
        "repro.py.");
}

void ReproOptions::declare(Tool& tool) {
    tool.choice(
        "--data", data, {"auto", "real", "random", "small", "ones", "zeros"},
        "Values of the inputs and parameters: recorded, random, small whole numbers, ones, zeros, or the smallest of "
        "these that still fails in the same way. Default: auto.");
    tool.option(
        "--bundle", bundle, "DIR",
        "Write a folder that shows the failure on another machine: repro.cpp, run.sh with the exact commands, the "
        "graph as JSON and ONNX with its inputs, a record for replay, the text of a bug report, and the environment: "
        "versions, and the variables by which programs and libraries are found, to be read before you send it.");
    tool.flag("--python", python,
              "Write the graph as a script of PyTorch calls instead, with what the reference computes: repro.py. "
              "Verified where python3 has PyTorch.");
    tool.option("--issue", issue, "FILE",
                "Also write the text of a bug report, in Markdown: what happens, the program, versions, in the form of "
                "the project's tracker; what only a person can check is printed. A bundle has one: ISSUE.md.");
    tool.option(
        "--title", title, "TEXT",
        "With --issue or --bundle: the report's title in your own words, as a list of issues shows it. Default: "
        "what fails, and how.");
    tool.option(
        "--note", notes, "TEXT",
        "With --issue or --bundle: a line of the report in your own words, above all others: what is wrong, and "
        "the sentence of the documentation that says so. May be given several times.");
    tool.option("--also", also, "BACKEND",
                "With --issue or --bundle: ask this backend, too, a newer release of the compiler for instance, and "
                "say in the report whether it fails. May be given several times.");
    tool.option("--checked", checked, "TEXT",
                "With --issue or --bundle: a line of the report beside the compiler's version, as you state it: what "
                "you tried or read of a release that is not at hand. May be given several times.");
    tool.flag("--harness", harness,
              "Write the whole graph with its data, plain loops and a verdict, also where a short program shows the "
              "failure.");
    tool.flag("--anonymize", anonymize,
              "Rename what the model's author named (values, parameters, modules, files) and put made-up values into "
              "the place of inputs and parameters wherever it still fails; says which values the failure needs.");
    tool.flag("--no-verify", no_verify, "Do not build and run the file.");
    tool.option("--runs", runs, "N", "Runs of the verification, which must all show the failure. Default: 3.");
    tool.option("--alarm", alarm, "S", "Seconds after which the compiler under suspicion counts as hung. Default: 60.");
}

void ReproOptions::add_to(UsedFiles& files) const {
    if (!bundle) files.writes("--output", file());  // of a bundle's it is the name only
    files.writes("--issue", issue);
}

fs::path ReproOptions::file() const { return python && output == "repro.cpp" ? "repro.py" : output; }

void refuse_with_python(const char* option, bool given) {
    if (given) throw Error("--python and " + std::string(option) + " cannot be used together");
}

void ReproOptions::check_usage() {
    const ReproOptions defaults;
    if (python) {  // which is run once, on what the graph has, and judged by no backend
        refuse_with_python("--issue", issue.has_value());
        refuse_with_python("--harness", harness);
        refuse_with_python("--anonymize", anonymize);
        refuse_with_python("--bundle", bundle.has_value());
        refuse_with_python("--title", title.has_value());
        refuse_with_python("--note", !notes.empty());
        refuse_with_python("--also", !also.empty());
        refuse_with_python("--checked", !checked.empty());
        refuse_with_python("--data", data != defaults.data);
        refuse_with_python("--runs", runs != defaults.runs);
        refuse_with_python("--alarm", alarm != defaults.alarm);
    }
    check_report();
    output = file();
    const std::string ending = python ? ".py" : ".cpp";
    require_range("--runs", static_cast<double>(runs), 1, 1000);
    require_range("--alarm", static_cast<double>(alarm), 1, 86400);
    const std::string name = output.filename().string();
    if (output.extension() != ending || name.starts_with('-'))
        throw invalid_value(
            output.string(), "--output",
            "the name must end in " + ending + (name.starts_with('-') ? " and not begin with '-'" : ""));
    if (bundle && fs::exists(*bundle) && (!fs::is_directory(*bundle) || !fs::is_empty(*bundle)) &&
        !fs::exists(*bundle / "run.sh"))
        throw invalid_value(bundle->string(), "--bundle", "expected a new folder, or an earlier bundle");
}

void require_lines(const char* option, const std::vector<std::string>& lines) {
    for (const std::string& line : lines)
        if (line.find_first_not_of(' ') == std::string::npos || line.find('\n') != std::string::npos)
            throw invalid_value(line, option, "expected one line of text");
}

void ReproOptions::check_report() const {
    const bool reports = issue || bundle;
    require_with(title.has_value(), "--title", reports, "--issue or --bundle");
    require_with(!notes.empty(), "--note", reports, "--issue or --bundle");
    require_with(!also.empty(), "--also", reports, "--issue or --bundle");
    require_with(!checked.empty(), "--checked", reports, "--issue or --bundle");
    for (const std::string& spec : also) find_backend(spec);
    if (title) require_lines("--title", {*title});
    require_lines("--note", notes);
    require_lines("--checked", checked);
}

repro::Options ReproOptions::options(const Tool& tool, const Failure& failure) const {
    std::map<std::string, std::string> known = environment();
    if (const std::string version = bundle && !no_verify ? command_version(failure.backend) : ""; !version.empty())
        known["command"] = version;
    if (bundle && !anonymize)
        for (const auto& [variable, value] : told_variables()) known[variable] = without_private(value);
    return {.output = bundle ? *bundle / output.filename() : output,
            .command = shell_quote(tool.command_line()),
            .verify = !no_verify,
            .runs = static_cast<int>(runs),
            .data = repro::data_called(data),
            .alarm = std::chrono::seconds(alarm),
            .environment = std::move(known),
            .bundle = bundle.has_value(),
            .issue = issue,
            .harness = harness,
            .also = {also.begin(), also.end()},
            .title = title.value_or(""),
            .notes = notes,
            .checked = checked,
            .anonymize = anonymize};
}

}  // namespace whittle::cli
