// minify: the fewest operations of a model that still fail in the same way.
#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "backends/registry.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "cli/accuracy_choice.h"
#include "cli/backend_choice.h"
#include "cli/follow_up.h"
#include "cli/limits.h"
#include "cli/model.h"
#include "cli/progress.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "graph/json.h"
#include "graph/text.h"
#include "ops/interpreter.h"
#include "passes/decompose.h"
#include "passes/functionalize.h"
#include "reduce/culprit.h"
#include "reduce/identity.h"
#include "reduce/journal.h"
#include "reduce/minimize.h"
#include "reduce/parallel.h"
#include "reduce/report.h"
#include "reduce/save.h"
#include "run/divergence.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;

struct Options {
    fs::path model, output;
    cli::BackendChoice backend;
    fs::path test;
    std::vector<std::string> check;
    cli::AccuracyChoice accuracy;
    bool test_must_fail = false, resume = false;
    std::string fail_regex, mode = "auto", after = "capture";
    std::vector<std::int64_t> fail_codes, ignore_codes;
    cli::LimitOptions limits;
    std::int64_t repeat = 2, jobs = 1;
    std::string delta_passes, skip_delta_passes;
    bool print_delta_passes = false;
    std::optional<std::int64_t> step_limit;
    std::string launcher;
    cli::InputOptions inputs;
    /// How MODEL says that it fails: followed where the command line does not name what fails (see use_recorded).
    std::optional<Failure> stored = {};

    bool command() const { return !test.empty() || !check.empty() || (stored && stored->backend.empty()); }
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional("MODEL", options.model, "ONNX model, graph, record or trace folder.", false);
    tool.option("-o,--output", options.output, "FILE",
                "Where the result goes; .json or .onnx decides the candidates' format. Default: MODEL.min with MODEL's "
                "extension.");
    tool.section("What fails");
    options.backend.declare(tool, "what MODEL was recorded with and its options, else halide");
    options.accuracy.declare(tool, "Wrong results are failures too; without it only errors, crashes and hangs are.");
    tool.option("--test", options.test, "SCRIPT",
                "Run SCRIPT CANDIDATE; exit 0: the candidate is still interesting (as C-Vise and llvm-reduce).");
    tool.flag("--test-must-fail", options.test_must_fail, "With --test: any other exit than 0 is interesting.");
    tool.rest_of_line(
        "--check", options.check, "CMD…",
        "Run CMD, {} being the candidate (appended where there is none); exit other than 0: it still fails "
        "(as Polygraphy). Takes the rest of the line.");
    tool.option("--fail-code", options.fail_codes, "N",
                "With --check: only exit code N is the failure. May be repeated.");
    tool.option("--ignore-fail-code", options.ignore_codes, "N",
                "With --check: exit code N is not the failure. May be repeated.");
    tool.option("--fail-regex", options.fail_regex, "RE",
                "With --check: what CMD prints must match RE to be the failure.");
    tool.section("The search");
    tool.choice("--after", options.after, {"capture", "aot"},
                "The graph that is reduced: as it was captured, or (aot) the core operations without writes that it "
                "decomposes to, for what fails in these only. Default: capture.");
    options.limits.declare(tool, "one candidate");
    tool.option("--launcher", options.launcher, "PREFIX",
                "Run each query elsewhere: PREFIX ('srun -n1', 'ssh HOST') is put before its command, whose folder "
                "lies in $TMPDIR. See share/doc/clusters.md.");
    tool.option("--repeat", options.repeat, "N",
                "Runs of the original and of the result. Where they disagree the failure is flaky: candidates run more "
                "often. Default: 2.");
    tool.choice("--mode", options.mode, reduce::mode_names(),
                "How to search: by bisection, where that fails by delta debugging (auto); by bisection alone; dropping "
                "one call after the other (linear); by probabilistic or plain delta debugging. Default: auto.");
    tool.option("--step-limit", options.step_limit, "N",
                "Stop after N candidates with the best so far; answers that --resume finds do not count.");
    tool.option("--delta-passes", options.delta_passes, "LIST",
                "Reductions to run, separated by commas, over and over until nothing changes. Default: all.");
    tool.option("--skip-delta-passes", options.skip_delta_passes, "LIST", "Reductions not to run.");
    tool.flag("--print-delta-passes", options.print_delta_passes, "List the reductions, and stop.");
    tool.option("-j,--jobs", options.jobs, "N",
                "Judge up to N candidates at a time. Changes the time, never the result. Default: 1.");
    tool.flag("--resume", options.resume,
              "Go on where an earlier run with the same arguments was stopped or killed: OUT.journal has its answers, "
              "and no candidate is judged twice.");
    options.inputs.declare(tool);
    tool.example("minify model.onnx --backend halide --accuracy -o m.json",
                 "the ops that Halide computes wrong; then: repro m.json");
    tool.example("minify model.onnx -o small.onnx --check ./compiles.sh {}",
                 "a compiler of your own, judged by a script");
    tool.exit_one("the model does not fail, or too rarely to be minimized, or the backend does not support it.");
}

fs::path default_output(const Options& options) {
    fs::path output = options.model;
    const std::string extension = output.extension() == ".onnx" ? ".onnx" : ".json";
    return output.replace_extension(".min" + extension).filename();
}

fs::path journal_of(const Options& options) {
    fs::path journal = options.output;
    return journal += ".journal";
}

/// A script here, or a program in PATH.
std::string script_path(const fs::path& script) {
    return script.has_parent_path() || fs::exists(script) ? fs::absolute(script).lexically_normal().string()
                                                          : script.string();
}

std::unique_ptr<reduce::Oracle> oracle(const Options& options, std::unique_ptr<Backend>& backend) {
    const Limits limits = options.limits.limits();
    const std::vector<std::string> launcher = shell_split(options.launcher);
    if (!options.command()) {
        const std::string name = options.backend.name.empty() ? "halide" : options.backend.name;
        backend = find_backend(name);
        return reduce::backend_oracle(*backend, {name,
                                                 options.backend.options(),
                                                 options.accuracy.mode.has_value(),
                                                 options.accuracy.accuracy(),
                                                 limits,
                                                 {launcher, {fs::read_symlink("/proc/self/exe").string(), "answer"}}});
    }
    reduce::CommandOracleOptions command;
    using Polarity = reduce::CommandOracleOptions::Polarity;
    command.polarity = !options.check.empty()   ? Polarity::check
                       : options.test_must_fail ? Polarity::test_must_fail
                                                : Polarity::test;
    command.command = options.check.empty() ? std::vector<std::string>{script_path(options.test)} : options.check;
    if (options.stored) {
        command.command = options.stored->command;
        command.polarity = options.stored->polarity == "test"    ? Polarity::test
                           : options.stored->polarity == "check" ? Polarity::check
                                                                 : Polarity::test_must_fail;
    }
    command.extension = options.output.extension().string();
    command.fail_codes.assign(options.fail_codes.begin(), options.fail_codes.end());
    command.ignore_codes.assign(options.ignore_codes.begin(), options.ignore_codes.end());
    command.fail_pattern = options.fail_regex;
    command.limits = limits;
    command.launcher = launcher;
    return reduce::command_oracle(std::move(command));
}

/// Options that would do nothing without another one, or beside another one.
void check_pairs(const Options& options) {
    const auto needs = [](bool given, const char* option, bool condition, const char* what) {
        if (given && !condition) throw Error({option, {}}, std::string("found it without ") + what);
    };
    const bool command = !options.check.empty() || !options.test.empty();
    needs(options.test_must_fail, "--test-must-fail", !options.test.empty(), "--test, expected both");
    needs(!options.fail_codes.empty(), "--fail-code", !options.check.empty(), "--check, expected both");
    needs(!options.ignore_codes.empty(), "--ignore-fail-code", !options.check.empty(), "--check, expected both");
    needs(!options.fail_regex.empty(), "--fail-regex", !options.check.empty(), "--check, expected both");
    const bool accuracy = options.accuracy.mode.has_value();
    needs(!options.accuracy.rtol.empty(), "--rtol", accuracy, "--accuracy, expected both");
    needs(!options.accuracy.atol.empty(), "--atol", accuracy, "--accuracy, expected both");
    needs(!options.accuracy.ulp.empty(), "--ulp", accuracy, "--accuracy, expected both");
    needs(accuracy, "--accuracy", !command, "a backend: with --test and --check the command judges");
    needs(!options.backend.pairs.empty(), "--backend-option", !command,
          "a backend: with --test and --check the command judges");
}

/// Names between commas; each must be one of `known`.
std::vector<std::string> names(const char* option, const std::string& list, const std::vector<std::string>& known) {
    std::vector<std::string> result;
    std::istringstream rest(list);
    for (std::string name; std::getline(rest, name, ',');) {
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw Error({option, {}},
                        "found '" + name + "', expected one of " + fmt::format("{}", fmt::join(known, ", ")),
                        "--print-delta-passes says what they do");
        result.push_back(name);
    }
    return result;
}

std::vector<std::string> passes(const Options& options) {
    const std::vector<std::string> all = reduce::pass_names();
    const std::vector<std::string> only = names("--delta-passes", options.delta_passes, all);
    const std::vector<std::string> skipped = names("--skip-delta-passes", options.skip_delta_passes, all);
    const auto has = [](const std::vector<std::string>& list, const std::string& name) {
        return std::find(list.begin(), list.end(), name) != list.end();
    };
    std::vector<std::string> wanted;
    for (const std::string& name : all)
        if ((options.delta_passes.empty() || has(only, name)) && !has(skipped, name)) wanted.push_back(name);
    return wanted;
}

void check_usage(Options& options) {
    if (options.model.empty()) throw Error("found no MODEL, expected one", "see minify --help");
    passes(options);
    const int oracles = !options.backend.name.empty() + !options.test.empty() + !options.check.empty();
    if (oracles > 1)
        throw Error({"command line", {}},
                    "found several of --backend, --test and --check, expected one: what says that a candidate fails");
    check_pairs(options);
    for (const std::int64_t code : options.fail_codes)
        cli::require_range("--fail-code", static_cast<double>(code), 1, 255);
    for (const std::int64_t code : options.ignore_codes)
        cli::require_range("--ignore-fail-code", static_cast<double>(code), 1, 255);
    cli::require_range("--repeat", options.repeat, 1, 1'000'000);
    cli::require_range("--jobs", options.jobs, 1, 1024);
    if (options.output.empty()) options.output = default_output(options);
    const std::string extension = options.output.extension().string();
    if (extension != ".json" && extension != ".onnx")
        throw Error({"--output", {}},
                    "found '" + options.output.string() + "', expected a name that ends in .json or .onnx");
    cli::check_output("--output", options.output, cli::files_read(options.model, options.inputs));
}

std::string polarity(const Options& options, const std::string& seen) {
    if (options.stored) return "it does not fail as MODEL has it: " + options.stored->signature.text();
    const bool picky = !options.fail_codes.empty() || !options.ignore_codes.empty() || !options.fail_regex.empty();
    if (!options.check.empty() && picky) return "the command " + seen;
    if (!options.check.empty()) return "the command exits with 0 (--check: any other exit is the failure)";
    if (!options.test.empty())
        return options.test_must_fail ? "the script exits with 0 (--test-must-fail: any other exit is interesting)"
                                      : "the script does not exit with 0 (--test: exit 0 is interesting)";
    return options.accuracy.mode.has_value() ? "it compiles, runs and computes what eager does"
                                             : "it compiles and runs (wrong results count only with --accuracy)";
}

/// OUT.drifted-1.json …, in OUT's folder and format, for the other failures that were met; never the MODEL itself.
std::vector<fs::path> save_drifted(const std::vector<Graph>& finds, const Options& options) {
    std::vector<fs::path> files;
    int number = 0;
    for (const Graph& graph : finds) {
        fs::path file;
        std::error_code ignored;
        do {
            file = options.output;
            file.replace_filename(options.output.stem().string() + ".drifted-" + std::to_string(++number) +
                                  options.output.extension().string());
        } while (fs::equivalent(file, options.model, ignored));
        reduce::save_minimized(graph, file);
        files.push_back(file);
    }
    return files;
}

int print_passes() {
    fmt::print("{:<10} {}\n", "calls", "Delete calls; what they computed becomes an input");
    for (const reduce::Reduction& reduction : reduce::reductions())
        fmt::print("{:<10} {}\n", reduction.name, reduction.doc);
    return 0;
}

void print(const reduce::Minimized& result, const Options& options, const reduce::Written& written) {
    std::cout << reduce::report(result, written) << "\n"
              << print(result.graph) << "\nwritten:    " << options.output.string() << "\n";
    if (result.verdict != reduce::Minimized::Verdict::minimized)
        std::cout << "next:       the same command with --resume goes on from here\n";
    else if (!options.command())
        std::cout << "next:       repro " << shell_quote({options.output.string()}) << "\n";
}

/// Writes what is to blame into the graph's failure; of wrong results, says whether they are rounding noise.
std::optional<Closeness> blame(Graph& graph, Backend& backend, const Limits& limits) {
    const Failure& failure = *graph.failure;
    const auto stop = [] { return interrupt_signal() != 0; };
    try {
        graph.failure->culprit = reduce::find_culprit(graph, backend, {limits, stop});
        if (failure.signature.kind != "mismatch") return std::nullopt;
        const Outcome outcome = run_isolated(graph, failure.inputs, backend, failure.options, limits);
        if (outcome.failed()) return std::nullopt;
        const auto closeness = closeness_of(graph, failure.inputs, outcome.outputs, failure.accuracy);
        // Another order of rounding is no fault of a lowering; that a directive makes it is worth knowing.
        auto& culprit = graph.failure->culprit;
        if (closeness == Closeness::noise && culprit && culprit->directive.empty()) culprit.reset();
        return closeness;
    } catch (const Interrupted&) {  // the graph is minimized all the same
        return std::nullopt;
    }
}

/// The node whose value is the first to differ from the reference's when every value is exposed.
std::vector<std::string> first_divergent(const cli::LoadedFrame& frame, Backend& backend, const Options& options) {
    constexpr std::size_t kFew = 8;  // calls: the search finds it as quickly
    if (!options.launcher.empty() || !options.accuracy.mode.has_value() || frame.graph.calls().size() <= kFew)
        return {};
    try {
        const Divergence found = diverge(frame.graph, frame.inputs, backend, options.backend.options(),
                                         options.limits.limits(), options.accuracy.accuracy());
        if (!found.first) return {};
        return {found.values[*found.first].node};
    } catch (const Interrupted&) {
        return {};
    }
}

/// Without an oracle on the command line: what MODEL was recorded with, or fails with.
void use_recorded(Options& options, const cli::LoadedFrame& frame) {
    if (!options.test.empty() || !options.check.empty() || !options.backend.name.empty()) return;
    options.stored = frame.graph.failure;
    options.backend.default_to(frame);
    if (!frame.graph.failure || options.backend.name.empty()) return;
    if (frame.graph.failure->signature.kind == "mismatch") options.accuracy.default_to(frame.graph.failure->accuracy);
}

/// As --after asks; what does not decompose stays.
std::vector<cli::LoadedFrame> prepared(std::vector<cli::LoadedFrame> frames, const Options& options) {
    if (options.after == "aot")
        for (cli::LoadedFrame& frame : frames) frame.graph = decompose(functionalize(frame.graph).graph);
    return frames;
}

/// One graph, its result and what was printed.
struct Done {
    bool failed = false;
    nlohmann::json json = {};
};

/// The model gets no answer.
std::string declined(const Options& options, const std::string& judge, const std::string& message) {
    if (options.test.empty() && options.check.empty())
        return "unsupported: " + judge + " does not support this model: " + message;
    return "no verdict: the command cannot tell of this model: " + message;
}

Done minimize(const cli::Tool& tool, const Options& options, const cli::LoadedFrame& frame) {
    std::unique_ptr<Backend> backend;
    const std::unique_ptr<reduce::Oracle> judge = oracle(options, backend);
    reduce::ParallelOracle parallel(*judge, static_cast<int>(options.jobs));
    reduce::JournalingOracle journal(parallel, journal_of(options), reduce::Identity(*judge)(frame.graph, frame.inputs),
                                     options.resume);

    const CleanUpScope scope;  // an interrupt ends the search, not us
    cli::Progress progress("minify", 0, tool.shared().progress);
    reduce::MinimizeOptions search;
    search.passes = passes(options);
    search.jobs = static_cast<int>(options.jobs);
    search.repeat = static_cast<int>(options.repeat);
    if (options.step_limit) search.search.step_limit = static_cast<std::size_t>(*options.step_limit);
    if (options.stored) search.signature = options.stored->signature;
    search.search.mode = reduce::mode_from_name(options.mode);
    search.search.stop = [] { return interrupt_signal() != 0; };
    if (backend) search.likely = [&] { return first_divergent(frame, *backend, options); };
    search.improved = [&](const Graph& graph) { reduce::save_minimized(graph, options.output); };
    search.progress = [&](const reduce::Progress& at) {
        progress.update(at.queries, "smallest: " + std::to_string(at.calls) + " ops");
    };
    reduce::Minimized result = reduce::minimize(frame.graph, frame.inputs, journal, search);
    progress.clear();

    using Verdict = reduce::Minimized::Verdict;
    const bool failed = result.verdict == Verdict::minimized || result.verdict == Verdict::interrupted;
    reduce::Written written{{}, journal.replayed()};
    written.stored = options.stored.has_value();
    if (failed) {
        written.output = options.output;
        if (backend && options.launcher.empty() && result.verdict == Verdict::minimized)
            written.closeness = blame(result.graph, *backend, options.limits.limits());
        reduce::save_minimized(result.graph, options.output);
        written.drifted = save_drifted(result.drifted, options);
    }
    if (result.verdict != Verdict::interrupted) journal.remove();
    if (tool.shared().json) return {failed, to_json(result, written)};
    if (failed)
        print(result, options, written);
    else if (result.verdict == Verdict::flaky)
        std::cout << "flaky: it fails alike in " << result.flaky.failures << " of " << result.flaky.runs
                  << " runs, too rarely to be minimized\n";
    else if (options.stored && !result.signature.kind.empty())
        std::cout << "not failing: with " << judge->name() << " " << polarity(options, {}) << ", but with "
                  << result.signature.text() << "; name what fails (--backend …) to follow that\n";
    else if (result.verdict == Verdict::unsupported)
        std::cout << declined(options, judge->name(), result.message) << "\n";
    else
        std::cout << "not failing: with " << judge->name() << " " << polarity(options, result.message) << "\n";
    return {failed};
}

/// The smallest graph of each distinct failure, and what is said of graphs that get no answer.
struct Failing {
    std::vector<const cli::LoadedFrame*> frames = {};
    std::map<fs::path, std::string> declined = {};
};

Failing failing(const std::vector<cli::LoadedFrame>& frames, const Options& options) {
    std::unique_ptr<Backend> backend;
    const std::unique_ptr<reduce::Oracle> judge = oracle(options, backend);
    reduce::Identity identity(*judge);
    Failing result;
    std::set<std::string> asked;
    std::map<std::string, const cli::LoadedFrame*> by_signature;
    std::vector<std::string> order;
    for (const cli::LoadedFrame& frame : frames) {
        const std::string id = identity(frame.graph, frame.inputs);
        if (!asked.insert(id).second) continue;  // the same graph on the same values
        const auto left_out = [&](const std::string& why) {
            log_warning("reduce", frame.file.string() + ": left out: " + why);
        };
        reduce::Observation seen;
        try {
            const std::vector<Tensor> expected = evaluate(frame.graph, frame.inputs);
            for (std::int64_t i = 0; i < options.repeat && !seen.failed; ++i)
                seen = judge->observe({frame.graph, frame.inputs, expected, id});
        } catch (const Error& error) {
            left_out(error.what());
            continue;
        }
        if (seen.unresolved) result.declined[frame.file] = declined(options, judge->name(), seen.message);
        if (!seen.failed || seen.unresolved) continue;
        const auto [entry, added] = by_signature.try_emplace(seen.signature.text(), &frame);
        if (added)
            order.push_back(entry->first);
        else if (frame.graph.calls().size() < entry->second->graph.calls().size())
            entry->second = &frame;
    }
    for (const std::string& signature : order) result.frames.push_back(by_signature.at(signature));
    return result;
}

/// A folder of graphs: one result per distinct failure, OUT for one, else OUT-1, OUT-2, ….
int run_several(const cli::Tool& tool, const Options& options, const std::vector<cli::LoadedFrame>& frames) {
    const Failing found = failing(frames, options);
    const std::vector<const cli::LoadedFrame*>& chosen = found.frames;
    nlohmann::json results = nlohmann::json::array();
    bool good = !chosen.empty();
    if (!tool.shared().json)
        std::cout << frames.size() << " graphs, " << chosen.size() << " distinct failure"
                  << (chosen.size() == 1 ? "" : "s") << "\n";
    nlohmann::json unsupported = nlohmann::json::object();
    for (const auto& [file, what] : found.declined) {
        if (!tool.shared().json) std::cout << file.string() << ": " << what << "\n";
        unsupported[file.string()] = what;
    }
    if (chosen.empty() && found.declined.empty() && !tool.shared().json) {
        std::unique_ptr<Backend> backend;
        std::cout << "not failing: with " << oracle(options, backend)->name() << " " << polarity(options, "never fails")
                  << "\n";
    }
    for (std::size_t i = 0; i < chosen.size(); ++i) {
        Options own = options;
        if (chosen.size() > 1) own.output = cli::numbered_result(options.output, i + 1);
        if (!tool.shared().json) std::cout << "\n" << chosen[i]->file.string() << "\n";
        const Done done = minimize(tool, own, *chosen[i]);
        good = good && done.failed;
        results.push_back(done.json);
        throw_if_interrupted();
    }
    if (tool.shared().json)
        cli::print_json({{"graphs", frames.size()}, {"results", results}, {"unsupported", unsupported}});
    return good ? 0 : 1;
}

int run(const cli::Tool& tool, Options& options) {
    if (options.print_delta_passes) return print_passes();
    check_usage(options);
    std::vector<cli::LoadedFrame> frames = cli::load_model(options.model, {.inputs = options.inputs});
    if (!frames.empty()) use_recorded(options, frames[0]);
    frames = prepared(std::move(frames), options);
    if (frames.size() > 1) return run_several(tool, options, frames);
    if (frames.empty()) throw Error({options.model.string(), {}}, "found no graph, expected one");
    const Done done = minimize(tool, options, frames[0]);
    if (tool.shared().json) cli::print_json(done.json);
    return done.failed ? 0 : 1;
}

/// `minify answer FOLDER`: what a launcher runs elsewhere.
int run_answer(int argc, char** argv) {
    fs::path folder;
    cli::Tool tool("minify answer", "FOLDER",
                   "Judges the query in FOLDER and leaves the answer there: what minify --launcher runs elsewhere.");
    tool.positional("FOLDER", folder, "What the launcher was given.");
    return cli::run_tool(tool, argc, argv, [&] {
        answer_query(folder);
        return 0;
    });
}

}  // namespace

int main(int argc, char** argv) {
    if (argc > 1 && std::string_view(argv[1]) == "answer") return run_answer(argc - 1, argv + 1);
    Options options;
    cli::Tool tool(
        "minify", "MODEL",
        "Finds the fewest operations of a model that still fail in the same way, and keeps their recorded inputs.");
    declare(tool, options);
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
