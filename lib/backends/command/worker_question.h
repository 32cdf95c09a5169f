// What a worker is asked about a model, and which options it has for that.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "backends/command/exchange.h"
#include "backends/command/worker_process.h"
#include "graph/joint_forward.h"
#include "graph/onnx_file.h"

namespace whittle {

/// The option that asks a worker to compute gradients.
inline constexpr const char* kTraining = "training";
/// In the folder that a question is about.
inline constexpr const char* kOnnxModel = "model.onnx";

/// Of the options that can be given.
std::vector<std::string> names_of(const WorkerHello& hello, const BackendOptions& given);

/// The options as the worker is told them: "off", "most", "options", where there are some. Throws Error for what it
/// does not have; what it does not know at all is left out.
nlohmann::json settings_of(const BackendOptions& options, const WorkerHello& hello);

/// What the worker is asked about a folder in which model and inputs are.
nlohmann::json question_of(const std::vector<OnnxFile::Value>& inputs, const std::vector<OnnxFile::Value>& outputs,
                           const std::string& folder, bool onnx, nlohmann::json settings);
nlohmann::json question_of(const Graph& graph, const ModelNames& names, const std::string& folder, bool onnx,
                           nlohmann::json settings);

/// The same of a forward graph and its gradients. The worker gets the inputs and, behind them, the tangents.
void ask_for_gradients(nlohmann::json& question, const JointShape& shape);

bool is_asked_to_train(const BackendOptions& options, const WorkerHello& hello);

bool reads_onnx(const WorkerHello& said, const BackendOptions& options);

}  // namespace whittle
