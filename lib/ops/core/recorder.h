// Recorder: runs a graph on the reference and keeps every value that it computes.
#pragma once

#include <map>

#include "graph/value_ref.h"
#include "ops/core/interpreter.h"
#include "ops/core/memory.h"

namespace whittle {

class Recorder : public Interpreter {
  public:
    explicit Recorder(const Graph& graph) : top_(&graph), writes_(has_writes(graph)) {}
    /// By node and result, before later calls write to them; leaves included, nested graphs not, whose nodes have
    /// numbers of their own.
    std::map<ValueRef, Tensor> values;

  protected:
    void observe(const Graph& graph, NodeId node, std::span<const Tensor> results) override {
        if (&graph != top_) return;
        for (std::size_t i = 0; i < results.size(); i++)
            values[{node, static_cast<int>(i)}] = writes_ ? own_copy(results[i]) : results[i];
    }

  private:
    const Graph* top_;
    bool writes_;
};

}  // namespace whittle
