// Kernels and models on the backends eager and halide beside ONNX Runtime, all in one run, interleaved.
//   backend_bench [--json FILE] [--threads N] [--seconds S] [--dynamic] [--avx2] [--roofline] [--onnxruntime FOLDER]
//   CASE…
// run through scripts/bench backend
// CASE: CLASS.NAME.txt, a graph of ONNX's ops whose inputs are filled at random (%w… are weights, unless --dynamic), or
// a model.onnx, or a folder with one.
#include <malloc.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>

#include "backends/command/exchange.h"
#include "backends/command/worker_process.h"
#include "backends/described.h"
#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "compile/compile.h"
#include "frontends/onnx/load.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "replay/profile.h"
#include "report/show.h"

namespace {

using namespace whittle;
using nlohmann::json;
namespace fs = std::filesystem;

constexpr int kRounds = 5;

double now() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

struct Settings {
    std::string json_file;
    int threads = 1;
    double seconds = 0.05;  ///< of a backend's turn in a round
    bool dynamic = false, roofline = false;
    fs::path onnxruntime;
    std::vector<fs::path> cases;
};

Tensor random_tensor(const ValueMeta& meta, std::mt19937& engine) {
    Tensor tensor(meta.dtype, meta.sizes);
    std::uniform_real_distribution<float> uniform(-1, 1);
    if (meta.dtype == DType::f32)
        for (std::int64_t i = 0; i < tensor.numel(); i++) tensor.mutable_data<float>()[i] = uniform(engine);
    if (meta.dtype == DType::i64)  // tokens
        for (std::int64_t i = 0; i < tensor.numel(); i++)
            tensor.mutable_data<std::int64_t>()[i] = static_cast<std::int64_t>(engine() % 2);
    return tensor;
}

struct Case {
    std::string name, kind;
    Graph graph;
    std::vector<Tensor> inputs;
};

/// Placeholders that are called w… become attributes: weights that a compiler may pack.
Graph with_weights(Graph graph, std::mt19937& engine) {
    for (Node& node : graph.nodes) {
        if (node.kind != NodeKind::placeholder || !node.name.starts_with("w")) continue;
        node.kind = NodeKind::get_attr;
        node.target = node.name;
        graph.attributes[node.target] = random_tensor(node.meta(), engine);
    }
    return graph;
}

Case load_case(const fs::path& path, bool dynamic) {
    std::mt19937 engine(7);
    Case result;
    if (path.extension() == ".txt") {
        const std::string stem = path.stem();
        result.kind = stem.substr(0, stem.find('.')), result.name = stem.substr(stem.find('.') + 1);
        result.graph = parse(read_file(path));
        if (!dynamic) result.graph = with_weights(std::move(result.graph), engine);
    } else {
        const fs::path file = fs::is_directory(path) ? path / "model.onnx" : path;
        result.kind = "model", result.name = fs::is_directory(path) ? path.filename() : path.stem();
        result.graph = load_onnx(file, {});
    }
    for (const NodeId id : result.graph.placeholders())
        result.inputs.push_back(random_tensor(result.graph.node({id}).meta(), engine));
    return result;
}

/// The best time of a call, in milliseconds, of calls for some seconds.
double best_of(double seconds, const std::function<void()>& call) {
    double best = INFINITY;
    for (const double end = now() + seconds; best == INFINITY || now() < end;) {
        const double begin = now();
        call();
        best = std::min(best, 1e3 * (now() - begin));
    }
    return best;
}

/// One of our backends.
struct Runner {
    std::unique_ptr<Backend> backend;
    std::unique_ptr<Executable> executable;
    double compile_ms = 0, best_ms = INFINITY;
    std::string failure;
    Values outputs;

    Runner(const std::string& name, const Case& of, const BackendOptions& options = {})
        : backend(find_backend(BackendSpec(name))) {
        if (WarmUp* const warm = offered<WarmUp>(*backend)) warm->warm_up();
        const double begin = now();
        auto compiled = program::compile(*backend, of.graph, options);
        compile_ms = 1e3 * (now() - begin);
        if (const auto* failed = std::get_if<BackendFailure>(&compiled)) failure = failed->message;
        if (auto* ready = std::get_if<std::unique_ptr<Executable>>(&compiled)) executable = std::move(*ready);
        if (executable) run(of);
    }
    void run(const Case& of) {
        RunResult result = executable->run(of.inputs);
        if (const auto* failed = std::get_if<BackendFailure>(&result)) failure = failed->message, executable.reset();
        if (auto* values = std::get_if<Values>(&result)) outputs = std::move(*values);
    }
    void turn(const Case& of, double seconds) {
        if (executable) best_ms = std::min(best_ms, best_of(seconds, [&] { executable->run(of.inputs); }));
    }
};

/// ONNX Runtime's worker, asked to repeat its run.
class Peer {
  public:
    explicit Peer(const fs::path& folder)
        : pool_([&] {
              const DescribedBackend described = read_described_backend(folder);
              expect_installed(described);
              return described.worker;
          }()),
          held_(pool_.take({})) {}

    void give(const Case& of) {
        folder_ = pool_.new_folder();
        write_model(of.graph, true, folder_);
        write_inputs(of.inputs, folder_);
        best_ms = INFINITY;
    }
    void turn(double seconds, int threads) {
        std::string stage;
        const auto answer = held_.worker->ask({{"folder", folder_.string()},
                                               {"model", "model.onnx"},
                                               {"options", {{"threads", std::to_string(threads)}}},
                                               {"repeat_seconds", seconds}},
                                              std::chrono::minutes(2), stage);
        const auto* said = std::get_if<json>(&answer);
        if (!said || !said->contains("best_ms")) throw Error("onnxruntime: " + (said ? said->dump() : "no answer"));
        best_ms = std::min(best_ms, said->at("best_ms").get<double>());
    }
    RunResult outputs(std::size_t count) const { return read_outputs(folder_ / "outputs.safetensors", count); }
    double best_ms = INFINITY;

  private:
    WorkerPool pool_;
    WorkerPool::Held held_;
    fs::path folder_;
};

/// The largest difference, relative to the largest value.
double distance(const Values& got, const RunResult& expected) {
    const auto* right = std::get_if<Values>(&expected);
    if (!right || right->size() != got.size()) return INFINITY;
    double most = 0;
    for (std::size_t i = 0; i < got.size(); i++) {
        const auto a = got[i].values<double>(), b = right->at(i).values<double>();
        if (a.size() != b.size()) return INFINITY;
        double largest = 1e-30, difference = 0;
        for (std::size_t k = 0; k < a.size(); k++) {
            largest = std::max(largest, std::fabs(b[k]));
            difference = std::max(difference, std::fabs(a[k] - b[k]));
        }
        most = std::max(most, difference / largest);
    }
    return most;
}

double anonymous_kb() {
    std::ifstream status("/proc/self/status");
    for (std::string line; std::getline(status, line);)
        if (line.starts_with("RssAnon:")) return std::stod(line.substr(line.find(':') + 1));
    return NAN;
}

/// Megabytes that a process has more once it has loaded the kernels, which are cached, and run them twice: their code,
/// packed weights, and all the values of a run, whose memory is kept. The graph's weights and inputs are there before.
double memory_mb(const Case& of) {
    const ForkedAnswer asked = ask_forked([&] {
        malloc_trim(0);  // what earlier cases left would be taken again
        const double before = anonymous_kb();
        Runner runner("halide", of);
        if (runner.executable) runner.run(of);
        return std::to_string((anonymous_kb() - before) / 1024);
    });
    return asked.process.good() ? std::stod(asked.answer) : NAN;
}

/// Beside `peer`, or, where there is none, by itself: then the error is the distance from eager.
json measure(const Case& of, Peer* peer, const Settings& settings) {
    Runner halide("halide", of), eager("eager", of);
    const Runner cached("halide", of), quick("halide", of, offered<Tiered>(*halide.backend)->quick({}));
    if (peer) peer->give(of);
    for (int round = 0; round < kRounds; round++) {
        if (peer) peer->turn(settings.seconds, settings.threads);
        halide.turn(of, settings.seconds);
        if (round == 0) eager.turn(of, settings.seconds / 5);
    }
    const double peer_ms = peer ? peer->best_ms : NAN;
    json row{{"kind", of.kind},
             {"name", of.name},
             {"eager_ms", eager.best_ms},
             {"halide_ms", halide.best_ms},
             {"compile_ms", halide.compile_ms},
             {"quick_compile_ms", quick.compile_ms},
             {"cached_compile_ms", cached.compile_ms},
             {"memory_mb", memory_mb(of)},
             {"alive_mb", static_cast<double>(memory_by_liveness(of.graph).peak) / (1 << 20)}};
    if (peer) row["onnxruntime_ms"] = peer_ms;
    if (!halide.failure.empty()) row["failure"] = halide.failure;
    if (halide.executable)
        row["error"] = distance(halide.outputs, peer ? peer->outputs(halide.outputs.size()) : RunResult(eager.outputs));
    std::printf("%-10s %-24s %11.3f %9.3f %9.3f %7.2f %8.0f %7.0f %7.1f %6.1f %6.1f %9.1e  %s\n", of.kind.c_str(),
                of.name.c_str(), peer_ms, eager.best_ms, halide.best_ms, peer_ms / halide.best_ms, halide.compile_ms,
                quick.compile_ms, cached.compile_ms, row["memory_mb"].get<double>(), row["alive_mb"].get<double>(),
                row.value("error", NAN), halide.failure.c_str());
    std::fflush(stdout);
    return row;
}

/// Of halide's kernels, beside what this machine allows; the slowest first.
void print_roofline(const Case& of) {
    const auto backend = find_backend(BackendSpec("halide"));
    Profile measured = profile(of.graph, of.inputs, *backend, {}, {});
    measured.spans.clear(), measured.memory.clear(), measured.graphs.clear();
    std::printf("\n%s\n", report::to_text(measured, {.verbose = true}).c_str());
    std::fflush(stdout);
}

Settings settings_from(int argc, char** argv) {
    Settings settings;
    for (int i = 1; i < argc; i++) {
        const std::string word = argv[i];
        const auto value = [&] {
            if (++i == argc) throw Error(word + " needs a value");
            return std::string(argv[i]);
        };
        if (word == "--json")
            settings.json_file = value();
        else if (word == "--threads")
            settings.threads = std::stoi(value());
        else if (word == "--seconds")
            settings.seconds = std::stod(value());
        else if (word == "--dynamic")
            settings.dynamic = true;
        else if (word == "--avx2")
            setenv("HL_JIT_TARGET", "x86-64-linux-avx-avx2-f16c-fma-sse41", 1);
        else if (word == "--roofline")
            settings.roofline = true;
        else if (word == "--onnxruntime")
            settings.onnxruntime = value();
        else
            settings.cases.emplace_back(word);
    }
    return settings;
}

void summary(const json& rows) {
    std::map<std::string, std::vector<double>> ratios;
    for (const json& row : rows)
        if (row.contains("onnxruntime_ms") && !row.contains("failure"))
            ratios[row["kind"]].push_back(row["onnxruntime_ms"].get<double>() / row["halide_ms"].get<double>());
    if (ratios.empty()) return;
    std::printf("\ngeometric means (onnxruntime / halide; above 1: halide is faster)\n");
    for (const auto& [kind, list] : ratios) {
        double sum = 0;
        for (const double ratio : list) sum += std::log(ratio);
        std::printf("%-10s %6.2f   worst %.2f\n", kind.c_str(), std::exp(sum / static_cast<double>(list.size())),
                    *std::min_element(list.begin(), list.end()));
    }
}

}  // namespace

int main(int argc, char** argv) try {
    const Settings settings = settings_from(argc, argv);
    if (const char* logs = std::getenv("WHITTLE_LOGS")) configure_log({.variable = logs});
    setenv("HL_NUM_THREADS", std::to_string(settings.threads).c_str(), 1);
    const TempDir cache("whittle-bench");  // so that nothing is compiled yet
    setenv("WHITTLE_CACHE_DIR", cache.path().c_str(), 1);
    std::optional<Peer> peer;
    if (!settings.onnxruntime.empty()) peer.emplace(settings.onnxruntime);
    std::printf(
        "%d thread%s; milliseconds, best of %d rounds; halide's memory and what has to be alive in it, in MB\n"
        "%-10s %-24s %11s %9s %9s %7s %8s %7s %7s %6s %6s %9s\n",
        settings.threads, settings.threads == 1 ? "" : "s", kRounds, "class", "case", "onnxruntime", "eager", "halide",
        "ratio", "compiled", "quick", "cached", "memory", "alive", "error");
    json rows = json::array();
    for (const fs::path& path : settings.cases) {
        const Case of = load_case(path, settings.dynamic);
        rows.push_back(measure(of, peer ? &*peer : nullptr, settings));
        if (settings.roofline) print_roofline(of);
    }
    summary(rows);
    if (!settings.json_file.empty()) write_file(settings.json_file, rows.dump(1) + "\n");
    return 0;
} catch (const std::exception& error) {
    std::cerr << "backend_bench: error: " << error.what() << "\n";
    return 2;
}
