// explain: what was captured from a model, where capture or a backend stops, and why.
#include <cstdio>
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "cli/backend_choice.h"
#include "cli/model.h"
#include "cli/tool.h"
#include "cli/usage.h"
#include "explain/report.h"
#include "explain/show.h"

namespace {

using namespace whittle;
namespace fs = std::filesystem;

struct Options {
    std::optional<fs::path> model, dot;
    cli::BackendChoice backend;
    cli::InputOptions inputs;
    std::optional<std::string> break_id;
    bool ops = false, guards = false, times = false, recompiles = false;
    bool fullgraph = false, list_backends = false;
};

void declare(cli::Tool& tool, Options& options) {
    tool.positional("MODEL", options.model, "ONNX model, graph (JSON), record, or folder written by trace.", false);
    tool.flag("--ops", options.ops, "Add a table of all operations: how often each is called, and with what results.");
    tool.flag("--guards", options.guards, "Add the guards of each captured graph: when it may be used again.");
    tool.flag("--times", options.times, "Add how long each captured graph took to compile.");
    tool.flag("--recompiles", options.recompiles, "Add every recompile: its guard, how often, and what would stop it.");
    options.backend.declare(tool, "halide");
    tool.flag("--fullgraph", options.fullgraph, "Exit with status 1 when there is a graph break, naming the first.");
    tool.option("--dot", options.dot, "FILE", "Write the graphs as a picture for Graphviz's dot.");
    tool.option("--break", options.break_id, "ID",
                "Say what the break ID (WB0001 …) means and how to avoid it, or 'all' of them, and stop.");
    tool.flag("--list-backends", options.list_backends, "List the backends that exist, and stop.");
    options.inputs.declare(tool);
    tool.example("explain model.onnx --ops", "what model.onnx consists of, and what halide cannot compile");
    tool.example("explain model.onnx --dot m.dot && dot -Tsvg m.dot > m.svg", "a picture of it");
    tool.example("explain model.onnx --backend ./mine.so --fullgraph", "does a backend of your own take all of it?");
    tool.exit_one("with --fullgraph, there is a graph break.");
}

int list(const cli::Tool& tool) {
    const std::vector<BackendInfo> backends = list_backends();
    if (tool.shared().json) {
        nlohmann::json all = nlohmann::json::array();
        for (const BackendInfo& b : backends)
            all.push_back({{"name", b.name}, {"description", b.description}, {"from", b.from}});
        cli::print_json({{"backends", all}});
        return 0;
    }
    std::size_t widest = 0;
    for (const BackendInfo& b : backends) widest = std::max(widest, b.name.size());
    for (const BackendInfo& b : backends)
        std::printf("%-*s  %s\n", static_cast<int>(widest), b.name.c_str(), b.description.c_str());
    return 0;
}

std::vector<explain::Frame> frames_of(const Options& options) {
    const cli::ModelOptions how{.inputs = options.inputs, .keep_unknown = true, .need_inputs = false};
    std::vector<explain::Frame> frames;
    for (cli::LoadedFrame& loaded : cli::load_model(*options.model, how)) {
        explain::Frame frame{.name = loaded.name, .file = loaded.file.string(), .graph = std::move(loaded.graph)};
        for (const Break& b : loaded.breaks) frame.breaks.push_back({b.node, b.reason});
        frames.push_back(std::move(frame));
    }
    return frames;
}

/// What a folder that trace wrote says of the capture.
std::optional<TraceIndex> index_of(const fs::path& model) {
    if (!fs::is_directory(model)) return std::nullopt;
    return load_index(model);
}

int tell_break(const std::string& id) {
    if (id == "all") {
        std::cout << explain::break_catalogue_page();
        return 0;
    }
    const capture::BreakInfo* info = capture::find_break(id);
    if (!info)
        throw Error({"--break", {}}, "found '" + id + "', expected an id from " +
                                         std::string(capture::break_catalogue().front().id) + " to " +
                                         std::string(capture::break_catalogue().back().id) + ", or 'all'");
    std::cout << explain::break_page(*info);
    return 0;
}

int run(const cli::Tool& tool, const Options& options) {
    if (options.list_backends) return list(tool);
    if (options.break_id) return tell_break(*options.break_id);
    if (!options.model) throw Error("found no MODEL, expected one", "see explain --help");
    if (options.dot) cli::never_overwrite("--dot", *options.dot, cli::files_read(*options.model, options.inputs));
    const std::unique_ptr<Backend> backend =
        find_backend(options.backend.name.empty() ? "halide" : options.backend.name);
    const std::vector<explain::Frame> frames = frames_of(options);
    const std::optional<TraceIndex> index = index_of(*options.model);
    const explain::Report report =
        explain::explain(options.model->string(), frames, backend.get(), index ? &*index : nullptr);
    if (options.dot) write_file(*options.dot, explain::to_dot(frames, backend.get()));

    if (tool.shared().json)
        cli::print_json(explain::to_json(report));
    else
        std::cout << explain::to_text(report, {.ops = options.ops,
                                               .guards = options.guards,
                                               .times = options.times,
                                               .recompiles = options.recompiles,
                                               .verbose = tool.shared().verbose,
                                               .color = tool.shared().color_out});
    if (!options.fullgraph || report.break_reasons.empty()) return 0;
    std::cerr << "explain: --fullgraph: found a graph break at " << report.first_break << "\n";
    return 1;
}

}  // namespace

int main(int argc, char** argv) {
    Options options;
    cli::Tool tool("explain", "MODEL",
                   "Says what was captured from a model, where capture or a backend stops, and why.");
    declare(tool, options);
    return cli::run_tool(tool, argc, argv, [&] { return run(tool, options); });
}
