#include "run/launched.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "graph/json.h"
#include "graph/json_text.h"
#include "run/outcome_message.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr const char *kGraph = "graph.json", *kQuery = "query.json", *kAnswer = "answer";

void write_query(const fs::path& folder, const Graph& graph, std::span<const Tensor> inputs, const std::string& backend,
                 const BackendOptions& options, const Limits& limits) {
    Graph query = graph;
    Failure& failure = query.failure.emplace();
    failure.backend = backend;
    failure.options = options;
    failure.inputs.assign(inputs.begin(), inputs.end());
    save_graph(query, folder / kGraph);
    json settings = {{"timeout_ms", limits.timeout.count()}, {"memory", limits.memory}};
    if (limits.cpu) settings["cpu_s"] = limits.cpu->count();
    write_file(folder / kQuery, settings.dump() + '\n');
}

Limits read_limits(const fs::path& file) {
    try {
        const json settings = json::parse(read_file(file));
        Limits limits;
        limits.timeout = std::chrono::milliseconds(settings.at("timeout_ms").get<std::int64_t>());
        limits.memory = settings.at("memory").get<std::size_t>();
        if (settings.contains("cpu_s")) limits.cpu = std::chrono::seconds(settings.at("cpu_s").get<std::int64_t>());
        return limits;
    } catch (const json::exception& error) {
        throw Error({file.string(), {}}, std::string("found no query: ") + error.what());
    }
}

}  // namespace

Outcome run_launched(const Graph& graph, std::span<const Tensor> inputs, const std::string& backend,
                     const BackendOptions& options, const Limits& limits, const Launcher& launcher) {
    const TempDir folder("whittle-query");
    write_query(folder.path(), graph, inputs, backend, options, limits);
    std::vector<std::string> argv = launcher.prefix;
    argv.insert(argv.end(), launcher.answer.begin(), launcher.answer.end());
    argv.push_back(folder.path().string());
    const ProcessResult process =
        run_process(argv, {.timeout = limits.timeout + kLaunchTime, .remove_if_killed = folder.path()});
    std::error_code ignored;
    if (fs::exists(folder.path() / kAnswer, ignored))
        if (std::optional<Outcome> outcome = decode(read_file(folder.path() / kAnswer))) return *outcome;
    std::string said = process.err.empty() ? process.out : process.err;
    while (said.ends_with('\n')) said.pop_back();
    throw Error({"--launcher", {}},
                "found no answer in the query's folder after '" + shell_quote(argv) + "' " +
                    (process.signal ? "was killed by " + signal_name(process.signal)
                                    : "exited with " + std::to_string(process.exit_code)) +
                    (said.empty() ? "" : ": " + as_line(said, 500)),
                "both sides must see $TMPDIR and the program under the same names");
}

void answer_query(const fs::path& folder) {
    const Graph graph = load_graph(folder / kGraph);
    if (!graph.failure)
        throw Error({(folder / kGraph).string(), {}},
                    "found a graph alone, expected a query that a launcher was given");
    const Limits limits = read_limits(folder / kQuery);
    const std::unique_ptr<Backend> backend = find_backend(graph.failure->backend);
    write_file(folder / kAnswer,
               encode(run_isolated(graph, graph.failure->inputs, *backend, graph.failure->options, limits)));
}

}  // namespace whittle
