#include "cli/report_options.h"

#include <unistd.h>

#include <fstream>
#include <iostream>

#include "base/error.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "cli/model.h"
#include "cli/terminal.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "frontends/cpp/description.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// What `trace cc` put into the program, or trace into its folder.
std::vector<cpp::StaticTables> described_files(const fs::path& model) {
    if (recognize(model) == ModelKind::program) return cpp::read_program(model);
    return recognize(model) == ModelKind::trace ? cpp::load_descriptions(model) : std::vector<cpp::StaticTables>();
}

}  // namespace

void ReportOptions::declare_output(Tool& tool) {
    tool.option("-o,--output", output, "FILE",
                "Write the report to FILE. Default: stdout, or stderr if MODEL is a program.");
}

void ReportOptions::declare(Tool& tool, bool compares) {
    declare_output(tool);
    tool.section("Report");
    tool.flag("--ops", text.ops,
              "Add a table of all operations: the number of calls and the result types of each operation.");
    const std::string times =
        "Add the compile and run times of passes, kernels and LibTorch operations, and the memory used.";
    if (compares) return tool.flag("--times", text.times, times);
    tool.flag_or_option(
        "--times", text.times, timeline, "FILE",
        times + " With FILE: also write the times to FILE, which Perfetto or chrome://tracing can show.");
    tool.flag("--guards", text.guards,
              "Add the guards of each captured graph: the conditions under which a later call can use the graph.");
    tool.flag_or_choice("--recompiles", recompiles, {"seen", "all"},
                        "Add every recompile: the guard that failed, how often the guard failed, and how to avoid the "
                        "recompile. all: also raise the cache limits; a function that has reached its cache limit is "
                        "not recompiled, so its recompiles are not reported.");
}

void ReportOptions::add_to(UsedFiles& files) const {
    files.writes("--output", output);
    files.writes("--times", timeline);
}

report::TextOptions ReportOptions::shown(const Tool& tool, const ReportSink& sink) const {
    report::TextOptions shown = text;
    shown.recompiles = recompiles.has_value();
    shown.verbose = tool.shared().verbose;
    shown.color = sink.color();
    shown.columns = sink.columns();
    return shown;
}

ReportSink::ReportSink(const Tool& tool, const std::optional<fs::path>& model, const std::optional<fs::path>& output) {
    if (output) {
        if (tool.shared().json) throw Error("--output cannot be used with --json, which prints to stdout");
        path_ = *output;
        out_ = &text_;
    } else if (model && recognize(*model) == ModelKind::program) {
        out_ = &std::cerr;
        color_ = tool.shared().color_err;
        columns_ = terminal_columns(STDERR_FILENO);
    } else {
        color_ = tool.shared().color_out;
        columns_ = terminal_columns(STDOUT_FILENO);
    }
}

void ReportSink::close() {
    if (out_ != &text_) return;
    std::ofstream file(path_);  // a device, maybe: it is not replaced
    file << text_.str();
    if (!file.flush()) throw Error({path_.string(), {}}, "the file cannot be written");
}

void SourceOptions::declare(Tool& tool) {
    tool.positional("FILE.cpp", file, "Source file of a C++ program.");
    tool.option("--static-flags", flags, "FLAGS",
                "Compiler flags for FILE.cpp, as one argument, for example '-std=c++20 -Iinclude'. If MODEL is not a "
                "program, the flags can also be given after --.");
}

std::vector<cpp::Analysis> SourceOptions::analyses(const std::optional<fs::path>& model,
                                                   const std::vector<std::string>& functions,
                                                   const std::vector<std::string>& rest, const Analyze& analyze) const {
    std::vector<cpp::Analysis> found;
    if (!file) {
        if (!model) return found;
        for (const cpp::StaticTables& tables : described_files(*model)) {
            found.push_back(tables.analysis);
            cpp::keep_functions(found.back(), functions);
        }
        return found;
    }
    std::vector<std::string> words = shell_split(flags);
    if (!model || recognize(*model) != ModelKind::program) words.insert(words.end(), rest.begin(), rest.end());
    found.push_back(analyze(file->string(), words));
    const std::vector<std::string> unknown = cpp::keep_functions(found[0], functions);
    if (unknown.empty()) return found;
    std::vector<std::string> names;
    for (const cpp::Function& function : found[0].functions) names.push_back(function.name);
    throw invalid_value(unknown[0], "--function", "found no function of this name in " + file->string(),
                        did_you_mean(unknown[0], names));
}

}  // namespace whittle::cli
