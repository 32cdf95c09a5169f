// What commands and workers are given and give: model and tensors as files of a folder, and their last words.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "formats/sidecar.h"
#include "frontends/onnx/save.h"
#include "graph/backend.h"

namespace whittle {

using ModelNames = OnnxNames;

/// model.onnx, or graph.json (with graph.safetensors when it has large tensors). Returns the names of inputs and
/// outputs in the file. Large weights of model.onnx are external data of `weights`, if given, and graph.safetensors is
/// one of `tensors`. Throws Error when the graph has no spelling in that format.
ModelNames write_model(const Graph& graph, bool onnx, const std::filesystem::path& folder,
                       SharedWeights* weights = nullptr, SharedTensors* tensors = nullptr);
/// Runs `write`, which writes a model. An Error that it throws is no failure of the compiler's: the model has no
/// spelling in the format, or there is no room for it.
std::optional<BackendFailure> failure_to_write(const std::function<void()>& write);
/// Which of both files, by the option format=auto|onnx|json; with auto it is `onnx`'s. Throws Error for another word.
bool wants_onnx(const BackendOptions& options, bool onnx);
/// inputs.safetensors: tensors "0", "1", ...
void write_inputs(std::span<const Tensor> inputs, const std::filesystem::path& folder);

/// The tensors "0" to "count-1" of the file, all of them and no others; what is wrong with it is the backend's failure.
RunResult read_outputs(const std::filesystem::path& file, std::size_t count);

/// The line of standard error that tells failures apart: the first that says error:, or else the last. Compilers end
/// with words that all their errors share ("1 error generated.").
std::string own_words(const std::string& said);

/// Throws Error for words without a program that execvp() would find. The backend is PREFIX LINE.
void expect_program(const std::string& prefix, const std::string& line, const std::vector<std::string>& argv);

}  // namespace whittle
