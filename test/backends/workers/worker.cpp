// A worker (share/doc/reference/backends.md) that computes by the reference's own kernels and misbehaves as its first
// argument says:
//   right              never
//   wrong              a relu gives 1 more from level 2 on, unless the switch fuse-relu or lower-relu is off
//   counted      the first so many relus that the level relus allows give 1 more; it counts them
//   slow         says that a relu takes 3 ms, and not 1 ms as any other call, under the same conditions
//   untimed      does not take the times of runs
//   any          it takes any option; a relu gives 1 more, unless the option disable is "relu"
//   crash | hang | flood | grow   where there is a relu; -later: from its third question on, whatever that is
//   short | other      says that it has written what is no file of tensors; answers another question
//   fail | unsupported says so of a relu, in its own words
//   silent | old | below | talk   at its start: ends; speaks another version; has an impossible level; prints first
//                (and works)
//   A=MODE,B=MODE   it has the releases A, B … (the last is what it is without --release B), each of which behaves as
//                its MODE says; "deaf" takes no notice of --release
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iostream>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "base/files.h"
#include "formats/json.h"
#include "graph/backend.h"
#include "ops/core/interpreter.h"
#include "tensor/safetensors.h"

namespace {

using namespace whittle;
using nlohmann::json;

void say(const json& line) { std::cout << line.dump() << std::endl; }

bool has_relu(const Graph& graph) {
    for (const NodeId id : graph.calls())
        if (graph.node({id}).target == "onnx.Relu") return true;
    return false;
}

struct WrongRelu final : Interpreter {
    explicit WrongRelu(std::size_t most = kMost) : most(most) {}
    static constexpr std::size_t kMost = 9999;
    const std::size_t most;
    std::vector<std::string> applied;  ///< names of the calls that it spoilt

    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        std::vector<Tensor> results = Interpreter::step(graph, call, op, arguments);
        if (call.target != "onnx.Relu" || applied.size() >= most) return results;
        applied.push_back(call.name);
        std::vector<float> more;
        for (const double value : results[0].values<double>()) more.push_back(static_cast<float>(value + 1));
        return {Tensor::of(more, results[0].sizes())};
    }
};

[[noreturn]] void misbehave(const std::string& how) {
    if (how == "crash") {
        std::cerr << "error: the relu is broken\n";
        std::abort();
    }
    std::vector<std::vector<char>> held;
    for (;;) {
        if (how == "hang") ::pause();
        if (how == "flood") std::cout << "words without end\n";
        if (how == "grow") held.emplace_back(1 << 24, 'x');
    }
}

/// Neither a switch nor a level keeps it from what it does to a relu.
bool optimizes(const json& question) {
    const json off = question.value("off", json::array()), most = question.value("most", json::object());
    const bool switched = std::any_of(off.begin(), off.end(), [](const json& name) { return name != "share"; });
    return !switched && most.value("level", 3) >= 2;
}

/// `applied`: what the answer says of passes.
Values results_of(const std::string& mode, const json& question, const Graph& graph, const Values& inputs,
                  json& applied) {
    const json options = question.value("options", json::object()), most = question.value("most", json::object());
    if (mode == "any" && options.value("disable", "") != "relu") return WrongRelu().run(graph, inputs);
    if (mode == "counted") {
        WrongRelu relus(most.value("relus", WrongRelu::kMost));
        Values results = relus.run(graph, inputs);
        applied["relus"] = relus.applied;
        return results;
    }
    return mode == "wrong" && optimizes(question) ? WrongRelu().run(graph, inputs) : evaluate(graph, inputs);
}

/// What it says that the runs took: made up, so that tests depend on no clock.
json seconds_of(const std::string& mode, const json& question, const Graph& graph) {
    double seconds = 0;
    for (const NodeId id : graph.calls())
        seconds += mode == "slow" && optimizes(question) && graph.node({id}).target == "onnx.Relu" ? 3e-3 : 1e-3;
    return std::vector<double>(question.at("timed_runs").get<std::size_t>(), seconds);
}

void answer(const std::string& mode, const json& question, int number) {
    const std::filesystem::path folder = question.at("folder").get<std::string>();
    const json id = question.at("id");
    const Graph graph = load_graph(folder / question.at("model").get<std::string>());
    const std::string how = mode.substr(0, mode.find('-'));
    const bool now = mode.ends_with("-later") ? number >= 3 : has_relu(graph);
    if (now && (how == "fail" || how == "unsupported"))
        return say({{"id", id}, {"error", "no relu"}, {"op", "onnx.Relu"}, {"unsupported", how == "unsupported"}});
    say({{"id", id}, {"stage", "run"}});
    if (now && (how == "crash" || how == "hang" || how == "flood" || how == "grow")) misbehave(how);
    const std::map<std::string, Tensor> given = load_safetensors(folder / "inputs.safetensors");
    Values inputs;
    for (std::size_t i = 0; i < given.size(); i++) inputs.push_back(given.at(std::to_string(i)));
    std::map<std::string, Tensor> outputs;
    json applied;
    for (const Tensor& value : results_of(mode, question, graph, inputs, applied))
        outputs.emplace(std::to_string(outputs.size()), value);
    save_safetensors(folder / "outputs.safetensors", outputs);
    if (how == "short") std::filesystem::resize_file(folder / "outputs.safetensors", 12);
    json done = {{"id", how == "other" ? json(99) : id}, {"ok", true}};
    if (!applied.is_null()) done["applied"] = applied;
    if (question.contains("timed_runs") && how != "untimed") done["run_seconds"] = seconds_of(mode, question, graph);
    say(done);
}

/// What is said of the releases that `mode` lists, if it does; it becomes the mode of the one that this worker is.
std::optional<json> choose_release(std::string& mode, const std::string& wanted) {
    json names = json::array();
    std::map<std::string, std::string> modes;
    std::string is;
    std::istringstream parts(mode);
    for (std::string part; std::getline(parts, part, ',');) {
        const std::size_t equals = part.find('=');
        if (equals == part.npos) return std::nullopt;
        is = part.substr(0, equals);
        names.push_back(is);
        modes[is] = part.substr(equals + 1);
    }
    if (modes.contains(wanted) && modes[wanted] != "deaf") is = wanted;
    mode = modes[is];
    return json{{"names", names}, {"is", is}, {"install", "releases/install VERSION"}};
}

}  // namespace

int main(int argc, char** argv) {
    std::string mode = argc > 1 ? argv[1] : "right";
    const auto releases = choose_release(mode, argc > 3 && argv[2] == std::string("--release") ? argv[3] : "");
    if (mode == "silent") {
        std::cerr << "no compiler\n";
        return 3;
    }
    if (mode == "talk") std::cout << "warming up\n";
    json hello = {{"whittle", mode == "old" ? 0 : 1},
                  {"version", releases ? releases->at("is") : json("7.1")},
                  {"format", "json"},
                  {"switches", {{"kind", "optimizer"}, {"names", {"share", "lower-relu", "fuse-relu"}}}},
                  {"levels", {{{"name", "level"}, {"most", mode == "below" ? -1 : 3}}}},
                  {"options",
                   {{"threads", {{"what", "of a run"}, {"least", 1}}},
                    {"target", {{"what", "where it computes"}, {"one_of", {"cpu", "gpu"}}}},
                    {"note", "any text"},
                    {"set.*", "settings"}}}};
    if (mode == "counted") {
        hello.erase("switches");
        hello["levels"] = {{{"name", "relus"}, {"most", WrongRelu::kMost}, {"counted", true}}};
    }
    if (mode == "any") hello["options"] = true;
    if (releases) hello["releases"] = *releases;
    say(hello);
    int number = 0;
    for (std::string line; std::getline(std::cin, line);) answer(mode, json::parse(line), ++number);
    return 0;
}
