// Any compiler as a backend: a command that reads a model and inputs from a folder and writes outputs into it.
#pragma once

#include <filesystem>
#include <memory>
#include <span>
#include <string>

#include "graph/backend.h"

namespace whittle {

/// The backend `cmd:LINE`. LINE is split as a shell would, without expansions; `{}` in it stands for the folder, which
/// is appended when there is none. The command is run once for every run of a graph and finds in the folder
///   model.onnx            a graph in the onnx dialect, or
///   graph.json            any other graph, with graph.safetensors when it has large tensors
///   inputs.safetensors    tensors "0", "1", ... in the order of the model's inputs, without gaps
/// It has to write
///   outputs.safetensors   tensors "0", "1", ... in the order of the model's outputs
/// and to exit with 0. 125 means that it cannot judge this graph (something is not implemented), as do 126 and 127, by
/// which shells say that there is no such program; anything else, a signal included, means that it failed. It may say
/// more in failure.json: {"stage": "compile" | "run", "op": TARGET, "message": TEXT, "unsupported": BOOL}, each
/// optional; otherwise the message is the first line of its standard error that says error:, or else the last.
/// What it does wrong is always a BackendFailure; where somebody else ended it, run() throws EndedFromOutside.
/// Options: format = auto | onnx | json, which model file to write; timeout = seconds of one run.
/// Throws Error when LINE has no words or an open quote.
std::unique_ptr<Backend> make_command_backend(const std::string& line);

/// What the backend finds in its folder: model and inputs. Throws Error when the graph has no spelling in that format.
void write_command_folder(const Graph& graph, const BackendOptions& options, std::span<const Tensor> inputs,
                          const std::filesystem::path& folder);

}  // namespace whittle
