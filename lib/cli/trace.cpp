#include "cli/trace.h"

#include <algorithm>
#include <iostream>
#include <nlohmann/json.hpp>
#include <span>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/words.h"
#include "cli/environment.h"
#include "cli/messages.h"
#include "cli/minify.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "compile/gradients.h"
#include "compile/program.h"
#include "frontends/halide/recording.h"
#include "frontends/pt2/save.h"
#include "graph/placement.h"
#include "record/launch/trace.h"
#include "report/show.h"
#include "report/subject.h"
#include "trace/folder.h"

namespace whittle::cli {
namespace fs = std::filesystem;

namespace {

/// f() of a model; nothing where that throws Error for one of several, which leaves the others as they are.
template <class F>
auto of_one(const TraceOptions& options, F&& f) -> std::optional<decltype(f())> {
    try {
        return f();
    } catch (const Error&) {
        if (options.models.size() == 1) throw;
        return std::nullopt;
    }
}

std::vector<fs::path> files_of(const fs::path& model, const TraceOptions& options) {
    return of_one(options, [&] { return files_read(model, options.inputs); }).value_or(std::vector<fs::path>());
}

std::optional<ModelKind> kind_of(const fs::path& model, const TraceOptions& options) {
    return of_one(options, [&] { return recognize(model); });
}

/// One program or TorchScript module, which stands alone.
bool runs_program(const TraceOptions& options) {
    return options.models.size() == 1 && is_run(recognize(options.models[0]));
}

/// trace must not write over what it reads.
void check_inputs(const TraceOptions& options) {
    const fs::path folder = fs::weakly_canonical(options.output);
    for (const fs::path& model : options.models)
        for (const fs::path& read : files_of(model, options)) {
            const fs::path inside = fs::weakly_canonical(read).lexically_relative(folder);
            if (!inside.empty() && *inside.begin() != "..")
                throw Error({"--output", {}}, "'" + options.output.string() + "' holds the input '" + read.string() +
                                                  "', and inputs are never overwritten");
        }
}

void check_together(const TraceOptions& options) {
    const std::vector<fs::path>& models = options.models;
    if (models.size() == 1) return;
    if (options.inputs.given())
        throw Error("--input cannot be used with several models", "trace each model with a separate command");
    if (kind_of(models[0], options) == ModelKind::program)
        throw Error({models[0].string(), {}}, "unexpected argument '" + models[1].string() + "' after the program",
                    "put -- before the program's arguments: trace " + models[0].string() + " -- " + models[1].string());
    for (const fs::path& model : models)
        if (const auto kind = kind_of(model, options); kind && is_run(*kind))
            throw Error({model.string(), {}},
                        "a " + std::string(name(*kind)) + " cannot be traced together with other models");
}

/// Whether the file can be traced together with others: it is there, and is not run.
bool takes_others(const fs::path& model) {
    try {
        return !is_run(recognize(model));
    } catch (const Error&) {
        return false;
    }
}

RecordPolicy records_of(const TraceOptions& options) {
    return record_policy_called(options.record).value();  // one of the choices
}

bool holds_opaque_data(const LoadedFrame& frame) {
    return std::ranges::any_of(frame.graph.nodes, [](const Node& node) {
        return std::ranges::any_of(node.results, [](const ValueMeta& meta) { return is_opaque(meta); });
    });
}

/// load_model(); of a model with strings or int4 numbers, whose ops Whittle cannot describe, these are kept as data,
/// and results of unknown type.
std::vector<LoadedFrame> frames_with_opaque_data(const fs::path& model, ModelOptions options) {
    try {
        return load_model(model, options);
    } catch (const Error&) {
        options.keep_unknown = true;
        std::vector<LoadedFrame> frames = load_model(model, options);
        if (std::ranges::none_of(frames, holds_opaque_data)) throw;
        return frames;
    }
}

/// Makes the frames joint graphs, with their gradients; what results are expected of a file was about the captured
/// graph. Of several graphs, those that cannot be differentiated are reported on stderr and left out. Throws Error
/// where that leaves none.
void differentiate(const Tool& tool, std::vector<LoadedFrame>& frames) {
    const bool alone = frames.size() == 1;
    std::erase_if(frames, [&](LoadedFrame& frame) {
        try {
            program::Part part = program::joint_of(frame.graph, frame.inputs);
            frame.graph = std::move(part.graph);
            frame.inputs = std::move(part.inputs);
            frame.expected.clear();
            frame.expected_from.clear();
            return false;
        } catch (const Error& error) {
            if (alone) throw;
            std::cerr << tool.called() << ": --joint skips a graph: " << error.what() << "\n";
            return true;
        }
    });
    if (frames.empty()) throw Error("--joint: found no graph that can be differentiated, expected at least one");
}

/// Writes the one graph as PyTorch's export, where that is asked for. Throws Error where there are several.
template <class Frame>
void write_pt2(const TraceOptions& options, const std::vector<Frame>& frames) {
    if (!options.pt2) return;
    if (frames.size() != 1)
        throw Error(
            {"--write-pt2", {}}, "found " + plural(frames.size(), "graph") + ", expected one graph",
            "for a program, select one graph with --function NAME; for a folder, pass one of the files in graphs/");
    const Graph& graph = frames[0].graph;
    try {
        if (graph.dialect == "aten") return pt2::save_pt2(*options.pt2, graph);
        pt2::save_pt2(*options.pt2, program::CompiledProgram(graph).graph(program::Stage::decomposed));
    } catch (const Error& error) {
        if (!error.where().file.empty()) throw;
        throw Error({options.pt2->string(), {}}, "cannot write the graph as a PyTorch export: " + error.message(),
                    error.hint());
    }
}

/// Where the suspect fails: with --minify all the way to a repro, else the command that makes it small. The records say
/// which backend it was.
void follow_traced(const Tool& tool, const TraceOptions& options, const fs::path& model, const Traced& traced,
                   std::ostream& report, nlohmann::json& json) {
    MinifyOptions asked{options, options.output, options.output / "minimized.json"};
    asked.inputs = {};                                  // records have their own
    if (traced.only_file()) {                           // what was recorded does not fail
        if (traced.wrong() && !options.minify) return;  // parts of a file are judged by how they end
        asked.model = model;
        asked.output = options.output / "minimized.onnx";
        asked.inputs = options.inputs;
        follow_up(tool, of_file(options.minify, std::move(asked)), report, json);
        return;
    }
    const bool recorded = records_of(options) != RecordPolicy::never, wrong = traced.wrong();
    std::string next = recorded ? minify_command(options.output, wrong, {.limits = options.limits})
                                : minify_command(model, wrong, options);
    follow_up(tool, {.minify = options.minify, .next = std::move(next), .asked = std::move(asked)}, report, json);
}

/// The last operations, in a ring that needs to have room for a few large ones only, for as long as the program runs.
void record_last(const TraceOptions& options, ProgramRequest& program) {
    constexpr std::int64_t kRingMegabytes = 256;
    const CaptureSettings settings = options.program.capture();
    program.last = static_cast<std::size_t>(*options.last);
    program.until_nan = options.until == "nan";
    program.limit_mb = settings.limit_mb.value_or(kRingMegabytes);
    program.limit_seconds = settings.seconds.value_or(0);
    program.save_every = 0;  // what is in the ring by then would be of no interest
}

/// The program's stdout stays its own: what we have to say goes to stderr, and the exit status is the program's.
int trace_program(const Tool& tool, const TraceOptions& options, TraceRequest request) {
    const TempDir halide("whittle-trace");
    if (request.records == RecordPolicy::always && recognize(options.models[0]) == ModelKind::program &&
        halide_program::Recording::installed())
        request.halide = halide.path();
    remove_trace(options.output);  // the program may write its own
    ProgramRequest program = options.program.request(tool, options.models[0], options.inputs);
    program.backend = options.backend.name;
    if (options.last) record_last(options, program);
    const RanProgram ran = run_to_trace(program, request);
    if (options.last && ran.own)
        throw Error({ran.identity().string(), {}},
                    "found a program that uses Whittle's API, expected a program that uses LibTorch: --last records "
                    "operations of LibTorch");
    const Traced traced = whittle::trace(ran, request);
    const std::vector<report::Frame> graphs = report::graphs_of(ran);
    write_pt2(options, graphs);
    for (const std::string& line : to_lines(traced, tool.shared().quiet))
        std::cerr << tool.called() << ": " << line << "\n";
    if (!tool.shared().quiet)
        for (const std::string& line : ran.last) std::cerr << tool.called() << ": " << line << "\n";
    nlohmann::json json = to_json(traced);
    if (!ran.last.empty()) json["last"] = ran.last;
    if (traced.minifiable()) follow_traced(tool, options, options.models[0], traced, std::cerr, json);
    if (tool.shared().json) print_json(json);
    const bool failed = traced.minifiable() && ran.good();
    return is_whole(tool, options, traced.index.model, graphs, &traced.index) && !failed ? end_as(ran) : 1;
}

/// The first model that fails. Of several, each frame is named after its model.
fs::path failing_model(const Traced& traced, const std::vector<fs::path>& models) {
    if (models.size() == 1) return models[0];
    const JudgedFrame fails = with_verdict(traced.all_judged(), Verdict::fails).at(0);
    const std::string name = fails.name.substr(0, fails.name.find('/'));
    const auto model = std::ranges::find(traced.index.models, name, &IndexModel::name);
    return models.at(static_cast<std::size_t>(model - traced.index.models.begin()));
}

int trace_models(const Tool& tool, const TraceOptions& options, TraceRequest request) {
    const bool in_json = tool.shared().json, quiet = tool.shared().quiet;
    bool whole = true;
    TraceObserver observer;
    observer.before = [&](const LoadedFrame& frame) {
        if (!whole) return;
        const std::string file = frame.file.string();
        std::vector<report::Frame> shown;
        shown.push_back(
            {.name = frame.name, .file = file, .graph = frame.graph, .breaks = frame.breaks, .unknown = frame.unknown});
        whole = is_whole(tool, options, file, shown);
    };
    observer.after = [&](const TracedFrame& traced) {
        if (!in_json && !(quiet && is_good(traced))) std::cout << to_text(traced, options.output);
    };
    observer.failed = [&](const Error& error) { report_error(tool, error); };
    ModelsToTrace read = models_to_trace(options);
    for (const NotTraced& one : read.unread) observer.failed(one.error);
    if (!read.frames.empty()) {
        if (options.joint) differentiate(tool, read.frames);
        write_pt2(options, read.frames);
    }
    request.models = read.models;
    Traced traced = whittle::trace(read.frames, request, observer);
    traced.not_traced.insert(traced.not_traced.begin(), read.unread.begin(), read.unread.end());
    nlohmann::json json = to_json(traced);
    std::ostream& report = in_json ? std::cerr : std::cout;
    report << not_traced_text(traced);
    if (traced.minifiable())
        follow_traced(tool, options, failing_model(traced, read.models), traced, report, json);
    else if (!in_json && !quiet)
        std::cout << next_replay(traced);
    if (in_json) print_json(json);
    if (!traced.not_traced.empty()) return 2;
    return whole && traced.good() ? 0 : 1;
}

}  // namespace

void TraceOptions::declare(Tool& tool) {
    tool.positional("MODEL", models,
                    std::string(kModelHelp) +
                        " If several models are given, trace writes all models to one folder, each model under the "
                        "name of the model's file. "
                        "If a model cannot be read, trace reports the model and traces the others. Only one "
                        "program or TorchScript module can be traced at a time.");
    tool.option("-o,--output", output, "DIR",
                "Folder to write. trace replaces an earlier trace of the same models in this folder, and keeps all "
                "other files. Default: whittle-out.");
    tool.flag("--force", force, "Also replace a trace of other models in DIR.");
    tool.choice("--record", record, {"always", "on-error", "never"},
                "When to write records. always (default): for each run. on-error: for runs that fail or give wrong "
                "results. never: for no run.");
    tool.flag_or_choice(
        "--fullgraph", fullgraph, {"breaks", "export"},
        "Exit with status 1 if there is a graph break, and report the first graph break. export: also exit with status "
        "1 if torch.export would refuse a graph, because the graph reads a tensor that is not an argument of the "
        "function, or needs a fixed value for a size that is marked dynamic.");
    tool.flag("--minify", minify,
              "If the backend fails, minimize the failure, and write the minimized graph and a verified repro to DIR.");
    tool.flag("--hashes", hashes,
              "For a program: do not write graphs and records, but a hash and sums of the elements of each result. "
              "'explain diff --values' compares two such folders, and names the first operation that differs.");
    tool.option("--repeat", repeat, "N",
                "With --hashes: run the program N times, and exit with status 1 if the results of a run differ from "
                "those of the first run.");
    tool.option(
        "--last", last, "N",
        "Flight recorder for a program that uses LibTorch: keep only the last N operations and their data. If the "
        "program crashes, these operations are still on disk. The recording takes 256 MB on disk; --capture limit=MB "
        "changes this size.");
    tool.choice(
        "--until", until, {"nan", "end"},
        "With --last: where the recording ends. nan (default): at the first operation whose result has a NaN, or "
        "at the end of the program if no result has a NaN. end: at the end of the program.");
    tool.section("Graphs");
    tool.flag("--joint", joint,
              "Trace each graph as a joint graph: a graph that also computes the gradients of all inputs that require "
              "a gradient. The gradients of the outputs (tangents) are small random numbers, the same in each run. For "
              "a program: first trace the program without --joint, then trace the written folder with --joint.");
    tool.option("--write-pt2", pt2, "FILE",
                "Also write the graph as a PyTorch export, which torch.export.load() of PyTorch 2.9 or later can read. "
                "The trace must have only one graph.");
    backend.declare(tool, "eager, the reference");
    inputs.declare(tool);
    program.declare(tool);
    limits.declare(tool, kLimited);
    tool.common("--output --force --input --backend --minify --fullgraph --record --function --compile --capture");
    tool.exit_one(
        "the results differ from the given outputs, or the backend failed; with --fullgraph: there is a graph break; "
        "with --repeat: the runs differ. If a traced program fails, trace exits with the exit status of the program");
    tool.files([this] {
        UsedFiles used;
        for (const fs::path& model : models)
            for (fs::path& file : files_of(model, *this)) used.read.push_back(std::move(file));
        used.reads_words(program.arguments);
        used.writes("--write-pt2", pt2);
        return used;
    });
}

void require_run(const TraceOptions& options, const std::string& option) {
    if (runs_program(options)) return;
    const std::size_t count = options.models.size();
    throw Error({options.models.at(0).string(), {}},
                "found " +
                    (count == 1 ? "one " + std::string(name(recognize(options.models[0]))) : plural(count, "model")) +
                    ", expected one program or TorchScript module: " + option + " records a run");
}

void TraceOptions::check_usage() const {
    if (last && *last < 1) throw Error({"--last", {}}, "found " + std::to_string(*last) + ", expected at least 1");
    if (last && hashes) throw Error("--last cannot be used with --hashes, because --hashes records no data");
    if (last) require_run(*this, "--last");
    if (!last && until != "nan") throw Error("--until needs --last");
    if (minify && records_of(*this) == RecordPolicy::never)
        throw Error("--minify cannot be used with --record never, because --minify minimizes the records");
    if (joint && runs_program(*this))
        throw Error("--joint cannot be used with a " + std::string(name(recognize(models[0]))) +
                    ": first run trace without --joint, then run trace --joint on the written folder");
    check_together(*this);
    check_usage_of_hashes(*this);
    check_inputs(*this);
    require_replaceable(output, program.identities(models), force, takes_others);
    for (const fs::path& model : models)
        if (const auto kind = kind_of(model, *this); kind && !is_run(*kind)) program.refuse_for_model(model);
}

ModelsToTrace models_to_trace(const TraceOptions& options) {
    ModelsToTrace all;
    std::vector<std::vector<LoadedFrame>> read;
    for (const fs::path& model : options.models) {
        try {
            read.push_back(frames_with_opaque_data(model, {.inputs = options.inputs}));
            all.models.push_back(model);
        } catch (const Error& error) {
            if (options.models.size() == 1) throw;
            all.unread.push_back({model.string(), error});
        }
    }
    TraceIndex index;
    name_models(index, options.output, all.models);
    for (std::size_t i = 0; i < read.size(); ++i) {
        const std::string& name = index.models[i].name;
        const bool whole = recognize(all.models[i]) != ModelKind::trace;
        for (LoadedFrame& frame : read[i]) {
            if (whole) frame.graph.name = read[i].size() > 1 ? name + "_" + frame.name : name;
            if (options.models.size() > 1) frame.name = whole ? name : name + "/" + frame.name;
            all.frames.push_back(std::move(frame));
        }
    }
    return all;
}

bool is_whole(const Tool& tool, const TraceOptions& options, const std::string& model,
              const std::vector<report::Frame>& frames, const TraceIndex* captured) {
    if (!options.fullgraph) return true;
    const bool exported = options.fullgraph == "export";
    const report::Report report =
        report::explain(model, captured ? std::vector<report::Frame>() : frames, nullptr, captured);
    const std::vector<std::string> why = report::why_not_whole(report, frames, exported);
    for (const std::string& text : why)
        std::cerr << tool.called() << (exported ? ": --fullgraph=export: " : ": --fullgraph: ") << text;
    return why.empty();
}

int trace(const Tool& tool, const TraceOptions& options) {
    options.check_usage();
    const TraceLock lock(options.output);
    options.backend.check();  // what is wrong with it is told before anything runs
    const Suspect suspect = options.suspect(kReferenceBackend);
    const TraceRequest request{.folder = options.output,
                               .models = options.program.identities(options.models),
                               .suspect = suspect,
                               .records = records_of(options),
                               .check = options.program.capture().check,
                               .environment = environment(suspect.spec, suspect.options),
                               .load = [](const fs::path& folder) { return load_model(folder, {}); }};
    if (options.hashes) return trace_hashes(tool, options, request);
    return runs_program(options) ? trace_program(tool, options, request) : trace_models(tool, options, request);
}

}  // namespace whittle::cli
