#define WHITTLE_API_IMPLEMENTATION
#include "api/grad_node.h"

#include <algorithm>

#include "api/call.h"
#include "base/error.h"

namespace whittle::api {
namespace {

std::atomic<std::uint64_t> next_number{1};

}  // namespace

GradNode::GradNode() : number(next_number.fetch_add(1, std::memory_order_relaxed)) {}

/// One by one, since chains may be long.
GradNode::~GradNode() {
    std::vector<Edge> dying = std::move(edges);
    while (!dying.empty()) {
        const Edge edge = std::move(dying.back());
        dying.pop_back();
        if (edge.node.use_count() != 1) continue;
        std::move(edge.node->edges.begin(), edge.node->edges.end(), std::back_inserter(dying));
        edge.node->edges.clear();
        edge.node->release();
    }
}

GradHooks& Accumulator::hooks(std::size_t) { return autograd_of(*leaf_).leaf_hooks; }

TensorList Accumulator::apply(const TensorList& gradients, bool create_graph) {
    const std::lock_guard lock(mutex_);
    add_to_grad(autograd_of(*leaf_).grad, gradients.at(0), create_graph);
    return {};
}

void add_to_grad(Tensor& grad, const Tensor& added, bool create_graph) {
    if (!grad.defined()) {  // a copy: what was given belongs to who gave it
        grad = create_graph ? added : wrap(added.impl()->value->contiguous().clone().with_requires_grad(false));
    } else if (create_graph) {
        grad = add(grad, added);
    } else {
        const NoGradGuard no_grad;
        grad.add_(added);  // whoever holds it sees it
    }
}

CallNode::CallNode(const Node& call, const std::vector<ImplPtr>& operands)
    : target_(call.target), derivative_(derivative_of(call, operands)) {
    for (const std::size_t position : derivative_->gradients) edges.push_back(edge_of(operands.at(position)));
    if (!derivative_->error.empty())
        for (const ImplPtr& operand : operands)
            if (operand->meta.requires_grad) edges.push_back(edge_of(operand));
}

void CallNode::save(const std::vector<ImplPtr>& operands, const std::vector<whittle::Tensor>& results) {
    results_ = results.size();
    for (const Saved& saved : derivative_->parts.saved) {
        if (saved.is_output) {
            saved_.push_back({SavedValue(results.at(saved.position)), {}, saved.position, false});
            continue;
        }
        const ImplPtr& operand = operands.at(saved.position);
        saved_.push_back({SavedValue(*operand->value), operand->meta.requires_grad ? edge_of(operand) : Edge()});
    }
}

Tensor CallNode::with_history(const Kept& kept) {
    const ImplPtr impl = make_impl(kept.value.get(target_).with_requires_grad(false));
    const Edge made_by = kept.is_operand ? kept.made_by : Edge{shared_from_this(), kept.result};
    if (made_by.node) set_history(*impl, made_by);
    return Tensor(impl);
}

TensorList CallNode::apply(const TensorList& gradients, bool create_graph) {
    if (!derivative_->error.empty()) throw Error(derivative_->error);
    if (released_ && !derivative_->parts.saved.empty()) throw_released();
    const TensorList tangents = tangents_of(*derivative_, gradients);
    if (create_graph) {
        std::vector<ImplPtr> inputs;
        for (const Kept& kept : saved_) inputs.push_back(with_history(kept).impl());
        for (const Tensor& tangent : tangents) inputs.push_back(tangent.impl());
        return issue_calls(derivative_->parts.backward, inputs, [](Node call, const std::vector<ImplPtr>& operands) {
            return issue(std::move(call), operands, nullptr);
        });
    }
    std::vector<whittle::Tensor> inputs;
    for (const Kept& kept : saved_) inputs.push_back(kept.value.get(target_));
    for (const Tensor& tangent : tangents) inputs.push_back(*tangent.impl()->value);
    TensorList result;
    for (const whittle::Tensor& value : Interpreter().run(*derivative_->prepared, inputs))
        result.push_back(wrap(value.with_requires_grad(false)));
    return result;
}

void CallNode::release() {
    released_ = true;
    saved_.clear();
}

TensorList tangents_of(const Derivative& derivative, const TensorList& gradients) {
    TensorList tangents;
    for (std::size_t i = 0; i < derivative.tangents.size(); ++i) {
        const Tensor& given = gradients.at(derivative.tangents[i]);
        const ValueMeta& meta = derivative.tangent_metas[i];
        tangents.push_back(given.defined() ? given.contiguous() : wrap(whittle::Tensor(meta.dtype, meta.sizes)));
    }
    return tangents;
}

void throw_released() {
    throw Error(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad()",
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward.");
}

namespace {

/// Over what a tensor has of autograd, but for its gradient: threads may read one tensor, and reading makes views and
/// edges.
std::mutex& autograd_mutex() {
    static auto* const mutex = new std::mutex;  // tensors may outlive what is static
    return *mutex;
}

AutogradMeta& autograd_locked(TensorImpl& impl) {
    if (!impl.autograd) impl.autograd = std::make_shared<AutogradMeta>();
    return *impl.autograd;
}

}  // namespace

AutogradMeta& autograd_of(TensorImpl& impl) {
    const std::lock_guard lock(autograd_mutex());
    return autograd_locked(impl);
}

Edge edge_of(const ImplPtr& impl) {
    std::shared_ptr<GradNode> accumulator;  // dies behind the lock
    const std::lock_guard lock(autograd_mutex());
    AutogradMeta& autograd = autograd_locked(*impl);
    if (autograd.made_by.node) return autograd.made_by;
    accumulator = autograd.accumulator.lock();
    if (!accumulator) autograd.accumulator = accumulator = std::make_shared<Accumulator>(impl);
    return {accumulator, 0};
}

void set_history(TensorImpl& impl, Edge made_by) {
    AutogradMeta& autograd = autograd_of(impl);
    if (const Edge& before = autograd.made_by; before.node)  // who retains the gradient means that of the new value
        if (const auto retained = before.node->retained.find(before.result);
            retained != before.node->retained.end() && retained->second.lock().get() == &impl) {
            made_by.node->retained[made_by.result] = retained->second;
            before.node->retained.erase(retained);
        }
    autograd.made_by = std::move(made_by);
    impl.meta.requires_grad = true;
    if (impl.value) impl.value = impl.value->with_requires_grad(true);
}

void note_view(const ImplPtr& view, const ImplPtr& of) {
    const std::lock_guard lock(autograd_mutex());
    const ImplPtr root = of->autograd && of->autograd->view_of ? of->autograd->view_of : of;
    if (root == view) return;
    autograd_locked(*view).view_of = root;
    auto& views = autograd_locked(*root).views;
    std::erase_if(views, [](const auto& other) { return other.expired(); });
    views.push_back(view);
}

bool has_aliases(const TensorImpl& impl) {
    const std::lock_guard lock(autograd_mutex());
    return impl.autograd && (impl.autograd->view_of || std::ranges::any_of(impl.autograd->views, [](const auto& view) {
                                 return !view.expired();
                             }));
}

}  // namespace whittle::api
