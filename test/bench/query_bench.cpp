// What a query of minify costs on a backend that is a worker, beside what its compiler takes of that.
//   query_bench FOLDER MODEL…       FOLDER: of a backend (share/doc/reference/backends.md, A worker by name); run
//   through
//                                   scripts/bench backend --queries
// A query is all that minify does for an answer: passes, the model's file, the question, its outputs read and judged.
// The worker is asked the same by itself, in turn, and says what its compiler took. Exit 1: a query costs more than 20
// ms beside the compiler.
#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <nlohmann/json.hpp>

#include "backends/command/exchange.h"
#include "backends/command/worker_process.h"
#include "backends/described.h"
#include "backends/registry.h"
#include "base/error.h"
#include "frontends/onnx/load.h"
#include "judge/suspect.h"
#include "ops/core/interpreter.h"

namespace {

using namespace whittle;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kRounds = 15;
constexpr double kMost = 20;  ///< ms

double now_ms() {
    return std::chrono::duration<double, std::milli>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

double median(std::vector<double> values) {
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    return *middle;
}

/// The worker by itself.
class Worker {
  public:
    Worker(const DescribedBackend& described, const Graph& graph, std::span<const Tensor> inputs)
        : pool_(described.worker), held_(pool_.take({})), folder_(pool_.new_folder()) {
        const ModelNames names = write_model(graph, true, folder_);
        write_inputs(inputs, folder_);
        const auto list = [&](const char* key, const std::vector<NodeId>& ids, const std::vector<std::string>& named) {
            for (std::size_t i = 0; i < ids.size(); i++)
                question_[key].push_back({{"name", named.at(i)},
                                          {"dtype", std::string(name(graph.node({ids[i]}).meta().dtype))},
                                          {"shape", graph.node({ids[i]}).meta().sizes}});
        };
        question_ = {{"folder", folder_.string()}, {"model", "model.onnx"}};
        list("inputs", graph.placeholders(), names.inputs);
        list("outputs", graph.outputs(), names.outputs);
    }
    double compiler_ms() {
        std::string stage;
        const auto answer = held_.worker->ask(question_, std::chrono::minutes(2), stage);
        const auto* said = std::get_if<json>(&answer);
        if (!said || !said->contains("compiler_ms")) throw Error("the worker: " + (said ? said->dump() : "no answer"));
        return said->at("compiler_ms").get<double>();
    }

  private:
    WorkerPool pool_;
    WorkerPool::Held held_;
    fs::path folder_;
    json question_;
};

std::vector<Tensor> zeros(const Graph& graph) {
    std::vector<Tensor> inputs;
    for (const NodeId id : graph.placeholders())
        inputs.emplace_back(graph.node({id}).meta().dtype, graph.node({id}).meta().sizes);
    return inputs;
}

/// Whether the model's queries are as cheap as they should be.
bool measure(const DescribedBackend& described, Backend& backend, const fs::path& path) {
    const Graph graph = load_onnx(fs::is_directory(path) ? path / "model.onnx" : path, {});
    const std::vector<Tensor> inputs = zeros(graph), expected = evaluate(graph, inputs);
    const Suspect suspect{.spec = BackendSpec(described.name), .tier = Tier::computes};
    Worker worker(described, graph, inputs);
    std::vector<double> queries, compiler;
    std::string said;
    for (int round = 0; round <= kRounds; round++) {
        const double begin = now_ms();
        const Outcome outcome = query(graph, inputs, expected, backend, suspect);
        const double took = now_ms() - begin, of_compiler = outcome.failed() ? 0 : worker.compiler_ms();
        if (outcome.failed()) said = std::string(name(outcome.kind)) + ": " + outcome.message;
        if (round > 0) queries.push_back(took), compiler.push_back(of_compiler);  // the first starts the worker
    }
    const double beside = median(queries) - median(compiler);
    const bool held = beside <= kMost;
    std::printf("%-20s %9.1f %9.1f %9.1f  %s\n", (path.has_filename() ? path : path.parent_path()).filename().c_str(),
                median(queries), median(compiler), beside,
                !said.empty() ? said.c_str()
                : held        ? "held"
                              : "MISSED");
    std::fflush(stdout);
    return held || !said.empty();
}

}  // namespace

int main(int argc, char** argv) try {
    if (argc < 2) throw Error("expected FOLDER MODEL…");
    const DescribedBackend described = read_described_backend(argv[1]);
    expect_installed(described);
    const auto backend = find_backend(BackendSpec(described.name));
    std::printf("%s: milliseconds of a query, medians of %d\n%-20s %9s %9s %9s  at most %g\n", described.name.c_str(),
                kRounds, "model", "query", "compiler", "beside", kMost);
    bool held = true;
    for (int i = 2; i < argc; i++) held &= measure(described, *backend, argv[i]);
    return held ? 0 : 1;
} catch (const std::exception& error) {
    std::cerr << "query_bench: error: " << error.what() << "\n";
    return 2;
}
