// A backend with a bug that a test plants.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graph/backend.h"
#include "ops/core/interpreter.h"

namespace whittle {

/// Computes what eager does, except for what a test plants.
class PlantedBackend : public Backend {
  public:
    std::function<void(const Graph&)> on_compile = [](const Graph&) {};
    std::function<Tensor(const Node&, Tensor)> on_result = [](const Node&, Tensor value) { return value; };

    std::string name() const override { return "planted"; }
    std::string description() const override { return "for tests"; }
    CompileResult compile(const Graph& graph, const BackendOptions&) override {
        on_compile(graph);
        return std::make_unique<Run>(graph, *this);
    }

  private:
    struct Wrong final : Interpreter {
        explicit Wrong(const PlantedBackend& planted) : planted(planted) {}
        std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                                 const Arguments<Tensor>& arguments) override {
            std::vector<Tensor> results = Interpreter::step(graph, call, op, arguments);
            for (Tensor& result : results) result = planted.on_result(call, result);
            return results;
        }
        const PlantedBackend& planted;
    };
    struct Run final : Executable {
        Run(const Graph& graph, const PlantedBackend& planted) : graph(graph), planted(planted) {}
        RunResult run(std::span<const Tensor> inputs) override { return Wrong(planted).run(graph, inputs); }
        Graph graph;
        const PlantedBackend& planted;
    };
};

}  // namespace whittle
