// What autograd goes back along: each operation that gradients flow through is a node, whose edges lead to the nodes
// that its operands came of.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "api/derivative.h"
#include "api/impl.h"
#include "api/saved_value.h"

namespace whittle::api {

class GradNode;

/// A result of a node: where a gradient goes. No node: nowhere.
struct Edge {
    std::shared_ptr<GradNode> node = {};
    std::size_t result = 0;
};

using GradHook = std::function<Tensor(const Tensor&)>;

/// In the order of their numbers.
using GradHooks = std::map<unsigned, GradHook>;

/// What a tensor has of autograd.
struct AutogradMeta {
    Edge made_by = {};                         ///< no node: a leaf
    std::weak_ptr<GradNode> accumulator = {};  ///< of a leaf
    Tensor grad = {};
    GradHooks leaf_hooks = {};
    ImplPtr view_of = {};                          ///< whose memory it shows, if that is another tensor's
    std::vector<std::weak_ptr<TensorImpl>> views;  ///< that were made of it
};

class GradNode : public std::enable_shared_from_this<GradNode> {
  public:
    GradNode();
    virtual ~GradNode();
    GradNode(const GradNode&) = delete;
    GradNode& operator=(const GradNode&) = delete;

    virtual std::string name() const = 0;
    /// A gradient for each edge, undefined where there is none, from those of the results. With `create_graph`, whose
    /// operations have gradients themselves.
    virtual TensorList apply(const TensorList& gradients, bool create_graph) = 0;
    /// The same, and what is saved is not needed any more: it can be freed on the way.
    virtual TensorList apply_last(const TensorList& gradients, bool create_graph) {
        TensorList result = apply(gradients, create_graph);
        release();
        return result;
    }
    /// What is saved is not needed any more.
    virtual void release() {}
    /// Gradients end here.
    virtual bool is_leaf() const { return false; }
    virtual GradHooks& hooks(std::size_t result) { return hooks_[result]; }
    virtual std::size_t results() const = 0;

    std::vector<Edge> edges = {};
    std::map<std::size_t, std::weak_ptr<TensorImpl>> retained = {};  ///< who wants a result's gradient as grad()
    const std::uint64_t number;                                      ///< later ones are greater

  private:
    std::map<std::size_t, GradHooks> hooks_;
};

/// Adds to grad() of a leaf.
class Accumulator final : public GradNode {
  public:
    explicit Accumulator(ImplPtr leaf) : leaf_(std::move(leaf)) {}
    std::string name() const override { return "AccumulateGrad"; }
    TensorList apply(const TensorList& gradients, bool create_graph) override;
    bool is_leaf() const override { return true; }
    GradHooks& hooks(std::size_t result) override;
    std::size_t results() const override { return 1; }
    const ImplPtr& leaf() const { return leaf_; }

  private:
    ImplPtr leaf_;
    std::mutex mutex_;
};

/// An operation that ran by itself.
class CallNode final : public GradNode {
  public:
    CallNode(const Node& call, const std::vector<ImplPtr>& operands);
    /// The call's results, as values: what is needed of them is saved.
    void save(const std::vector<ImplPtr>& operands, const std::vector<whittle::Tensor>& results);

    std::string name() const override { return target_; }
    TensorList apply(const TensorList& gradients, bool create_graph) override;
    void release() override;
    std::size_t results() const override { return results_; }

  private:
    /// With its history.
    struct Kept {
        SavedValue value;
        Edge made_by = {};       ///< of an operand
        std::size_t result = 0;  ///< else
        bool is_operand = true;
    };
    Tensor with_history(const Kept& kept);

    std::string target_;
    std::shared_ptr<const CallDerivative> derivative_;
    std::vector<Kept> saved_;
    std::size_t results_ = 0;
    bool released_ = false;
};

/// Adds to a grad(), in place unless with history.
void add_to_grad(Tensor& grad, const Tensor& added, bool create_graph);
/// For derivative.tangents; zeros where nothing depends on the result.
TensorList tangents_of(const Derivative& derivative, const TensorList& gradients);
[[noreturn]] void throw_released();

AutogradMeta& autograd_of(TensorImpl& impl);
/// Where the gradient of a tensor that requires one goes.
Edge edge_of(const ImplPtr& impl);
/// The tensor is a result of the node from now on.
void set_history(TensorImpl& impl, Edge made_by);
/// The first shows memory of the second.
void note_view(const ImplPtr& view, const ImplPtr& of);
/// Another tensor that the program has shows memory of this one, or this one of another.
bool has_aliases(const TensorImpl& impl);

}  // namespace whittle::api
