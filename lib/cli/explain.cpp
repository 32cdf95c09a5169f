#include "cli/explain.h"

#include <algorithm>
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/variables.h"
#include "base/words.h"
#include "capture/graph_break.h"
#include "cli/old_spellings.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "frontends/halide/recording.h"
#include "frontends/pt2/coverage.h"
#include "report/show.h"
#include "repro/schedule/schedule_repro.h"

namespace whittle::cli {

namespace {

/// Whether --fullgraph demands nothing more; else says what, on stderr.
bool fullgraph_holds(const Tool& tool, const std::string& broken) {
    if (!broken.empty()) std::cerr << tool.called() << ": --fullgraph: " << broken;
    return broken.empty();
}

/// Whether the program's failure left nothing to report on; says so on stderr.
bool failed_early(const Tool& tool, const report::Subject& subject, const report::Report& report,
                  const halide_program::Program& halide) {
    if (subject.ended.empty() || !subject.frames.empty() || report.graph_break_count > 0 || halide.found())
        return false;
    std::cerr << tool.called() << ": the program " << subject.ended << " before anything was captured\n";
    return true;
}

int predictions(const Tool& tool, const ExplainOptions& options, const cpp::Analysis& analysis,
                const ReportSink& sink) {
    if (tool.shared().json)
        print_json(report::to_json(analysis));
    else
        sink.out() << report::to_text(analysis, options.report.shown(tool, sink));
    return fullgraph_holds(tool, options.fullgraph ? report::first_break_text(analysis) : "") ? 0 : 1;
}

/// What a program that uses Halide recorded of its schedule. What is said of a program where nothing was recorded joins
/// the other notes on it.
halide_program::Program halide_of(const SubjectOptions& options, report::Subject& subject) {
    if (options.halide.empty()) return {};
    halide_program::Program program = halide_program::read_recording(options.halide, subject.program.at(0));
    std::erase_if(program.directives,
                  [&](const halide_program::Directive& one) { return options.halide_left_out.contains(one.key); });
    find_lines(program);
    if (!program.found() && subject.index) append(subject.index->notes, program.notes);
    return program;
}

/// Empty where there is nothing to say.
std::string halide_text(const report::Subject& subject, const halide_program::Program& program, bool is_minimized) {
    if (!program.found()) return {};
    const std::string text = to_text(program) + (subject.ended.empty() ? "" : "\nthe program " + subject.ended + "\n");
    if (program.directives.empty() || is_minimized) return text;
    return text + next_line(shell_quote(program_words("minify", subject.words())));
}

/// In place of a file that minify wrote of a program that uses Halide: that program, without what was left out.
void take_minimized(ExplainOptions& options) {
    const std::optional<repro::MinimizedProgram> minimized = repro::load_minimized_program(*options.model);
    if (!minimized || minimized->command.empty()) return;
    std::vector<std::string>& arguments = options.subject.program.arguments;
    if (!arguments.empty())
        throw Error({options.model->string(), {}},
                    "found arguments after --, expected none: the file contains the arguments of its program");
    options.model = minimized->command[0];
    arguments.assign(minimized->command.begin() + 1, minimized->command.end());
    options.subject.halide_left_out = minimized->left_out;
}

int observations(const Tool& tool, ExplainOptions& options, std::vector<cpp::Analysis> analyses,
                 const ReportSink& sink) {
    const std::filesystem::path& model = *options.model;
    options.subject.check_usage();
    options.pictures.check_usage();
    if (!options.sources.file && !is_run(recognize(model))) options.subject.program.refuse_for_model(model);
    options.subject.times = options.report.text.times;
    options.subject.kernels = options.pictures.html.has_value();
    const bool in_json = tool.shared().json;
    const TempDir scratch("whittle-explain");
    if (recognize(model) == ModelKind::program && halide_program::Recording::installed())
        options.subject.halide = scratch.path() / "halide";
    report::Subject subject = subject_of(tool, model, options.subject, scratch.path() / "traced");
    const halide_program::Program halide = halide_of(options.subject, subject);
    report::predict(subject, std::move(analyses));
    const std::unique_ptr<Backend> backend = find_backend(options.subject.backend.spec(kDefaultSuspect));
    const report::Report report = report::report(subject, *backend);
    nlohmann::json json = in_json ? to_json(subject, report) : nlohmann::json();
    if (options.report.timeline) write_file(*options.report.timeline, report::chrome_trace(subject.profile));
    const nlohmann::json schedule = halide.found() ? to_json(halide) : nlohmann::json();
    const ScheduleFacts facts{halide.found() ? &schedule : nullptr, halide.found() ? to_text(halide) : ""};
    std::optional<html::PageFacts> page = options.pictures.write(tool, subject, report, options.subject, json, facts);
    if (in_json && halide.found()) json["halide"] = schedule;
    if (!in_json) sink.out() << halide_text(subject, halide, !options.subject.halide_left_out.empty());
    if (!in_json && !(halide.found() && subject.frames.empty()))
        sink.out() << to_text(subject, report, options.report.shown(tool, sink));
    const bool whole = fullgraph_holds(tool, options.fullgraph ? report::fullgraph_text(subject, report) : "");
    const bool followed = follow_up(tool, model, options.subject, subject, in_json ? std::cerr : sink.out(), json);
    if (page) options.pictures.write_again(*std::move(page), json);
    if (in_json) print_json(json);
    const bool good = subject.failing().empty() && whole && followed;
    return good && !failed_early(tool, subject, report, halide) ? 0 : 1;
}

}  // namespace

void ExplainOptions::declare(Tool& tool, bool of_source) {
    if (of_source) sources.declare(tool);
    tool.positional("MODEL", model,
                    std::string(kModelHelp) +
                        " Also a file that minify wrote for a program that uses Halide: the program runs with the "
                        "directives that remain.",
                    !of_source);
    report.declare(tool);
    tool.flag("--fullgraph", fullgraph,
              "Exit with status 1 if there is a graph break, and report the first graph break.");
    tool.flag("--minify", subject.minify,
              "Run the model on the backend. For a program: run each captured graph on the recorded inputs. If the "
              "backend fails, minimize the failure, and write the minimized graph to MODEL.min.json and a verified "
              "repro to MODEL.min.cpp.");
    pictures.declare(tool);
    subject.backend.declare(
        tool,
        "halide. Without --backend, the report lists the ops that halide does not support. With --backend, the "
        "backend also runs the model, and the report begins with the failures of the backend");
    subject.accuracy.declare(tool,
                             "With --backend or --minify: how to compare results. Default: the mode stored in each "
                             "record, or close if there is no record.",
                             kRecordedTolerances);
    subject.inputs.declare(tool);
    subject.program.declare(tool);
    subject.limits.declare(tool, kLimited);
    tool.common("--output --html --backend --accuracy --minify --fullgraph --ops --guards --recompiles --times");
    tool.exit_one(
        "with --backend or --minify: the backend fails; with --minify: no graph could be judged; with --fullgraph: "
        "there is a graph break, the program failed, or nothing was captured; always: the program failed before "
        "anything "
        "was captured");
    tool.files([this] {
        UsedFiles used;
        used.reads(sources.file);
        report.add_to(used);
        pictures.add_to(used);
        subject.add_to(used, model);
        return used;
    });
}

int explain(const Tool& tool, ExplainOptions options, const Analyze& analyze) {
    ProgramOptions& program = options.subject.program;
    program.profile_recompiles = options.report.recompiles == "all";
    if (options.model) take_minimized(options);
    ReportSink sink(tool, options.model, options.report.output);
    std::vector<cpp::Analysis> analyses =
        options.sources.analyses(options.model, program.functions, program.arguments, analyze);
    const int status = options.model ? observations(tool, options, std::move(analyses), sink)
                                     : predictions(tool, options, analyses.at(0), sink);
    sink.close();
    return status;
}

namespace {

std::string padded(const std::string& name, std::size_t width) {
    return name + std::string(width - std::min(width, name.size()), ' ');
}

struct BackendGroup {
    BackendPurpose purpose;
    const char *name, *heading;
};
constexpr BackendGroup kBackendGroups[] = {
    {BackendPurpose::compiler, "compiler", "Compilers and runtimes"},
    {BackendPurpose::debug, "debug", "Debug backends, which compute with Whittle's own kernels"},
    {BackendPurpose::test, "test", "For tests of Whittle"},
};

/// Name and description of each, by what they are for, as text or JSON.
void print_backends(const Tool& tool) {
    const std::vector<BackendInfo> backends = list_backends();
    std::size_t widest = 0;
    for (const BackendInfo& b : backends) widest = std::max(widest, b.name.size());
    nlohmann::json all = nlohmann::json::array();
    std::string text;
    for (const BackendGroup& group : kBackendGroups) {
        text += (text.empty() ? "" : "\n") + std::string(group.heading) + ":\n";
        for (const BackendInfo& b : backends) {
            if (b.purpose != group.purpose) continue;
            text += padded(b.name, widest) + "  " + b.description + (b.missing.empty() ? "" : " (" + b.missing + ")") +
                    "\n";
            all.push_back({{"name", b.name}, {"description", b.description}, {"from", b.from}, {"kind", group.name}});
            if (!b.missing.empty()) all.back()["missing"] = b.missing;
        }
    }
    if (tool.shared().json) return print_json({{"backends", all}});
    std::cout << text;
}

/// The releases that each backend has, and how more are installed.
void print_releases(const Tool& tool) {
    const std::vector<BackendReleases> backends = list_releases();
    std::size_t widest = 0;
    for (const BackendReleases& b : backends) widest = std::max(widest, b.backend.size());
    nlohmann::json all = nlohmann::json::array();
    std::string text;
    for (const BackendReleases& b : backends) {
        all.push_back({{"backend", b.backend}, {"releases", b.names}});
        if (!b.installer.empty()) all.back()["install"] = b.installer;
        if (!b.problem.empty()) all.back()["problem"] = b.problem;
        text += padded(b.backend, widest) + "  " + (b.problem.empty() ? join(b.names) : b.problem) + "\n";
        if (!b.installer.empty())
            text += std::string(widest + 2, ' ') + "to install another release: " + b.installer + "\n";
    }
    if (tool.shared().json) return print_json({{"releases", all}});
    std::cout
        << text
        << "\n--backend-option release=VERSION selects a release. minify and explain diagnose search the installed "
           "releases for the first one that fails.\n";
}

void print_ops(const Tool& tool) {
    if (!tool.shared().json) {
        std::cout << pt2::torch_ops_page();
        return;
    }
    nlohmann::json all = nlohmann::json::array();
    for (const pt2::TorchOp& op : pt2::torch_ops()) all.push_back({{"op", op.target}, {"support", name(op.support)}});
    print_json({{"torch_ops", all}});
}

}  // namespace

std::vector<std::string> break_ids() {
    std::vector<std::string> ids = {"all"};
    for (const capture::BreakInfo& info : capture::break_catalogue()) ids.emplace_back(info.id);
    return ids;
}

std::string break_page(const std::string& id) {
    if (id == "all") return report::break_catalogue_page();
    if (const capture::BreakInfo* info = capture::find_break(id)) return report::break_page(*info);
    const auto catalogue = capture::break_catalogue();
    throw invalid_value(id, "ID",
                        "expected an id from " + std::string(catalogue.front().id) + " to " +
                            std::string(catalogue.back().id) + ", or 'all'");
}

namespace {

struct List {
    const char *name, *what;
};
constexpr List kLists[] = {
    {"backends", "compilers and debug backends that --backend accepts"},
    {"releases", "installed releases of the compilers, and the commands that install more"},
    {"ops", "PyTorch's ops, and how Whittle supports each op"},
    {"variables", "environment variables"},
    {"logs", "log channels"},
    {"spellings", "deprecated spellings of options"},
};

void print_lists() {
    for (const List& list : kLists) std::cout << padded(list.name, 9) << "  " << list.what << "\n";
}

}  // namespace

std::vector<std::string> lists() {
    std::vector<std::string> names;
    for (const List& list : kLists) names.emplace_back(list.name);
    return names;
}

std::string lists_text() {
    return join(
        kLists, [](const List& list) { return std::string(list.name) + " (" + list.what + ")"; }, "; ");
}

void print_list(const Tool& tool, const std::string& what) {
    if (what.empty()) return print_lists();
    check_choice("WHAT", what, lists());
    if (what == "backends") return print_backends(tool);
    if (what == "releases") return print_releases(tool);
    if (what == "ops") return print_ops(tool);
    std::cout << (what == "variables" ? variables_page() : what == "logs" ? logs_page() : old_spellings_page());
}

}  // namespace whittle::cli
