// WorkerQuery: one worker of a pool, asked about the graphs of a query.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "backends/command/worker_process.h"
#include "graph/abilities.h"
#include "graph/onnx_file.h"

namespace whittle {

/// What a compiler did to a graph: of each pass a text for each application.
using Applied = std::map<std::string, std::vector<std::string>>;

class WorkerQuery final : public Apart::Query, public TakesOnnxFile, public OwnGradients {
  public:
    WorkerQuery(WorkerPool& pool, std::string name, const BackendOptions& options, const ProcessOptions& limits);
    ~WorkerQuery() override { pool_.give_back(std::move(held_)); }

    std::string name() const override { return name_; }
    std::string description() const override { return "a query of " + name_; }
    const std::optional<Apart::Ended>& ended() const override { return ended_; }
    /// The applications of passes, of those that the worker counts.
    const Applied& applied() const { return applied_; }

    CompileResult compile(const Graph& graph, const BackendOptions& options) override;
    bool computes_gradients(const BackendOptions& options) override;
    CompileResult compile_joint(const Graph& joint, const JointShape& shape, const BackendOptions& options) override;
    bool takes_file(const BackendOptions& options) override;
    CompileResult compile_file(const OnnxFile& file, const BackendOptions&) override;
    /// Of the model that the worker makes of the graph: see WritesOptimized.
    std::variant<std::unique_ptr<OptimizedModel>, BackendFailure> optimized(const Graph& graph,
                                                                            const std::filesystem::path& folder);

  private:
    struct Run;
    CompileResult compile(const Graph& graph, std::size_t outputs, const BackendOptions& options);
    RunResult ask(const Run& run, std::span<const Tensor> inputs, const nlohmann::json& question,
                  std::vector<double>* seconds = nullptr);
    std::variant<nlohmann::json, BackendFailure> answer_to(const Run& run, const nlohmann::json& question);

    WorkerPool& pool_;
    const std::string name_;
    const ProcessOptions limits_;
    WorkerPool::Held held_;
    nlohmann::json settings_;
    Applied applied_;
    std::string stage_;
    std::optional<Apart::Ended> ended_;
};

}  // namespace whittle
