// The interpreter: one loop over the nodes with one overridable step. Eager execution, constant folding, exposing every
// value for accuracy comparison, and the debug backends are all this loop.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "ops/registry.h"

namespace whittle {

class Interpreter {
  public:
    virtual ~Interpreter() = default;

    /// One tensor per placeholder in, one per output out. Throws Error naming node and op for an op without a kernel
    /// and for operands that do not fit. Values are freed after their last use.
    std::vector<Tensor> run(const Graph& graph, std::span<const Tensor> inputs);

  protected:
    /// Results of one call. The default evaluates the op's kernel, or its decomposition when it has none.
    virtual std::vector<Tensor> step(const Graph& graph, const Node& call, const Arguments<Tensor>& arguments);
    /// Called after every node with its results.
    virtual void observe(const Graph& graph, NodeId node, std::span<const Tensor> results);

  private:
    using ResultsOf = std::function<const std::vector<Tensor>&(NodeRef)>;
    /// Binds the call's arguments and steps; an Error gets the node's place.
    std::vector<Tensor> call(const Graph& graph, const Node& node, const ResultsOf& results_of);
};

/// Interpreter().run().
std::vector<Tensor> evaluate(const Graph& graph, std::span<const Tensor> inputs);

}  // namespace whittle
