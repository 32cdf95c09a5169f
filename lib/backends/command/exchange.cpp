#include "backends/command/exchange.h"

#include <map>
#include <sstream>
#include <string_view>

#include "base/error.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "formats/json.h"
#include "graph/backend_options.h"
#include "tensor/safetensors.h"

namespace whittle {
namespace fs = std::filesystem;

std::string own_words(const std::string& said) {
    constexpr std::string_view kErrors[] = {"error:", "fatal:", "exception:", "assertion", "panicked at"};
    std::istringstream lines(said);
    std::string last;
    for (std::string line; std::getline(lines, line);) {
        line.erase(line.find_last_not_of(" \t\r") + 1);  // npos + 1 is 0
        const std::string lower = lower_case(line);
        for (const std::string_view word : kErrors)
            if (lower.find(word) != std::string::npos) return line;
        if (!line.empty()) last = line;
    }
    return last;
}

namespace {

/// Throws Error.
Values read_values(const fs::path& file, std::size_t count) {
    std::map<std::string, Tensor> tensors = load_safetensors(file);
    Values outputs;
    for (std::size_t i = 0; i < count; ++i) {
        const auto found = tensors.find(std::to_string(i));
        if (found == tensors.end())
            throw Error("found no tensor '" + std::to_string(i) + "', expected the tensors '0' to '" +
                        std::to_string(count - 1) + "'");
        outputs.push_back(found->second);
    }
    if (tensors.size() != count)
        throw Error("found " + std::to_string(tensors.size()) + " tensors, expected " + std::to_string(count));
    return outputs;
}

}  // namespace

RunResult read_outputs(const fs::path& file, std::size_t count) {
    try {
        return read_values(file, count);
    } catch (const Error& error) {  // without the path, which is another one in every run
        return BackendFailure{"run",
                              {},
                              "wrote a bad outputs.safetensors: " + error.where().position +
                                  (error.where().position.empty() ? "" : ": ") + error.message()};
    }
}

std::optional<BackendFailure> failure_to_write(const std::function<void()>& write) {
    try {
        write();
        return std::nullopt;
    } catch (const Error& error) {
        return BackendFailure{"compile", {}, "cannot write the model: " + error.message(), true};
    }
}

ModelNames write_model(const Graph& graph, bool onnx, const fs::path& folder, SharedWeights* weights,
                       SharedTensors* tensors) {
    Graph plain = graph;
    plain.failure.reset();
    if (onnx) return save_onnx(plain, folder / "model.onnx", weights);
    tensors ? save_graph(plain, folder / "graph.json", *tensors) : save_graph(plain, folder / "graph.json");
    ModelNames names;
    for (const NodeId id : graph.placeholders()) names.inputs.push_back(graph.node({id}).name);
    for (const NodeId id : graph.outputs()) names.outputs.push_back(graph.node({id}).name);
    return names;
}

bool wants_onnx(const BackendOptions& options, bool onnx) {
    const std::size_t chosen = option_choice(options, "format", {"auto", "onnx", "json"});
    return chosen == 0 ? onnx : chosen == 1;
}

void write_inputs(std::span<const Tensor> inputs, const fs::path& folder) {
    std::map<std::string, Tensor> named;
    for (std::size_t i = 0; i < inputs.size(); ++i) named.emplace(std::to_string(i), inputs[i]);
    save_safetensors(folder / "inputs.safetensors", named);
}

void expect_program(const std::string& prefix, const std::string& line, const std::vector<std::string>& argv) {
    if (argv.empty())
        throw Error({"backend '" + prefix + line + "'", {}},
                    "found no command after the prefix, expected " + prefix + "PROGRAM ARGS");
    if (!program_path(argv[0]))  // or that would pass for the backend's failure
        throw Error({"backend '" + prefix + line + "'", {}},
                    "found no program '" + argv[0] + "', neither in PATH nor at this path");
}

}  // namespace whittle
