// explain: what was captured from a model, where capture or a backend stops, and why.
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "cli/diagnose.h"
#include "cli/diff.h"
#include "cli/lists.h"
#include "cli/picture_options.h"
#include "cli/programs.h"
#include "cli/report_options.h"
#include "cli/subject.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "frontends/clang/unit.h"
#include "frontends/cpp/command.h"

namespace {

using namespace whittle;

/// Of explain, and of explain static, which reads a source, too.
struct Options {
    std::optional<std::filesystem::path> model;
    cli::PictureOptions pictures;
    cli::ReportOptions report;
    cli::SourceOptions sources;
    cli::SubjectOptions subject;
    bool fullgraph = false;
};

void declare(cli::Tool& tool, Options& options, bool of_source) {
    if (of_source) options.sources.declare(tool);
    tool.positional("MODEL", options.model, cli::kModelHelp, !of_source);
    options.report.declare(tool);
    tool.flag("--fullgraph", options.fullgraph,
              "Exit with status 1 if there is a graph break, and report the first graph break.");
    tool.flag("--minify", options.subject.minify,
              "Run the model on the backend; for a program, run each graph on the recorded inputs. If the backend "
              "fails, write the minimized failure to MODEL.min.json and a verified repro to MODEL.min.cpp.");
    options.pictures.declare(tool);
    options.subject.backend.declare(
        tool,
        "halide. Without --backend, the report only lists the ops that halide does not support. With --backend, the "
        "backend is also run, and the report begins with the failures of the backend");
    options.subject.accuracy.declare(tool, "With --backend or --minify: how to compare results.");
    options.subject.inputs.declare(tool);
    options.subject.program.declare(tool);
    tool.common("--output --html --backend --accuracy --minify --fullgraph --ops --guards --recompiles --times");
    tool.exit_one(
        "the backend given by --backend, or run by --minify, fails; with --minify, no graph could be judged; with "
        "--fullgraph, there is a graph break, the program failed, or nothing was captured");
    tool.files([&options] {
        cli::UsedFiles used;
        used.reads(options.sources.file);
        options.report.add_to(used);
        options.pictures.add_to(used);
        options.subject.add_to(used, options.model);
        return used;
    });
}

void show_examples(cli::Tool& explain, cli::Tool& of_source) {
    explain.example("explain ./app -- --steps 3", "run a LibTorch program and report where its graphs break");
    explain.example("explain python3 train.py",
                    "run a Python program that uses PyTorch, and report where the graphs of the program break");
    explain.example("explain model.onnx --ops", "list the operations of a model, and those that halide cannot compile");
    explain.example("explain model.onnx --dot m.dot && dot -Tsvg m.dot > m.svg", "draw the graphs of a model");
    explain.example("explain ./app --html app.html", "write an interactive report for the browser");
    explain.example("explain model.onnx --times --timeline model.trace", "measure passes, kernels and memory");
    explain.example("explain model.onnx --backend ./mine.so --fullgraph",
                    "check that your own backend supports the whole model");
    explain.example("explain model.onnx --backend ./mine.so --minify",
                    "turn a failing compilation into a verified repro");
    explain.example("explain diff yesterday/ today/", "show what changed between two traces");
    explain.example("explain -- diff", "a MODEL whose file name is that of a command");
    of_source.example("explain static model.cpp -- -std=c++17 -Iinclude",
                      "predict where capture of a program has to stop");
}

int tell_predictions(const cli::Tool& tool, const Options& options, const cpp::Analysis& analysis,
                     const cli::ReportSink& sink) {
    if (tool.shared().json)
        cli::print_json(report::to_json(analysis));
    else
        sink.out() << report::to_text(analysis, options.report.text(tool, sink));
    const std::string first = options.fullgraph ? report::first_break_text(analysis) : "";
    if (!first.empty()) std::cerr << tool.called() << ": --fullgraph: " << first;
    return first.empty() ? 0 : 1;
}

int tell_report(const cli::Tool& tool, Options& options, const std::vector<cpp::Analysis>& analyses,
                const cli::ReportSink& sink) {
    const std::filesystem::path& model = *options.model;
    options.pictures.check_usage();
    if (!options.sources.file && !cli::is_run(cli::recognize(model))) options.subject.program.refuse_for_model(model);
    const TempDir scratch("whittle-explain");
    const cli::ProfileWish wish{.times = options.report.times || options.pictures.timeline,
                                .page = options.pictures.html.has_value()};
    options.subject.times = wish.times || wish.page;  // of a program that is run
    std::optional<Profile> measured = cli::measured(model, options.subject, wish);
    report::Subject subject = cli::subject_of(tool, model, options.subject, scratch.path() / "traced");
    report::predict(subject, analyses);
    cli::add_profile(options.subject, wish, std::move(measured), subject);
    const std::unique_ptr<Backend> backend = find_backend(options.subject.backend.spec(kDefaultSuspect));
    const report::Report report = report::report(subject, *backend);
    nlohmann::json json = tool.shared().json ? to_json(subject, report) : nlohmann::json();
    cli::PictureOptions::Compared compared = options.pictures.write(tool, subject, report, options.subject, json);
    if (!tool.shared().json) sink.out() << to_text(subject, report, options.report.text(tool, sink));
    const std::string broken = options.fullgraph ? report::fullgraph_text(subject, report) : "";
    if (!broken.empty()) std::cerr << tool.called() << ": --fullgraph: " << broken;
    const bool followed =
        cli::follow_up(tool, model, options.subject, subject, tool.shared().json ? std::cerr : sink.out(), json);
    options.pictures.write_again(tool, subject, report, std::move(compared), json);
    if (tool.shared().json) cli::print_json(json);
    return !subject.failing().empty() || !broken.empty() || !followed ? 1 : 0;
}

int explain_model(const cli::Tool& tool, Options& options, const cli::ReportSink& sink) {
    const std::vector<cpp::Analysis> analyses =
        options.sources.analyses(options.model, options.subject.program.functions, options.subject.program.arguments,
                                 [](const auto& file, const auto& flags) {
                                     return cpp::analyze({file, cpp::clang_flags(flags)});
                                 });
    if (!options.model) return tell_predictions(tool, options, analyses.at(0), sink);
    options.subject.check_usage();
    return tell_report(tool, options, analyses, sink);
}

int run(const cli::Tool& tool, Options& options) {
    options.subject.program.profile_recompiles = options.report.recompiles == "all";
    cli::ReportSink sink(tool, options.model, options.report.output);
    const int status = explain_model(tool, options, sink);
    sink.close();
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    Options options, of_source;
    cli::Tool tool(cli::program_named("explain"));
    declare(tool, options, false);

    cli::DiffOptions compared;
    cli::Tool diff("explain diff", "BEFORE AFTER",
                   "Show what changed between two traces, models or programs: graphs (node names are ignored), breaks, "
                   "guards, recompiles and recorded values. -v: show every difference.");
    compared.declare(diff);
    tool.command(diff, [&] { return cli::diff(diff, compared); });

    cli::CulpritOptions diverging, diagnosed;
    cli::Tool diagnose(
        "explain diagnose", "MODEL",
        "Find the cause of a failure: run the model on the backend and on one debug backend after another. The report "
        "names the first component that fails, the culprit (a pass or scheduling directive), how certain the culprit "
        "is, the last good and the first bad command, and a verified repro. -v: also print the report of minify.");
    diagnosed.declare(diagnose, true);
    diagnose.exit_one("the backend fails, or no graph could be judged");
    tool.command(diagnose, [&] { return cli::diagnose(diagnose, diagnosed); });
    cli::Tool divergence(
        "explain divergence", "MODEL",
        "Run the model on the backend with every intermediate value returned as an output. Report the first value that "
        "differs from the reference, the size of the difference, where NaN and infinities first appear, and which "
        "differences are rounding noise. -v: list all values.");
    diverging.declare(divergence, false);
    divergence.exit_one("a value differs");
    tool.command(divergence, [&] { return cli::diverge(divergence, diverging); });

    cli::Tool source("explain static", "FILE.cpp [MODEL]",
                     "Predict the graph breaks of a C++ program from its source. With MODEL, which is the program or a "
                     "trace of the program: also report which of the predicted breaks occurred.");
    declare(source, of_source, true);
    tool.command(source, [&] { return run(source, of_source); });

    std::string id, what;
    cli::Tool of_break("explain break", "ID", "Explain a kind of graph break and how to avoid it.");
    of_break.positional("ID", id, "Id such as WB0001, or 'all'.");
    of_break.offers(cli::break_ids);
    tool.command(of_break, [&] { return std::cout << cli::break_page(id), 0; });
    cli::Tool list("explain list", "WHAT",
                   "List the backends, the environment variables (variables), the log channels (logs), or the "
                   "deprecated spellings of options (spellings).");
    list.positional("WHAT", what, "One of " + join(cli::lists()) + ". All but backends print Markdown.");
    list.offers(cli::lists);
    tool.command(list, [&] { return cli::print_list(list, what), 0; });

    show_examples(tool, source);
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
