// The values that gradients are held against: what the nodes of a captured graph gave, and what rules give.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "capture/output_graph.h"
#include "graph/value_ref.h"
#include "passes/joint.h"
#include "tensor/compare.h"

namespace whittle {

/// A captured graph with what its nodes gave.
struct Ran {
    const capture::CapturedGraph* captured;
    std::map<ValueRef, Tensor> values;

    const Graph& graph() const { return captured->graph; }
    /// Of a call with one result, or its first.
    const Tensor& value(NodeRef ref) const { return values.at({ref.id, 0}); }
    /// Nothing where that is not known: no values were recorded, it draws numbers, the reference cannot run it.
    static std::optional<Ran> of(const capture::CapturedGraph& captured);
};

/// Values that may be a gradient, or be summed to one.
using Candidates = std::vector<Tensor>;

/// Gradients as rules give them, held against what a backward pass computed.
class ExpectedGradients {
  public:
    ExpectedGradients(const Joint& joint, const std::vector<Tensor>& inputs, const Accuracy& accuracy);

    bool all_zero() const;
    /// Is one of the values that gradient?
    bool is_among(std::size_t gradient, const Candidates& values) const;
    /// Of a gradient that is none of what was computed: how it differs from one of the results that could be it. A
    /// result that is another gradient is not looked at. Nothing: there is none, as where the program did not ask for
    /// this gradient.
    std::optional<std::string> nearest(std::size_t gradient, const Candidates& results) const;

  private:
    const Tensor& value(std::size_t i) const { return values_.at(first_ + i); }
    std::optional<std::string> difference(std::size_t i, const Tensor& candidate) const;

    std::size_t first_, count_;  ///< of the joint graph's outputs that are gradients
    std::vector<Tensor> values_;
    std::optional<std::vector<Tensor>> exact_;
    const Accuracy& accuracy_;
};

}  // namespace whittle
