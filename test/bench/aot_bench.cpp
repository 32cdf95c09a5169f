// Gradients and partitions of joint graphs on training problems, beside PyTorch's gradients and functorch's partitions.
//   bench_aot [--json FILE] DIR       DIR: a folder for each problem; run through scripts/bench aot
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "compile/compile.h"
#include "formats/json.h"
#include "graph/abilities.h"
#include "ops/core/builder.h"
#include "ops/core/interpreter.h"
#include "passes/functionalize.h"
#include "passes/no_grad.h"
#include "passes/partition.h"
#include "tensor/safetensors.h"

namespace {

using namespace whittle;
using nlohmann::json;
namespace fs = std::filesystem;
using Tensors = std::map<std::string, Tensor>;

constexpr std::pair<const char*, Partitioner> kPartitioners[] = {{"default", Partitioner::all},
                                                                 {"min_cut", Partitioner::min_cut}};
constexpr std::size_t kLargeGraph = 2000;  ///< nodes of the graph that is made up to be differentiated and cut
constexpr int kRuns = 100;                 ///< of a training step, by turns under each partition; the best counts
constexpr double kSeconds = 2.0;           ///< … but no more when they take so long

/// Of processor time: what else runs on the machine counts little.
double seconds_of(const std::function<void()>& f) {
    const std::clock_t begin = std::clock();
    f();
    return static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC;
}

/// What a problem's folder has.
struct Problem {
    explicit Problem(const fs::path& folder)
        : name(folder.filename()),
          facts(json::parse(read_file(folder / "problem.json"))),
          figures(json::parse(read_file(folder / "figures.json"))),
          inputs(load_safetensors(folder / "inputs.safetensors")),
          f32(load_safetensors(folder / "expected.f32.safetensors")),
          f64(load_safetensors(folder / "expected.f64.safetensors")),
          graphs(folder / "graphs") {}

    std::string name;
    json facts, figures;
    Tensors inputs, f32, f64;
    fs::path graphs;
};

/// Largest distance of a gradient from its value in f64; infinite where sizes or the places of NaN differ.
double distance(const Tensor& got, const Tensor& exact) {
    if (got.sizes() != exact.sizes()) return INFINITY;
    const auto a = got.values<double>(), b = exact.values<double>();
    double most = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (std::isnan(a[i]) && std::isnan(b[i])) continue;
        most = std::max(most, std::isnan(a[i] - b[i]) ? INFINITY : std::abs(a[i] - b[i]));
    }
    return most;
}

double largest_gradient(const Tensors& expected) {
    double most = 0;
    for (const auto& [name, value] : expected)
        if (name.starts_with("grad:"))
            for (const double element : value.values<double>())
                if (!std::isnan(element)) most = std::max(most, std::abs(element));
    return most;
}

struct Gradients {
    std::size_t right = 0, expected = 0;
    double error = 0, theirs = 0;  ///< relative to the largest gradient; theirs: PyTorch's in f32
};

/// A gradient is right when it is as near to f64 as ten times PyTorch's own error, or 1e-6.
Gradients judge(const Problem& problem, const Tensors& got) {
    const double scale = largest_gradient(problem.f64);
    Gradients result;
    for (const auto& [name, exact] : problem.f64)
        if (name.starts_with("grad:"))
            result.theirs = std::max(result.theirs, distance(problem.f32.at(name), exact) / scale);
    for (const auto& [name, exact] : problem.f64) {
        if (!name.starts_with("grad:")) continue;
        ++result.expected;
        const auto found = got.find(name.substr(5));
        if (found == got.end()) continue;
        const double error = distance(found->second, exact) / scale;
        result.error = std::max(result.error, error);
        result.right += error <= std::max(10 * result.theirs, 1e-6);
    }
    return result;
}

/// Runs a graph: inputs to outputs.
using Run = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

Run interpreted(const Graph& graph) {
    return [prepared = std::make_shared<PreparedGraph>(graph)](std::span<const Tensor> inputs) {
        return Interpreter().run(*prepared, inputs);
    };
}

/// What a backend compiled. Throws Error, in its words, where it did not, and when it fails to run.
Run run_of(const std::string& backend, CompileResult result) {
    const auto failed = [backend](const BackendFailure& failure) {
        return Error(backend + " failed at " + failure.stage + ": " + failure.message);
    };
    if (const auto* failure = std::get_if<BackendFailure>(&result)) throw failed(*failure);
    auto* executable = std::get_if<std::unique_ptr<Executable>>(&result);
    if (!executable) throw Error(backend + " does not take the graph");
    return [failed, run = std::shared_ptr<Executable>(std::move(*executable))](std::span<const Tensor> inputs) {
        RunResult values = run->run(inputs);
        if (const auto* failure = std::get_if<BackendFailure>(&values)) throw failed(*failure);
        return std::get<Values>(std::move(values));
    };
}

/// A training step: what gives the gradients for inputs and tangents.
using Step = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

/// Through both graphs. `seen`: where the outputs of the forward graph go, if anywhere.
Step step_of(const Joint& joint, const Partition& parts, const Run& forward, const Run& backward,
             std::vector<Tensor>* seen = nullptr) {
    return [=, inputs = joint.inputs, saved = parts.saved](std::span<const Tensor> given) {
        const std::vector<Tensor> outputs = forward(given.first(inputs));
        if (seen) *seen = outputs;
        std::vector<Tensor> passed;
        for (const Saved& one : saved) passed.push_back(one.is_output ? outputs.at(one.position) : given[one.position]);
        passed.insert(passed.end(), given.begin() + static_cast<std::ptrdiff_t>(inputs), given.end());
        return backward(passed);
    };
}
Step step_of(const Joint& joint, const Partition& parts, std::vector<Tensor>* seen = nullptr) {
    return step_of(joint, parts, interpreted(parts.forward), interpreted(parts.backward), seen);
}

/// Through the joint graph as one, of whose outputs the last are the gradients.
Step step_of(const Joint& joint, const Run& whole) {
    return [whole, outputs = static_cast<std::ptrdiff_t>(joint.outputs)](std::span<const Tensor> given) {
        std::vector<Tensor> values = whole(given);
        values.erase(values.begin(), values.begin() + outputs);
        return values;
    };
}

/// Of each step the best run; they run by turns, since a machine is faster at one time than at another.
std::vector<double> seconds_of(const std::vector<Step>& steps, std::span<const Tensor> inputs) {
    std::vector<double> best(steps.size(), INFINITY);
    double all = 0;
    for (int run = 0; run < kRuns && all < kSeconds; ++run)
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const double seconds = seconds_of([&] { steps[i](inputs); });
            all += seconds;
            best[i] = std::min(best[i], seconds);
        }
    return best;
}

/// One step under each backend, by turns: `eager` interprets the joint graph as one, `aot_eager` what min-cut made of
/// it, `halide` compiles that, and `libtorch` runs forward op by op and its own autograd behind it.
void measure_backends(const Joint& joint, const Partition& parts, const std::vector<Tensor>& inputs,
                      const std::function<Gradients(const std::vector<Tensor>&)>& judged, json& row) {
    std::vector<std::string> names;
    std::vector<Step> steps;
    const auto add = [&](const std::string& name, const std::function<Step()>& make) {
        json& of = row["steps"][name];
        try {
            Step step;
            of["compile_seconds"] = seconds_of([&] { step = make(); });
            const Gradients gradients = judged(step(inputs));
            of.update({{"right", gradients.right}, {"expected", gradients.expected}, {"error", gradients.error}});
            names.push_back(name);
            steps.push_back(std::move(step));
        } catch (const Error& error) {
            of["refused"] = error.what();
        }
    };
    add("eager", [&] { return step_of(joint, interpreted(joint.graph)); });
    add("aot_eager", [&] { return step_of(joint, parts); });
    const std::unique_ptr<Backend> halide = find_backend("halide");
    add("halide", [&] {
        const auto part = [&](CompileStage stage, const Graph& graph) {
            return run_of("halide", program::compile_part(*halide, stage, without_requires_grad(graph), {}));
        };
        return step_of(joint, parts, part(CompileStage::forward, parts.forward),
                       part(CompileStage::backward, parts.backward));
    });
    std::unique_ptr<Backend> libtorch;  // which not every build has
    add("libtorch", [&] {
        libtorch = find_backend("libtorch");
        return step_of(joint,
                       run_of("libtorch", offered<OwnGradients>(*libtorch)->compile_joint(
                                              joint.graph, {joint.outputs, joint.tangents, joint.gradients}, {})));
    });
    const std::vector<double> seconds = seconds_of(steps, inputs);
    for (std::size_t i = 0; i < names.size(); ++i) row["steps"][names[i]]["seconds"] = seconds[i];
}

/// What a step leaves in buffers: right when it is as near to f64 as ten times PyTorch's own error, or 1e-6.
void judge_buffers(const Problem& problem, const std::vector<MemoryUpdate>& updates, const Graph& functional,
                   const std::vector<Tensor>& outputs, json& row) {
    std::size_t right = 0, expected = 0;
    std::map<std::string, Tensor> after;
    for (const MemoryUpdate& update : updates) after[functional.find(update.input)->target] = outputs.at(update.output);
    for (const auto& [name, exact] : problem.f64) {
        if (!name.starts_with("after:")) continue;
        ++expected;
        const auto found = after.find(name.substr(6));
        if (found == after.end()) continue;
        const double allowed = std::max(10 * distance(problem.f32.at(name), exact), 1e-6);
        right += distance(found->second, exact) <= allowed;
    }
    row["buffers"] = {{"right", right}, {"expected", expected}};
}

/// Our joint graph of a problem's forward graph.
void measure_ours(const Problem& problem, json& row) {
    const Graph captured = load_graph(problem.graphs / "forward.json");
    const std::vector<std::string> outputs = problem.facts.at("outputs");
    std::set<std::string> wanted;
    for (const std::string name : problem.facts.at("gradients_of")) wanted.insert(name);
    Functionalized functional;
    Joint joint;
    row["joint_seconds"] = seconds_of([&] {
        functional = functionalize(end_gradients(captured));
        joint = whittle::joint(functional.graph, {.wanted = wanted, .outputs = outputs.size()});
    });
    std::vector<Tensor> inputs;
    for (const NodeId id : captured.placeholders()) inputs.push_back(problem.inputs.at(captured.node({id}).target));
    for (const std::size_t output : joint.tangents) inputs.push_back(problem.inputs.at("tangent:" + outputs[output]));

    const auto judged = [&](const std::vector<Tensor>& values) {
        Tensors got;
        for (std::size_t i = 0; i < values.size(); ++i) got[joint.gradients[i]] = values[i];
        return judge(problem, got);
    };
    std::vector<Step> steps;
    std::optional<Partition> last;  // of min_cut
    for (const auto& [name, partitioner] : kPartitioners) {
        const PartitionOptions options{.partitioner = partitioner};
        std::optional<Partition> parts;
        const double seconds = seconds_of([&] { parts = partition(joint, options); });
        steps.push_back(step_of(joint, *parts));
        std::vector<Tensor> forward;
        const Gradients gradients = judged(step_of(joint, *parts, &forward)(inputs));
        judge_buffers(problem, functional.updates, functional.graph, forward, row[name]);
        row[name].update({{"right", gradients.right},
                          {"expected", gradients.expected},
                          {"error", gradients.error},
                          {"pytorch_f32_error", gradients.theirs},
                          {"saved_bytes", parts->saved_bytes},
                          {"recomputed", parts->recomputed.size()},
                          {"seconds", seconds}});
        last = std::move(parts);
    }
    const std::vector<double> seconds = seconds_of(steps, inputs);
    for (std::size_t i = 0; i < seconds.size(); ++i)
        row[kPartitioners[i].first].update(
            {{"step_seconds", seconds[i]}, {"step_of_default", seconds[i] / seconds.front()}});
    measure_backends(joint, *last, inputs, judged, row);
}

/// functorch's joint graph, cut by us.
Joint functorchs(const Problem& problem, const std::string& graph) {
    Joint joint{.graph = load_graph(problem.graphs / (graph + ".json"))};
    for (const NodeId id : joint.graph.placeholders()) {
        const bool primal = joint.graph.node({id}).name.starts_with("primals_");
        if (primal)
            ++joint.inputs;
        else
            joint.tangents.push_back(joint.tangents.size());
    }
    joint.outputs = problem.facts.at(graph).at("forward_outputs").size();
    joint.gradients.resize(joint.graph.outputs().size() - joint.outputs);
    return joint;
}

void measure_functorchs(const Problem& problem, const std::string& graph, json& row) {
    const Joint joint = functorchs(problem, graph);
    for (const auto& [name, partitioner] : kPartitioners) {
        const PartitionOptions options{.partitioner = partitioner};
        std::optional<Partition> parts;
        const double seconds = seconds_of([&] { parts = partition(joint, options); });
        row[name] = {{"saved_bytes", parts->saved_bytes}, {"recomputed", parts->recomputed}, {"seconds", seconds}};
    }
    for (const char* name : {"default", "min_cut", "min_cut_inductor", "bound"})
        row["functorch"][name] = problem.figures.at(graph).at(name).at("saved_storage_bytes");
}

/// Layers of a network with weights, norms, activations and sums, one like the other in what they call and each with
/// sizes of its own.
Graph large_graph() {
    Graph graph{.name = "large"};
    GraphBuilder builder(graph);
    constexpr std::int64_t kRows = 8, kWidth = 16;
    const auto input = [&](const std::string& name, const Sizes& sizes) {
        ValueMeta meta = ValueMeta::contiguous(DType::f32, sizes);
        meta.requires_grad = true;
        return builder.value(graph.placeholder(name, meta));
    };
    constexpr std::size_t kCallsOfLayer = 10;
    const std::size_t layers = (kLargeGraph - 1) / (kCallsOfLayer + 3);
    V x = input("x", {kRows, kWidth});
    std::vector<V> weights;
    for (std::size_t i = 0; i < layers; ++i) {
        const auto width = kWidth + static_cast<std::int64_t>(i % 7);
        weights.push_back(input("w", {kWidth, width}));
        weights.push_back(input("v", {width, kWidth}));
        weights.push_back(input("b", {kWidth}));
    }
    for (std::size_t i = 0; i < layers; ++i) {
        const V* w = &weights[3 * i];
        V h = builder.call("aten.mm.default", {arg(x), arg(w[0])});
        h = builder.call("aten.gelu.default", {arg(h)});
        h = builder.call("aten.mul.Tensor", {arg(h), arg(h)});
        h = builder.call("aten.mm.default", {arg(h), arg(w[1])});
        h = builder.call("aten.add.Tensor", {arg(h), arg(w[2])});
        h = builder.call("aten.tanh.default", {arg(h)});
        const V scale = builder.call("aten._softmax.default", {arg(h), Arg(1), Arg(false)});
        h = builder.call("aten.mul.Tensor", {arg(h), arg(scale)});
        h = builder.call("aten.sub.Tensor",
                         {arg(h), arg(builder.call("aten.mean.dim", {arg(h), Arg::ints({1}), Arg(true)}))});
        x = builder.call("aten.add.Tensor", {arg(x), arg(h)});
    }
    graph.output({builder.call("aten.sum.default", {arg(x)}).ref});
    return graph;
}

/// Seconds that it takes to differentiate a large graph and to cut what comes of that.
json measure_large() {
    const Graph graph = large_graph();
    Joint joint;
    json row = {{"nodes", graph.nodes.size()}};
    row["joint_seconds"] = seconds_of([&] { joint = whittle::joint(functionalize(graph).graph); });
    row["joint_nodes"] = joint.graph.nodes.size();
    row["cut_seconds"] = seconds_of([&] { partition(joint); });
    row["seconds"] = row["joint_seconds"].get<double>() + row["cut_seconds"].get<double>();
    return row;
}

double kilobytes(const json& bytes) { return bytes.get<double>() / 1000; }

void print_gradients(const std::string& name, const json& row) {
    if (row.contains("refused")) {
        std::printf("%-14s %s\n", name.c_str(), row.at("refused").get<std::string>().c_str());
        return;
    }
    const json &all = row.at("default"), &least = row.at("min_cut");
    const auto right = [&](const json& what) { return what.at("right").get<int>(); };
    std::printf(
        "%-14s %3d/%-3d %3d/%-3d %8.1e %8.1e | %8.1f %8.1f %5d | %6.3f %6.3f %6.2f\n", name.c_str(),
        std::min(right(all), right(least)), all.at("expected").get<int>(),
        std::min(right(all.at("buffers")), right(least.at("buffers"))), all.at("buffers").at("expected").get<int>(),
        std::max(all.at("error").get<double>(), least.at("error").get<double>()),
        all.at("pytorch_f32_error").get<double>(), kilobytes(all.at("saved_bytes")), kilobytes(least.at("saved_bytes")),
        least.at("recomputed").get<int>(), row.at("joint_seconds").get<double>(), least.at("seconds").get<double>(),
        least.at("step_of_default").get<double>());
}

constexpr const char* kSteps[] = {"eager", "aot_eager", "halide", "libtorch"};

/// Milliseconds of each backend's step, and how often LibTorch's time it takes.
void print_steps(const std::string& name, const json& row) {
    if (!row.contains("steps")) return;
    const json& steps = row.at("steps");
    std::printf("%-14s", name.c_str());
    for (const char* backend : kSteps) {
        const json& step = steps.at(backend);
        if (step.contains("refused")) {
            std::printf(" | %s", step.at("refused").get<std::string>().c_str());
            continue;
        }
        std::printf(" | %3d/%-3d %9.3f", step.at("right").get<int>(), step.at("expected").get<int>(),
                    1000 * step.at("seconds").get<double>());
        if (steps.at("libtorch").contains("seconds"))
            std::printf(" %6.2f", step.at("seconds").get<double>() / steps.at("libtorch").at("seconds").get<double>());
    }
    std::printf("\n");
}

void print_partitions(const std::string& name, const json& row) {
    const json& theirs = row.at("functorch");
    const auto ours = row.at("min_cut").at("saved_bytes").get<double>(),
               inductor = theirs.at("min_cut_inductor").get<double>();
    std::printf("%-14s %8.1f %8.1f | %8.1f %8.1f %8.1f %8.1f | %5zu %6.3f  %s\n", name.c_str(),
                kilobytes(row.at("default").at("saved_bytes")), ours / 1000, kilobytes(theirs.at("default")),
                kilobytes(theirs.at("min_cut")), inductor / 1000, kilobytes(theirs.at("bound")),
                row.at("min_cut").at("recomputed").size(), row.at("min_cut").at("seconds").get<double>(),
                ours <= inductor ? "" : "MORE");
}

std::vector<fs::path> problems_in(const fs::path& folder) {
    std::vector<fs::path> folders;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder))
        if (fs::exists(entry.path() / "problem.json")) folders.push_back(entry.path());
    std::sort(folders.begin(), folders.end());
    if (folders.empty())
        throw Error("found no problem.json in the folders of '" + folder.string() + "', expected some");
    return folders;
}

json measure(const fs::path& folder) {
    json all;
    std::printf("Our joint graphs. Error of the worst gradient against f64, beside PyTorch's own in f32; kB saved\n");
    std::printf("%-14s %7s %7s %8s %8s | %8s %8s %5s | %6s %6s %6s\n", "", "right", "buffers", "error", "PyTorch",
                "default", "min-cut", "again", "joint", "cut s", "step");
    for (const fs::path& path : problems_in(folder)) {
        const Problem problem(path);
        json& row = all["ours"][problem.name];
        try {
            measure_ours(problem, row);
        } catch (const Error& error) {
            row = {{"refused", error.what()}};
        }
        print_gradients(problem.name, row);
    }
    std::printf("\nOne training step, by turns: gradients right, milliseconds, times LibTorch's\n%-14s", "");
    for (const char* backend : kSteps) std::printf(" | %-24s", backend);
    std::printf("\n");
    for (const auto& [name, row] : all["ours"].items()) print_steps(name, row);
    for (const char* graph : {"joint", "joint_decomposed"}) {
        std::printf("\nfunctorch's %s.json: kB saved by our partitions | by functorch's\n", graph);
        std::printf("%-14s %8s %8s | %8s %8s %8s %8s | %5s %6s\n", "", "default", "min-cut", "default", "min-cut",
                    "inductor", "bound", "again", "cut s");
        for (const fs::path& path : problems_in(folder)) {
            const Problem problem(path);
            measure_functorchs(problem, graph, all[graph][problem.name]);
            print_partitions(problem.name, all[graph][problem.name]);
        }
    }
    const json& large = all["large"] = measure_large();
    std::printf("\nA graph of %d nodes: joint graph of %d nodes in %.3f s, cut in %.3f s: %.3f s\n",
                large.at("nodes").get<int>(), large.at("joint_nodes").get<int>(),
                large.at("joint_seconds").get<double>(), large.at("cut_seconds").get<double>(),
                large.at("seconds").get<double>());
    return all;
}

}  // namespace

int main(int argc, char** argv) {
    try {
        std::string out, folder;
        for (int i = 1; i < argc; ++i) {
            if (std::string(argv[i]) == "--json" && i + 1 < argc)
                out = argv[++i];
            else
                folder = argv[i];
        }
        const json all = measure(folder);
        if (!out.empty()) std::ofstream(out) << all.dump(1) << '\n';
    } catch (const std::exception& error) {
        std::cerr << "bench_aot: error: " << error.what() << '\n';
        return 2;
    }
}
