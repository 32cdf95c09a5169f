// The gradients of a compiled graph: the same backend compiles a second graph, which computes them.
#pragma once

#include <atomic>
#include <exception>
#include <memory>
#include <string>
#include <vector>

#include "api/grad_node.h"
#include "api/one_at_a_time.h"
#include "graph/backend.h"

namespace whittle::api {

struct CompiledGradient : Derivative {
    using Derivative::Derivative;
    OneAtATime mutex = {};                                         ///< an executable runs one call at a time
    std::unique_ptr<Executable> executable = {};                   ///< of parts.backward; null: the reference runs it
    std::function<std::string(const BackendFailure&)> words = {};  ///< of a failure of the backend
    std::exception_ptr backend_failed = {};                        ///< at compiling parts.backward
    /// Keeps parts.backward and what it was given, on which the backend has failed; null: nothing is kept.
    std::function<void(const Graph&, const Values&, const std::exception&)> keep = {};
    Graph joint = {};                      ///< as a whole
    bool verified = false;                 ///< every run is compared with it …
    std::atomic<bool> rules_held = false;  ///< … and its rules, at the first, with finite differences
};

/// The gradient of a graph, which may write, cut as the backend wants it, or as that of the same graph at other sizes,
/// `known`, was. Null where no result has one. What stands in its way is its `error`.
std::unique_ptr<CompiledGradient> gradient_of(const Graph& captured, const Backend& backend,
                                              const BackendOptions& options, const CompiledGradient* known = nullptr);

/// One run of a compiled graph.
class CompiledNode final : public GradNode {
  public:
    /// `inputs` and `outputs` of the forward graph; those that are saved are copied where `rewritten`, memory of
    /// inputs that the graph writes, is theirs.
    CompiledNode(std::string graph, std::shared_ptr<CompiledGradient> gradient,
                 const std::vector<whittle::Tensor>& inputs, const std::vector<whittle::Tensor>& outputs,
                 const std::vector<whittle::Tensor>& rewritten);
    /// The tensors that the inputs were.
    void connect(const std::vector<ImplPtr>& inputs);
    /// Whether gradients flow into this output.
    bool differentiates(std::size_t output) const;

    std::string name() const override { return graph_; }
    TensorList apply(const TensorList& gradients, bool create_graph) override;
    TensorList apply_last(const TensorList& gradients, bool create_graph) override;
    void release() override;
    std::size_t results() const override { return gradient_->outputs; }

  private:
    TensorList differentiated(const TensorList& gradients, bool create_graph, bool last);
    Values run(Values passed) const;
    /// Of the joint graph: what the forward part was given, and the tangents.
    Values joint_inputs(const TensorList& tangents) const;
    void verify(const TensorList& tangents, const Values& gradients) const;
    /// The joint graph's own gradients: another judge than the rules that they are made of.
    void verify_rules(std::span<const whittle::Tensor> inputs) const;

    std::string graph_;
    std::shared_ptr<CompiledGradient> gradient_;
    std::vector<SavedValue> saved_;
    Values all_inputs_;  ///< copies, where gradients are verified
    bool released_ = false;
};

}  // namespace whittle::api
