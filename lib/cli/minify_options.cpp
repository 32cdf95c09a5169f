#include "cli/minify_options.h"

#include <algorithm>
#include <set>

#include "base/command_words.h"
#include "base/error.h"
#include "base/interpreter.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/model.h"
#include "cli/subject.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "compile/gradients.h"
#include "compile/program.h"
#include "frontends/onnx/file_parts.h"
#include "frontends/onnx/weights.h"
#include "graph/placement.h"
#include "reduce/search/search.h"
#include "trace/load.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// Names between commas, all of them where there are none; of "-LIST" all but those.
std::vector<std::string> passes_of(const MinifyOptions& options) {
    const std::vector<std::string> all = reduce::pass_names();
    std::set<std::string> only, skipped;
    for (const std::string& list : options.delta_passes) {
        std::set<std::string>& names = list.starts_with('-') ? skipped : only;
        for (const std::string& name : split(list.substr(list.starts_with('-') ? 1 : 0), ',')) {
            if (std::ranges::find(all, name) == all.end())
                throw invalid_value(name, "--delta-passes", "expected one or more of " + join(all),
                                    "to list the reductions: minify passes");
            names.insert(name);
        }
    }
    std::vector<std::string> wanted;
    for (const std::string& name : all)
        if ((only.empty() || only.contains(name)) && !skipped.contains(name)) wanted.push_back(name);
    return wanted;
}

reduce::CommandOracleOptions command_of(const MinifyOptions& options, const std::optional<Failure>& stored) {
    reduce::CommandOracleOptions command = options.which;
    command.polarity = stored                   ? stored->polarity
                       : !options.check.empty() ? "check"
                       : options.test_must_fail ? "test-must-fail"
                                                : "test";
    command.command = stored                  ? stored->command
                      : options.check.empty() ? std::vector<std::string>{script_path(options.test)}
                                              : options.check;
    command.extension = options.output.extension().string();
    command.limits = options.limits.limits();
    command.launcher = shell_split(options.launcher);
    return command;
}

Suspect suspect_of(const MinifyOptions& options) {
    Suspect suspect = options.suspect(kDefaultSuspect);
    suspect.launcher = {shell_split(options.launcher), {fs::read_symlink("/proc/self/exe").string(), "answer"}};
    if (options.accuracy.mode) suspect.tier = Tier::computes;
    suspect.slower = options.pace.pace(suspect.spec, suspect.options);
    return suspect;
}

/// A model that a command may judge by its file, whatever Whittle knows of it; nothing for any other.
std::optional<LoadedFrame> file_alone(const fs::path& model, std::string unread) {
    if (recognize(model) != ModelKind::onnx) return std::nullopt;
    LoadedFrame frame{.file = model_file(model)};
    try {
        static_cast<void>(FileParts(frame.file));
    } catch (const Error&) {  // who read it said it better
        return std::nullopt;
    }
    frame.unread = std::move(unread);
    return frame;
}

/// Why Whittle cannot run the frame; nothing: it can.
std::optional<std::string> not_understood(const LoadedFrame& frame) {
    if (!frame.breaks.empty()) return frame.breaks.front().reason;
    return unknown_value(frame.graph);
}

/// What a command judges may have values of types that Whittle does not know, or be unreadable to it.
std::vector<LoadedFrame> frames_for_command(const fs::path& model, const ModelOptions& options) {
    try {
        std::vector<LoadedFrame> frames = load_for(model, options);
        if (frames.size() != 1) return frames;
        auto unread = not_understood(frames[0]);
        auto alone = unread ? file_alone(model, std::move(*unread)) : std::nullopt;
        return alone ? std::vector{std::move(*alone)} : frames;
    } catch (const Error& error) {
        auto alone = file_alone(model, error.what());
        if (!alone) throw;
        return {std::move(*alone)};
    }
}

std::vector<LoadedFrame> read_frames(const MinifyOptions& options, bool fold) {
    const BackendChoice& backend = options.backend;
    const ModelOptions load{.inputs = options.inputs,
                            .as_stated = backend.name == kInfersAnew,
                            .exact = options.accuracy.exact(),
                            .fold = fold};
    const bool whole = options.after != "aot";
    std::vector<LoadedFrame> frames = options.command() ? frames_for_command(options.model, load)
                                      : whole           ? load_for(options.model, load)
                                                        : load_model(options.model, load);
    if (whole) return frames;
    std::vector<LoadedFrame> parts;
    for (LoadedFrame& frame : frames)
        for (program::Part& part : program::parts_of(frame.graph, frame.inputs)) {
            LoadedFrame made = frame;
            made.graph = program::CompiledProgram(std::move(part.graph)).graph(program::Stage::decomposed);
            made.inputs = std::move(part.inputs);
            if (made.graph.name != frame.graph.name) made.expected.clear();
            parts.push_back(std::move(made));
        }
    return parts;
}

/// Default: MODEL.min with MODEL's extension, of an interpreter named after its script, in the working directory. Of a
/// folder of models the folder of the results, MODEL.min. Throws Error for a name that says no format.
fs::path minimized_file(const fs::path& model, const std::vector<std::string>& arguments, const fs::path& given) {
    fs::path output = given;
    if (holds_models(model)) {
        const fs::path named = fs::absolute(model / "").lexically_normal().parent_path();
        if (output.empty()) output = named.filename().string() + ".min";
        if (fs::exists(output) && !fs::is_directory(output))
            throw invalid_value(output.string(), "--output", "expected a folder: MODEL is a folder of models");
        return output;
    }
    if (output.empty() && interpreted(model, arguments)) {
        output = stem_of(model, arguments) + ".min.json";
    } else if (output.empty()) {
        const fs::path named = model.has_filename() ? model : model.parent_path();  // "DIR/"
        const bool folder = fs::is_directory(named);
        output = (folder ? named.filename() : named.stem()).string() +
                 (named.extension() == ".onnx" && !folder ? ".min.onnx" : ".min.json");
    }
    if (output.extension() != ".json" && output.extension() != ".onnx")
        throw invalid_value(
            output.string(), "--output",
            std::string("the name must end in .json or .onnx") +
                (fs::is_directory(model) ? ", because MODEL is one model or trace, not a folder of models" : ""));
    return output;
}

/// Who judges a candidate.
void declare_judge(Tool& tool, MinifyOptions& options) {
    reduce::CommandOracleOptions& which = options.which;
    options.backend.declare(tool, "the backend and the backend options stored in MODEL; if MODEL has none, halide");
    options.accuracy.declare(
        tool,
        "Also treat wrong results as failures. Without this option, only errors, crashes and hangs are failures; but "
        "wrong results of a program that uses Halide always count.");
    options.pace.declare(tool, "Also treat slowness as a failure: a model");
    tool.section("Test scripts and check commands");
    tool.option("--test", options.test, "SCRIPT",
                "Script that decides whether a candidate still fails. The argument of the script is the candidate's "
                "file. Exit status 0 means that the candidate fails, as in C-Vise and llvm-reduce.");
    tool.hints_behind([](const std::string&) {
        return std::string(
            "--test takes a script without arguments; to run a command that has arguments, use --check CMD…, and let "
            "the command end with a status other than 0 for a candidate that fails");
    });
    tool.flag("--test-must-fail", options.test_must_fail, {});
    tool.rest_of_line(
        "--check", options.check, "CMD…",
        "Command that decides whether a candidate still fails. CMD is the rest of the command line, in which {} stands "
        "for the candidate's file. An exit status other than 0 means that the candidate fails, as in Polygraphy.");
    tool.option("--fail-code", which.fail_codes, "N",
                "With --check: the candidate fails only if CMD exits with status N. May be repeated.");
    tool.option("--ignore-fail-code", which.ignore_codes, "N",
                "With --check: the candidate does not fail if CMD exits with status N. May be repeated.");
    tool.option("--fail-regex", which.fail_pattern, "RE",
                "With --check: the candidate fails only if the output of CMD matches the regular expression RE.");
    tool.choice("--external-data", which.external_data, external_data_words(),
                "With --check or --test: whether to store the weights of .onnx candidates in separate files. auto "
                "(default): yes if the weights take 64 MB or more.");
}

/// How the search is run, and what of the model is searched.
void declare_search(Tool& tool, MinifyOptions& options) {
    reduce::Strategy& search = options.search;
    tool.section("Search");
    tool.option(
        "-j,--jobs", search.jobs, "N",
        "Test up to N candidates in parallel; the result does not depend on N. For a folder of models: minimize "
        "up to N models in parallel. Default: 1.");
    tool.flag("--resume", search.resume,
              "Continue a stopped search: reuse the verdicts in the journal of the search, the file OUT.journal. All "
              "other arguments "
              "must be the same as in the stopped search.");
    tool.option("--time-limit", options.time_limit, "TIME",
                "Stop after TIME (such as 90s, 10m or 2h), and write the smallest failing graph found so far.");
    tool.option("--step-limit", search.step_limit, "N",
                "Stop after N candidates, and write the smallest failing graph found so far.");
    tool.choice("--after", options.after, {"capture", "file", "aot"},
                "Graph to reduce. capture (default): the captured graph. file: the graph as it is in the ONNX file, "
                "before operations on constants are replaced by their results. aot: the captured graph, decomposed "
                "into core ops.");
    tool.option("--launcher", options.launcher, "PREFIX",
                "Test each candidate on another machine, with a command that starts with PREFIX, for example 'srun "
                "-n1' or 'ssh HOST'. For a folder of models: minimize each model on another machine. See "
                "share/doc/how-to/clusters.md.");
    tool.option("--repeat", search.repeat, "N",
                "Number of runs of the original graph, and of the result. If the runs of the original graph do not all "
                "fail in the same way, minify also runs each candidate several times. Default: 2.");
    tool.choice(
        "--mode", search.mode, reduce::mode_names(),
        "Search strategy. auto (default): bisection, then delta debugging. bisect: only bisection. probdd, ddmin: only "
        "delta debugging, with the algorithm of this name. linear: try to remove one call after the other.");
    tool.option("--delta-passes", options.delta_passes, "LIST",
                "Reductions to apply, separated by commas. -LIST: all reductions except the reductions in LIST. "
                "'minify passes' "
                "lists all reductions. Default: all.");
    tool.offers(reduce::pass_names, Tool::Offered::list);
    options.limits.declare(tool, "each candidate");
}

/// Where the script of --test stands in the place of a model, or behind it: C-Vise has the script first.
std::string script_hint(const std::string& first, const std::string& second) {
    const auto kind = [](const std::string& file) -> std::optional<ModelKind> {
        try {
            return recognize(file);
        } catch (const Error&) {
            return std::nullopt;
        }
    };
    const auto one = kind(first), other = kind(second);
    if (!one || !other || (one == ModelKind::program) == (other == ModelKind::program)) return {};
    const bool leads = one == ModelKind::program;
    const std::string &script = leads ? first : second, &model = leads ? second : first;
    return "if " + script +
           " decides whether a candidate fails: " + shell_quote(program_words("minify", {model, "--test", script})) +
           (leads ? "; if " + model + " is an argument of " + script + ", put -- before it" : "");
}

}  // namespace

std::string script_path(const fs::path& script) {
    return script.has_parent_path() || fs::exists(script) ? fs::absolute(script).lexically_normal().string()
                                                          : script.string();
}

void MinifyOptions::declare(Tool& tool) {
    tool.positional("MODEL", model,
                    "ONNX model, or a folder with model.onnx; PyTorch export (.pt2); graph (JSON); record; folder "
                    "written by trace; what torch.compile's debug tools write (fx_graph_runnable.py, repro.py, or a "
                    "TORCH_TRACE folder); a folder that contains any of these; or a program that uses Halide. For a "
                    "Halide program, minify finds the scheduling directives that cause the failure; with --slower, it "
                    "finds those that make the program slow. See share/doc/how-to/halide-program.md.");
    tool.after_dashes(arguments, "Arguments of the program.");
    tool.hints_extra(script_hint);
    tool.option("-o,--output", output, "OUT",
                "File for the result. The extension, .json or .onnx, selects the format of the result and of the "
                "candidates. Default: MODEL.min.onnx if MODEL is a .onnx file; otherwise MODEL.min.json. For a "
                "folder of models: folder for the results; default: MODEL.min.");
    declare_judge(tool, *this);
    declare_search(tool, *this);
    inputs.declare(tool);
    tool.section("Folders of models");
    tool.option("--shard", shard, "I/N",
                "Split the models of the folder into N shards, and minimize only the models of shard I (1 to N). "
                "Default: if $GTEST_SHARD_INDEX (0 to N-1) and $GTEST_TOTAL_SHARDS (N) are set, the shard that these "
                "variables select; otherwise all models.");
    tool.option("--html", html, "FILE", "Write an HTML page that lists the distinct bugs in the models of the folder.");
    tool.common("--output --backend --accuracy --test --check --input --timeout --time-limit --jobs --resume");
    tool.exit_one("the model does not fail, the model fails too rarely, or the backend does not support the model");
    tool.files([this] {
        UsedFiles used;
        used.reads(model, inputs);
        used.reads_words({test});
        used.reads_words(check);
        used.reads_words(arguments);
        unnamed_output = output.empty();
        output = minimized_file(model, arguments, output);
        if (!holds_models(model)) used.writes("--output", output);
        used.writes("--html", html);
        return used;
    });
}

void MinifyOptions::check_usage() const {
    passes_of(*this);
    if (!holds_models(model) && (!shard.empty() || html))
        throw Error(std::string(html ? "--html" : "--shard") + " requires a folder of models: '" + model.string() +
                    "' is a single model");
    require_range("--repeat", search.repeat, 1, 1'000'000);
    require_range("--jobs", search.jobs, 1, 1024);
    backend.check();
    if (!backend.name.empty() + !test.empty() + !check.empty() > 1)
        throw Error(
            "found more than one of --backend, --test and --check, expected one: each decides whether a candidate "
            "fails");
    require_with(test_must_fail, "--test-must-fail", !test.empty(), "--test");
    require_with(!which.fail_codes.empty(), "--fail-code", !check.empty(), "--check");
    require_with(!which.ignore_codes.empty(), "--ignore-fail-code", !check.empty(), "--check");
    require_with(!which.fail_pattern.empty(), "--fail-regex", !check.empty(), "--check");
    require_with(which.external_data != "auto", "--external-data", command(), "--test or --check");
    const bool given = accuracy.mode.has_value();
    require_with(!accuracy.rtol.empty(), "--rtol", given, "--accuracy");
    require_with(!accuracy.atol.empty(), "--atol", given, "--accuracy");
    const auto not_with_command = [&](bool of_backend, const char* option) {
        if (of_backend && command())
            throw Error(std::string(option) +
                        " cannot be used with --test or --check, which decide whether a candidate fails");
    };
    not_with_command(given, "--accuracy");
    not_with_command(pace.factor.has_value(), "--slower");
    if (given && pace.factor)
        throw Error("--slower cannot be used with --accuracy: minify looks either for slowness or for wrong results");
    pace.check(backend, search.jobs <= 1 || !launcher.empty());
    not_with_command(!backend.options().empty(), "--backend-option");
    for (const std::int64_t code : which.fail_codes) require_range("--fail-code", static_cast<double>(code), 1, 255);
    for (const std::int64_t code : which.ignore_codes)
        require_range("--ignore-fail-code", static_cast<double>(code), 1, 255);
}

std::vector<LoadedFrame> frames_of(const MinifyOptions& options) {
    const bool unfolded = options.after == "file";
    if (unfolded && recognize(options.model) != ModelKind::onnx)
        throw Error("--after file requires an ONNX model: '" + options.model.string() + "' is not an ONNX model");
    if (unfolded && options.accuracy.exact())
        throw Error("--after file cannot be used with --accuracy=exact, which replaces the weights of the file");
    std::vector<LoadedFrame> frames = read_frames(options, !unfolded);
    if (frames.empty()) throw Error({options.model.string(), {}}, "found no graph in the model");
    return frames;
}

reduce::Request request_of(MinifyOptions options, const LoadedFrame& first) {
    reduce::Request request{.model = options.model, .output = options.output, .how = options.search};
    request.how.passes = passes_of(options);
    if (options.time_limit) request.how.end = std::chrono::steady_clock::now() + *options.time_limit;
    if (!options.command() && options.backend.name.empty()) {  // what it was recorded with, or fails with
        request.stored = first.graph.failure;
        options.backend.default_to(first);
        if (request.stored && !options.backend.name.empty() && request.stored->signature.kind == "mismatch")
            options.accuracy.default_to(request.stored->accuracy);
    }
    if (options.after == "capture" && recognize(options.model) == ModelKind::onnx)
        request.unfolded = [options] { return read_frames(options, false).at(0); };
    if (options.command() || (request.stored && request.stored->backend.empty()))
        request.judge = command_of(options, request.stored);
    else
        request.judge = suspect_of(options);
    if (Suspect* const suspect = std::get_if<Suspect>(&request.judge); suspect && !suspect->slower && request.stored)
        suspect->slower = request.stored->slower;
    return request;
}

}  // namespace whittle::cli
