// Backends that interpret: what eager, the debug backends and libtorch share. They differ in how one call is run.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "backends/built_in/built_in.h"
#include "graph/abilities.h"
#include "graph/backend.h"
#include "ops/core/interpreter.h"

namespace whittle {

/// Targets that have no kernel of ours: unknown, or with neither `eval` nor `decompose`.
std::vector<std::string> without_kernel(const Graph& graph);

/// Remembers the op at work, for the failure that names it.
class NamingInterpreter : public Interpreter {
  public:
    std::string op() const { return op_ ? *op_ : ""; }

  protected:
    std::vector<Tensor> step(const Graph& graph, const Node& call, const RegisteredOp& op,
                             const Arguments<Tensor>& arguments) override {
        op_ = &call.target;
        return Interpreter::step(graph, call, op, arguments);
    }
    /// A step that does not go through this one says so itself.
    void at_work(const Node& call) { op_ = &call.target; }

  private:
    const std::string* op_ = nullptr;
};

using MakeInterpreter = std::function<std::unique_ptr<NamingInterpreter>()>;

/// Runs the graph in an interpreter of its own each time; an Error is a failure of the run that names the op. Where
/// there is no `make`, as eager runs it, or, if somebody wants that here (graph/run_observer.h), as code to step
/// through. What is not stepped through serves any size (AnySize).
std::unique_ptr<Executable> interpreted(const Graph& graph, MakeInterpreter make = {});

/// The failure of compiling for the registry's kernels, by a backend of this name: ops that have none, a call that does
/// not fit its schema.
std::optional<BackendFailure> refused_by_kernels(const Graph& graph, const std::string& backend);

/// A built-in backend that interprets the captured graph by our kernels, and refuses what has none.
class InterpretingBackend : public Backend, public Support, public Optioned {
  public:
    explicit InterpretingBackend(const BuiltInBackend& row) : row_(row) {}
    std::string name() const final { return std::string(row_.name); }
    std::string description() const final { return std::string(row_.description); }
    CompileStage consumes() const final { return CompileStage::captured; }
    CompileResult compile(const Graph& graph, const BackendOptions& options) final;
    std::vector<std::string> unsupported(const Graph& graph) const final { return without_kernel(graph); }
    bool calls_kernels() const final { return true; }
    std::vector<std::string> option_names(const BackendOptions&) override { return {}; }
    void check(const BackendOptions&) override {}

  protected:
    const BuiltInBackend& row_;

  private:
    /// Of a graph that the kernels take. It decides nothing by sizes: at others it is asked again.
    virtual CompileResult compiled(const Graph& graph, const BackendOptions&) { return interpreted(graph); }
};

}  // namespace whittle
