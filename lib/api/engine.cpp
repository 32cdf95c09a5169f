#define WHITTLE_API_IMPLEMENTATION
#include "api/engine.h"

#include <algorithm>
#include <set>

#include "api/global_state.h"
#include "api/session.h"
#include "base/error.h"

namespace whittle::api {
namespace {

/// Leaves first, then later operations before earlier ones.
struct First {
    bool operator()(const GradNode* a, const GradNode* b) const {
        return a->is_leaf() != b->is_leaf() ? a->is_leaf() : a->number > b->number;
    }
};

class Run {
  public:
    explicit Run(const BackwardOptions& options) : options_(options) {}

    TensorList run(const std::vector<Edge>& roots, const TensorList& gradients) {
        find_nodes(roots);
        find_needed();
        captured_.resize(options_.inputs.size());
        for (std::size_t i = 0; i < roots.size(); ++i) add(roots[i], gradients[i]);
        for (const Edge& root : roots)
            if (waiting_for_.at(root.node.get()) == 0) ready_.insert(root.node.get());
        while (!ready_.empty()) {
            GradNode& node = **ready_.begin();
            ready_.erase(ready_.begin());
            visit(node);
        }
        return std::move(captured_);
    }

  private:
    void find_nodes(const std::vector<Edge>& roots) {
        std::vector<GradNode*> work;
        const auto reach = [&](GradNode* node) {
            if (waiting_for_.try_emplace(node, 0).second) work.push_back(node);
        };
        for (const Edge& root : roots) reach(root.node.get());
        while (!work.empty()) {
            GradNode* const node = work.back();
            work.pop_back();
            for (const Edge& edge : node->edges) {
                if (!edge.node) continue;
                reach(edge.node.get());
                ++waiting_for_.at(edge.node.get());
            }
        }
    }

    /// What runs: all that leads to one of the inputs, or everything where none is named.
    void find_needed() {
        std::vector<GradNode*> nodes;  // behind those that their edges lead to
        for (const auto& [node, count] : waiting_for_) nodes.push_back(node);
        std::ranges::sort(nodes, [](const GradNode* a, const GradNode* b) {
            return a->is_leaf() != b->is_leaf() ? a->is_leaf() : a->number < b->number;
        });
        std::set<const GradNode*> leading;
        for (const Edge& input : options_.inputs) leading.insert(input.node.get());
        const std::set<const GradNode*> inputs = leading;
        for (GradNode* const node : nodes) {
            const bool leads = std::ranges::any_of(
                node->edges, [&](const Edge& edge) { return edge.node && leading.contains(edge.node.get()); });
            if (leads) leading.insert(node);
            if (options_.inputs.empty() || leads || (node->is_leaf() && inputs.contains(node))) needed_.insert(node);
        }
    }

    void add(const Edge& to, const Tensor& gradient) {
        TensorList& sums = sums_[to.node.get()];
        sums.resize(to.node->results());
        Tensor& sum = sums.at(to.result);
        if (!gradient.defined()) return;
        sum = sum.defined() ? sum + gradient : gradient;
    }

    void visit(GradNode& node) {
        TensorList gradients = std::move(sums_[&node]);
        sums_.erase(&node);
        gradients.resize(node.results());
        for (std::size_t i = 0; i < gradients.size(); ++i)
            if (gradients[i].defined()) pass_hooks(node, i, gradients[i]);
        capture(node, gradients);
        const bool any = std::ranges::any_of(gradients, [](const Tensor& gradient) { return gradient.defined(); });
        TensorList passed(node.edges.size());
        if (any && needed_.contains(&node) && !(node.is_leaf() && options_.returned)) {
            const bool last = !options_.retain_graph;
            passed =
                last ? node.apply_last(gradients, options_.create_graph) : node.apply(gradients, options_.create_graph);
        }
        for (std::size_t i = 0; i < node.edges.size(); ++i) {
            const Edge& edge = node.edges[i];
            if (!edge.node) continue;
            add(edge, passed.at(i));
            if (--waiting_for_.at(edge.node.get()) == 0) ready_.insert(edge.node.get());
        }
    }

    void pass_hooks(GradNode& node, std::size_t result, Tensor& gradient) const {
        const GradHooks hooks = node.hooks(result);  // one may remove another
        for (const auto& [number, hook] : hooks)
            if (Tensor changed = hook(gradient); changed.defined()) {
                if (changed.sizes() != gradient.sizes())
                    throw Error("hook has changed the size of value: found " + to_string(changed.sizes()) +
                                ", expected " + to_string(gradient.sizes()));
                if (changed.dtype() != gradient.dtype())
                    throw Error("hook has changed the type of value: found " + std::string(name(changed.dtype())) +
                                ", expected " + std::string(name(gradient.dtype())));
                gradient = std::move(changed);
            }
        if (const auto retained = node.retained.find(result); retained != node.retained.end())
            if (const ImplPtr impl = retained->second.lock())
                add_to_grad(autograd_of(*impl).grad, gradient, options_.create_graph);
    }

    void capture(const GradNode& node, const TensorList& gradients) {
        if (!options_.returned) return;
        for (std::size_t i = 0; i < options_.inputs.size(); ++i)
            if (options_.inputs[i].node.get() == &node) captured_[i] = gradients.at(options_.inputs[i].result);
    }

    const BackwardOptions& options_;
    std::map<GradNode*, std::size_t> waiting_for_;  ///< edges that lead to it, of nodes that have not run
    std::set<const GradNode*> needed_;
    std::map<const GradNode*, TensorList> sums_;
    std::set<GradNode*, First> ready_;
    TensorList captured_;
};

}  // namespace

TensorList run_backward(const std::vector<Edge>& roots, const TensorList& gradients, const BackwardOptions& options) {
    const NotRecording not_recording;
    const GradMode mode(options.create_graph);
    return Run(options).run(roots, gradients);
}

}  // namespace whittle::api
