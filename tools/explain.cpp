// explain: what was captured from a model, where capture or a backend stops, and why.
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/lists.h"
#include "cli/picture_options.h"
#include "cli/profile.h"
#include "cli/programs.h"
#include "cli/questions.h"
#include "cli/report_options.h"
#include "cli/subject.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "frontends/clang/unit.h"
#include "frontends/cpp/command.h"

namespace {

using namespace whittle;

struct Options {
    std::optional<std::filesystem::path> model, output;
    cli::PictureOptions pictures;
    cli::QuestionOptions questions;
    cli::ReportOptions report;
    cli::SourceOptions sources;
    cli::SubjectOptions subject;
    cli::ListOptions lists;
    bool fullgraph = false;
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional("MODEL", options.model, cli::kModelHelp, false);
    options.report.declare(tool);
    options.subject.backend.declare(tool, "halide; one that is named is also run, and what it fails on is told first");
    tool.flag("--fullgraph", options.fullgraph, "Exit with status 1 when there is a graph break, naming the first.");
    tool.flag("--minify", options.subject.minify,
              "Run the backend, of a program on what its frames recorded, and when it fails minimize the failure into "
              "MODEL.min.json, write a repro of it (MODEL.min.cpp) and verify that.");
    tool.option("-o,--output", options.output, "FILE",
                "Write the report to FILE. Default: stdout; of a program stderr, for stdout is the program's own.");
    options.pictures.declare(tool);
    options.lists.declare_break(tool);
    options.sources.declare(tool);
    options.questions.declare(tool);
    options.subject.accuracy.declare(
        tool, "With --divergence, --diagnose, --diff, --minify or --backend: which results differ.");
    options.lists.declare(tool);
    options.subject.inputs.declare(tool);
    options.subject.program.declare(tool);
    tool.example("explain ./app -- --steps 3", "run a LibTorch program and say where its graphs break");
    tool.example("explain python3 train.py", "the same of a PyTorch program in Python");
    tool.example("explain model.onnx --ops", "what model.onnx consists of, and what halide cannot compile");
    tool.example("explain model.onnx --dot m.dot && dot -Tsvg m.dot > m.svg", "a picture of it");
    tool.example("explain ./app --html app.html", "all of it as a page for a browser");
    tool.example("explain model.onnx --times --timeline model.trace", "what passes, kernels and memory take");
    tool.example("explain model.onnx --backend ./mine.so --fullgraph", "does a backend of your own take all of it?");
    tool.example("explain --static model.cpp -- -std=c++17 -Iinclude", "where capture of a program would have to stop");
    tool.example("explain model.onnx --backend halide --divergence", "the first value that Halide computes wrong");
    tool.example("explain model.onnx --backend ./mine.so --minify", "from a failing compile to a verified repro");
    tool.example("explain model.onnx --diagnose", "which component of the stack is guilty, and what to send to whom");
    tool.example("explain --diff yesterday/ today/", "do two traces differ? In CI: is there a new graph break?");
    tool.exit_one(
        "with --fullgraph, there is a graph break, or a program failed or ran nothing that is captured; with --diff, "
        "anything differs; with --divergence, the results differ; a backend that was named, or with --minify or "
        "--diagnose the default one, fails; with --minify or --diagnose, no graph can be judged.");
}

int tell_predictions(const cli::Tool& tool, const Options& options, const cpp::Analysis& analysis,
                     const cli::ReportSink& sink) {
    if (tool.shared().json)
        cli::print_json(explain::to_json(analysis));
    else
        sink.out() << explain::to_text(analysis, options.report.text(tool, sink));
    const std::string first = options.fullgraph ? explain::first_break_text(analysis) : "";
    if (!first.empty()) std::cerr << tool.called() << ": --fullgraph: " << first;
    return first.empty() ? 0 : 1;
}

int tell_report(const cli::Tool& tool, Options& options, const std::vector<cpp::Analysis>& analyses,
                const cli::ReportSink& sink) {
    const std::filesystem::path& model = *options.model;
    options.pictures.check_usage();
    if (!options.sources.file && !cli::is_run(cli::recognize(model))) options.subject.program.refuse_for_model(model);
    const TempDir scratch("whittle-explain");
    const cli::ProfileWish wish = cli::wish_of(options.report, options.pictures, options.subject);
    std::optional<Profile> measured = cli::measured(model, options.subject, wish);
    debug::Subject subject = cli::subject_of(tool, model, options.subject, scratch.path() / "traced");
    debug::predict(subject, analyses);
    cli::add_profile(options.subject, wish, std::move(measured), subject);
    const std::unique_ptr<Backend> backend = find_backend(options.subject.backend.spec(kDefaultSuspect));
    const explain::Report report = debug::report(subject, *backend);
    nlohmann::json json = tool.shared().json ? debug::to_json(subject, report) : nlohmann::json();
    cli::PictureOptions::Compared compared = options.pictures.write(tool, subject, report, options.subject, json);
    if (!tool.shared().json) sink.out() << debug::to_text(subject, report, options.report.text(tool, sink));
    const std::string broken = options.fullgraph ? debug::fullgraph_text(subject, report) : "";
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
    if (!options.model && !analyses.empty()) return tell_predictions(tool, options, analyses[0], sink);
    if (!options.model) throw cli::missing_argument("explain", "MODEL");
    const cli::QuestionOptions& questions = options.questions;
    options.subject.check_usage(questions.divergence || questions.diagnose || questions.before);
    questions.check(options.subject, options.report, options.pictures, options.fullgraph || options.sources.file);
    if (const auto status =
            questions.answer(tool, *options.model, options.subject, {options.report, options.pictures, sink}))
        return *status;
    return tell_report(tool, options, analyses, sink);
}

int run(const cli::Tool& tool, Options& options) {
    if (options.lists.print(tool)) return 0;
    options.subject.program.profile_recompiles = options.report.profile_recompiles;
    cli::ReportSink sink(tool, options.model, options.output);
    const int status = explain_model(tool, options, sink);
    sink.close();
    return status;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool(cli::program_named("explain"));
    declare(tool, options);
    tool.files([&] {
        cli::UsedFiles used;
        used.reads(options.sources.file);
        used.writes("--output", options.output);
        options.pictures.add_to(used);
        options.subject.add_to(used, options.model);
        options.questions.add_to(used, options.subject, options.model);
        return used;
    });
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
