// halide-worker LIBRARY: the backend halide of LIBRARY, which is libwhittle-halide.so of a release of Halide, as a
// worker (share/doc/reference/backends.md). No program for people: the backend halide runs it for other releases than
// its own (backends/halide/releases.h).
#include <chrono>
#include <cstdio>
#include <iostream>
#include <map>
#include <memory>
#include <new>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/error.h"
#include "base/module.h"
#include "base/seconds.h"
#include "formats/json.h"
#include "graph/backend.h"
#include "tensor/reach.h"
#include "tensor/safetensors.h"

namespace {

using namespace whittle;
using nlohmann::json;
namespace fs = std::filesystem;

template <class F>
F* function_in(const fs::path& library, const char* symbol) {
    return reinterpret_cast<F*>(module_symbol_in(library, symbol));
}

void say(const json& line) { std::cout << line.dump(-1, ' ', false, json::error_handler_t::replace) << std::endl; }

/// With the strides that the graph was captured with.
Values read_inputs(const Graph& graph, const fs::path& file) {
    const std::map<std::string, Tensor> given = load_safetensors(file);
    Values inputs;
    for (const NodeId id : graph.placeholders())
        inputs.push_back(laid_out(given.at(std::to_string(inputs.size())), graph.node({id}).meta().strides));
    return inputs;
}

void write_outputs(const Values& outputs, const fs::path& file) {
    std::map<std::string, Tensor> named;
    for (const Tensor& output : outputs) named.emplace(std::to_string(named.size()), output);
    save_safetensors(file, named);
}

/// The seconds that each of so many runs takes.
json seconds_of(Executable& executable, const Values& inputs, int runs) {
    json seconds = json::array();
    for (int i = 0; i < runs; ++i) {
        const auto start = std::chrono::steady_clock::now();
        executable.run(inputs);
        seconds.push_back(seconds_since(start));
    }
    return seconds;
}

/// What the backend says of the graph in the folder; nothing where it has computed it. `stage`: how far it came.
/// `seconds`: of the runs that the question wants to be timed.
std::optional<BackendFailure> failure_of(Backend& backend, const json& question, std::string& stage, json& seconds) {
    const fs::path folder = question.at("folder").get<std::string>();
    const Graph graph = load_graph(folder / question.at("model").get<std::string>());
    CompileResult compiled = backend.compile(graph, question.value("options", BackendOptions()));
    if (auto* failure = std::get_if<BackendFailure>(&compiled)) return std::move(*failure);
    stage = "run";
    say({{"id", question.at("id")}, {"stage", stage}});
    const Values inputs = read_inputs(graph, folder / "inputs.safetensors");
    Executable& executable = *std::get<std::unique_ptr<Executable>>(compiled);
    RunResult result = executable.run(inputs);
    if (auto* failure = std::get_if<BackendFailure>(&result)) return std::move(*failure);
    seconds = seconds_of(executable, inputs, question.value("timed_runs", 0));
    write_outputs(std::get<Values>(result), folder / "outputs.safetensors");
    return std::nullopt;
}

void answer(Backend& backend, const json& question) {
    std::string stage = "compile";
    std::optional<BackendFailure> failure;
    json seconds;
    try {
        failure = failure_of(backend, question, stage, seconds);
    } catch (const std::bad_alloc&) {
        throw;  // which ends the process, as a limit of memory does
    } catch (const std::exception& error) {
        failure = BackendFailure{.stage = stage, .op = {}, .message = error.what()};
    }
    const json id = question.at("id");
    if (!failure) {
        json done = {{"id", id}, {"ok", true}};
        if (!seconds.empty()) done["run_seconds"] = seconds;
        return say(done);
    }
    say({{"id", id},
         {"error", failure->message},
         {"stage", failure->stage},
         {"op", failure->op},
         {"unsupported", failure->unsupported}});
}

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        std::fprintf(stderr,
                     "halide-worker: error: expected LIBRARY; this internal program is run by the backend halide\n");
        return 2;
    }
    try {
        const std::unique_ptr<Backend> backend(function_in<Backend*()>(argv[1], "whittle_make_halide_backend")());
        say({{"whittle", 1},
             {"version", function_in<const char*()>(argv[1], "whittle_halide_version")()},
             {"format", "json"},
             {"options", true}});
        for (std::string line; std::getline(std::cin, line);) answer(*backend, json::parse(line));
    } catch (const Error& error) {
        std::fprintf(stderr, "halide-worker: error: %s\n", error.what());
        return 2;
    }
}
