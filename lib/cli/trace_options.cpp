#include "cli/trace_options.h"

#include <algorithm>
#include <iostream>

#include "backends/registry.h"
#include "base/error.h"
#include "base/words.h"
#include "cli/program.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "frontends/pt2/save.h"
#include "graph/abilities.h"
#include "graph/foreign_ops.h"
#include "graph/placement.h"
#include "program/gradients.h"
#include "program/program.h"
#include "report/show.h"
#include "trace/folder.h"

namespace whittle::cli {
namespace fs = std::filesystem;

void RecordOptions::declare(Tool& tool) {
    tool.choice("--record", record, {"always", "on-error", "never"},
                "When to write records: always (default), on-error (runs that fail or give wrong results) or never.");
}

RecordPolicy RecordOptions::records() const {
    return record_policy_called(record).value();  // one of the choices
}

CheckPolicy check_policy_called(const std::string& name) {
    return name == "always" ? CheckPolicy::always : name == "never" ? CheckPolicy::never : CheckPolicy::budget;
}

void RecordOptions::require(const std::string& option, const std::string& why) const {
    if (records() == RecordPolicy::never) throw Error(option + " cannot be used with --record never: " + why);
}

void WholeOptions::declare(Tool& tool) {
    tool.flag_or_choice(
        "--fullgraph", fullgraph, {"breaks", "export"},
        "Exit with status 1 if there is a graph break, and report the first graph break. export: also exit with "
        "status 1 if a graph reads a tensor that is not an argument of the function, or if the program fixes a size "
        "that is marked dynamic.");
}

void GraphOptions::declare(Tool& tool) {
    tool.section("Graphs");
    tool.flag(
        "--joint", joint,
        "Trace each graph as a joint graph, which also computes the gradients of all inputs that require a gradient; "
        "the tangents are small random numbers, the same in each run. For a program: first trace the program without "
        "--joint, then trace the written folder with --joint.");
    tool.option("--write-pt2", pt2, "FILE",
                "Also write the graph, if there is only one, as a PyTorch export for torch.export.load() of PyTorch "
                "2.9 or later.");
}

void GraphOptions::check(const fs::path& model) const {
    if (joint && is_run(recognize(model)))
        throw Error("--joint cannot be used with a " + std::string(name(recognize(model))) +
                    ": trace it without --joint, then trace the folder with --joint");
}

void GraphOptions::apply(const Tool& tool, std::vector<LoadedFrame>& frames) const {
    if (joint) {
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
                std::cerr << tool.called() << ": --joint leaves out " << error.what() << "\n";
                return true;
            }
        });
        if (frames.empty()) throw Error("--joint: found no graph that can be differentiated, expected at least one");
    }
    std::vector<const Graph*> graphs;
    for (LoadedFrame& frame : frames) graphs.push_back(&frame.graph);
    write(graphs);
}

void GraphOptions::write(const std::vector<report::Frame>& frames) const {
    std::vector<const Graph*> graphs;
    for (const report::Frame& frame : frames) graphs.push_back(&frame.graph);
    write(graphs);
}

void GraphOptions::write(std::span<const Graph* const> graphs) const {
    if (!pt2) return;
    if (graphs.size() != 1)
        throw Error({"--write-pt2", {}}, "found " + plural(graphs.size(), "graph") + ", expected one",
                    "for a program, select one with --function NAME; for a folder, give one of its graphs/*.json");
    try {
        if (graphs[0]->dialect == "aten") return pt2::save_pt2(*pt2, *graphs[0]);
        program::CompiledProgram made_of(*graphs[0]);
        pt2::save_pt2(*pt2, made_of.graph(program::Stage::decomposed));
    } catch (const Error& error) {
        if (!error.where().file.empty()) throw;
        throw Error({pt2->string(), {}}, "cannot write it: " + error.message(), error.hint());
    }
}

bool WholeOptions::hold(const Tool& tool, const report::Frame& frame) const {
    if (!fullgraph) return true;
    return tell(tool, report::explain(frame.file, {frame}, nullptr), {frame});
}

bool WholeOptions::hold(const Tool& tool, const TraceIndex& captured, const std::vector<report::Frame>& frames) const {
    if (!fullgraph) return true;
    return tell(tool, report::explain(captured.model, {}, nullptr, &captured), frames);
}

bool WholeOptions::tell(const Tool& tool, const report::Report& report,
                        const std::vector<report::Frame>& frames) const {
    const bool exported = fullgraph == "export";
    const std::vector<std::string> why = report::why_not_whole(report, frames, exported);
    for (const std::string& text : why)
        std::cerr << tool.called() << (exported ? ": --fullgraph=export: " : ": --fullgraph: ") << text;
    return why.empty();
}

namespace {

/// f() of a model; nothing where that throws Error for one of several, which leaves the others as they are.
template <class F>
auto of_one(std::span<const fs::path> models, F&& f) -> std::optional<decltype(f())> {
    try {
        return f();
    } catch (const Error&) {
        if (models.size() == 1) throw;
        return std::nullopt;
    }
}

std::vector<fs::path> files_of(const fs::path& model, std::span<const fs::path> models, const InputOptions& inputs) {
    return of_one(models, [&] { return files_read(model, inputs); }).value_or(std::vector<fs::path>());
}

std::optional<ModelKind> kind_of(const fs::path& model, std::span<const fs::path> models) {
    return of_one(models, [&] { return recognize(model); });
}

/// trace must not write over what it reads.
void check_inputs(std::span<const fs::path> models, const InputOptions& inputs, const fs::path& output) {
    const fs::path folder = fs::weakly_canonical(output);
    for (const fs::path& model : models)
        for (const fs::path& read : files_of(model, models, inputs)) {
            const fs::path inside = fs::weakly_canonical(read).lexically_relative(folder);
            if (!inside.empty() && *inside.begin() != "..")
                throw Error({"--output", {}}, "'" + output.string() + "' holds the input '" + read.string() +
                                                  "', and inputs are never overwritten");
        }
}

void check_together(std::span<const fs::path> models, const InputOptions& inputs) {
    if (models.size() == 1) return;
    if (inputs.given())
        throw Error("--input cannot be used with several models", "trace each model with a command of its own");
    if (kind_of(models[0], models) == ModelKind::program)
        throw Error({models[0].string(), {}}, "unexpected argument '" + models[1].string() + "' after the program",
                    "put -- before the program's arguments: trace " + models[0].string() + " -- " + models[1].string());
    for (const fs::path& model : models)
        if (const auto kind = kind_of(model, models); kind && is_run(*kind))
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

}  // namespace

UsedFiles files_of_trace(std::span<const fs::path> models, const InputOptions& inputs, const ProgramOptions& program,
                         const GraphOptions& graphs) {
    UsedFiles used;
    for (const fs::path& model : models)
        for (fs::path& file : files_of(model, models, inputs)) used.read.push_back(std::move(file));
    used.reads_words(program.arguments);
    used.writes("--write-pt2", graphs.pt2);
    return used;
}

void check_traced(std::span<const fs::path> models, const InputOptions& inputs, const ProgramOptions& program,
                  const fs::path& folder, bool force) {
    check_together(models, inputs);
    check_inputs(models, inputs, folder);
    require_replaceable(folder, program.identities(models), force, takes_others);
    for (const fs::path& model : models)
        if (const auto kind = kind_of(model, models); kind && !is_run(*kind)) program.refuse_for_model(model);
}

ModelsToTrace models_to_trace(std::span<const fs::path> models, const InputOptions& inputs,
                              const BackendChoice& backend, const fs::path& folder) {
    const bool knows_more = offered<ForeignOps>(*find_backend(backend.spec(kReferenceBackend))) != nullptr;
    ModelsToTrace all;
    std::vector<std::vector<LoadedFrame>> read;
    for (const fs::path& model : models) {
        try {
            read.push_back(frames_with_opaque_data(model, {.inputs = inputs, .opaque = knows_more}));
            all.models.push_back(model);
        } catch (const Error& error) {
            if (models.size() == 1) throw;
            all.unread.push_back({model.string(), error});
        }
    }
    TraceIndex index;
    name_models(index, folder, all.models);
    for (std::size_t i = 0; i < read.size(); ++i) {
        const std::string& name = index.models[i].name;
        const bool whole = recognize(all.models[i]) != ModelKind::trace;
        for (LoadedFrame& frame : read[i]) {
            if (whole) frame.graph.name = read[i].size() > 1 ? name + "_" + frame.name : name;
            if (models.size() > 1) frame.name = whole ? name : name + "/" + frame.name;
            all.frames.push_back(std::move(frame));
        }
    }
    return all;
}

}  // namespace whittle::cli
