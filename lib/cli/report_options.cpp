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

void ReportOptions::declare(Tool& tool) {
    tool.flag("--ops", ops, "Add a table of all operations: how often each is called, and with what results.");
    tool.flag("--guards", guards, "Add the guards of each captured graph: when it may be used again.");
    tool.flag(
        "--times", times,
        "Add what compiling and running take: passes, graphs and kernels (flops, bytes, share of the roofline) on "
        "the backend, memory over time, operations of a LibTorch program.");
    tool.flag("--recompiles", recompiles, "Add every recompile: its guard, how often, and what would stop it.");
    tool.flag("--profile-recompiles", profile_recompiles,
              "The same of a program that may have 64 specializations of each function, whatever its cache limits are: "
              "every guard that fails is told.");
}

void ReportOptions::refuse(const std::string& others) const {
    if (ops || guards || times || recompiles || profile_recompiles)
        throw Error("--ops, --guards, --times, --recompiles and --profile-recompiles are for the report, which " +
                    others + " do not make");
}

report::TextOptions ReportOptions::text(const Tool& tool, const ReportSink& sink) const {
    return {.ops = ops,
            .guards = guards,
            .times = times,
            .recompiles = recompiles || profile_recompiles,
            .verbose = tool.shared().verbose,
            .color = sink.color(),
            .columns = sink.columns()};
}

ReportSink::ReportSink(const Tool& tool, const std::optional<fs::path>& model, const std::optional<fs::path>& output) {
    if (output) {
        if (tool.shared().json) throw Error("--output cannot be used with --json, which is for stdout");
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
    if (!file.flush()) throw Error({path_.string(), {}}, "cannot write to it");
}

void SourceOptions::declare(Tool& tool) {
    tool.option(
        "--static", file, "FILE.cpp",
        "Predict the breaks of a C++ program from its source; with a program or a folder written by trace, also say "
        "which of them were seen.");
    tool.option(
        "--static-flags", flags, "FLAGS",
        "The flags that FILE.cpp is compiled with, as one word. Without a program as MODEL they may also follow --.");
}

std::vector<cpp::Analysis> SourceOptions::analyses(
    const std::optional<fs::path>& model, const std::vector<std::string>& functions,
    const std::vector<std::string>& rest,
    const std::function<cpp::Analysis(const std::string&, const std::vector<std::string>&)>& analyze) const {
    std::vector<cpp::Analysis> found;
    if (!file) {
        require_with(flags.has_value(), "--static-flags", false, "--static");
        if (!model) return found;
        for (const cpp::StaticTables& tables : described_files(*model)) {
            found.push_back(tables.analysis);
            cpp::keep_functions(found.back(), functions);
        }
        return found;
    }
    std::vector<std::string> words = shell_split(flags.value_or(""));
    if (!model || recognize(*model) != ModelKind::program) words.insert(words.end(), rest.begin(), rest.end());
    found.push_back(analyze(file->string(), words));
    const std::vector<std::string> unknown = cpp::keep_functions(found[0], functions);
    if (unknown.empty()) return found;
    std::vector<std::string> names;
    for (const cpp::Function& function : found[0].functions) names.push_back(function.name);
    throw invalid_value(unknown[0], "--function", "it is no function of " + file->string(),
                        did_you_mean(unknown[0], names));
}

}  // namespace whittle::cli
