// What programs ask of autograd, with LibTorch's rules and words.
#define WHITTLE_API_IMPLEMENTATION
#include <whittle/api/autograd.h>

#include "api/engine.h"
#include "api/session.h"
#include "base/error.h"

namespace whittle::api {
namespace {

std::atomic<unsigned> next_hook{0};

/// Values are needed from here on: a graph that is being recorded ends.
void leave_graph(const TensorList& tensors, void* pc) {
    if (Session* session = Session::current())
        session->break_graph({.kind = capture::BreakKind::backward, .reason = "backward()", .op = "backward"}, pc);
    for (const Tensor& tensor : tensors)
        demand(tensor, {static_cast<int>(capture::BreakKind::backward), "backward()", "backward", pc});
}

/// The gradients that backward begins with.
TensorList initial_gradients(const TensorList& outputs, const TensorList& given) {
    if (!given.empty() && given.size() != outputs.size())
        throw Error("found " + std::to_string(given.size()) + " gradients for " + std::to_string(outputs.size()) +
                    " tensors, expected one gradient for each tensor");
    TensorList gradients;
    for (std::size_t i = 0; i < outputs.size(); ++i) {
        const ValueMeta& meta = outputs[i].impl()->meta;
        if (!meta.requires_grad)
            throw Error(
                "element " + std::to_string(i) + " of tensors does not require grad and does not have a grad_fn",
                "call requires_grad_() on an input of the computation, and compute the tensor outside of a "
                "NoGradGuard");
        if (given.empty() || !given[i].defined()) {
            if (is_complex(meta.dtype))
                throw Error("grad can be implicitly created only for real scalar outputs but got " +
                                std::string(name(meta.dtype)),
                            "pass the gradient of each output");
            if (meta.numel() != 1)
                throw Error("grad can be implicitly created only for scalar outputs",
                            "pass the gradient of each output");
            gradients.push_back(full(meta.sizes, 1, to_api(meta.dtype)));
            continue;
        }
        if (given[i].sizes() != meta.sizes)
            throw Error("invalid gradient at index " + std::to_string(i) + " - got " + to_string(given[i].sizes()) +
                        " but expected shape compatible with " + to_string(meta.sizes));
        gradients.push_back(given[i].to(to_api(meta.dtype)));
    }
    return gradients;
}

std::vector<Edge> edges_of(const TensorList& tensors) {
    std::vector<Edge> edges;
    for (const Tensor& tensor : tensors) edges.push_back(edge_of(tensor.impl()));
    return edges;
}

void check_inputs(const TensorList& inputs) {
    for (const Tensor& input : inputs)
        if (!defined(input, "grad").meta.requires_grad)
            throw Error("One of the differentiated Tensors does not require grad",
                        "call requires_grad_() on the inputs before the outputs are computed");
}

TensorList all_of(const TensorList& a, const TensorList& b, const TensorList& c) {
    TensorList all = a;
    for (const Tensor& tensor : b)
        if (tensor.defined()) all.push_back(tensor);
    all.insert(all.end(), c.begin(), c.end());
    return all;
}

void backward_from(const TensorList& tensors, const TensorList& grad_tensors, std::optional<bool> retain_graph,
                   bool create_graph, const TensorList& inputs, void* pc) {
    leave_graph(all_of(tensors, grad_tensors, inputs), pc);
    check_inputs(inputs);
    for (const Tensor& input : inputs)
        if (!input.is_leaf())
            throw Error("One of the differentiated Tensors given as 'inputs' to backward is not a leaf Tensor",
                        "call autograd::grad(), which also returns gradients of computed tensors");
    const NotRecording not_recording;
    const TensorList gradients = initial_gradients(tensors, grad_tensors);
    run_backward(edges_of(tensors), gradients,
                 {.retain_graph = retain_graph.value_or(create_graph),
                  .create_graph = create_graph,
                  .inputs = edges_of(inputs)});
}

GradHooks& hooks_of(const Tensor& tensor) {
    const Edge edge = edge_of(tensor.impl());
    return edge.node->hooks(edge.result);
}

}  // namespace

namespace autograd {

void backward(const TensorList& tensors, const TensorList& grad_tensors, std::optional<bool> retain_graph,
              bool create_graph, const TensorList& inputs) {
    backward_from(tensors, grad_tensors, retain_graph, create_graph, inputs, __builtin_return_address(0));
}

TensorList grad(const TensorList& outputs, const TensorList& inputs, const TensorList& grad_outputs,
                std::optional<bool> retain_graph, bool create_graph, bool allow_unused) {
    if (inputs.empty()) throw Error("grad requires non-empty inputs.");
    leave_graph(all_of(outputs, grad_outputs, inputs), __builtin_return_address(0));
    check_inputs(inputs);
    const NotRecording not_recording;
    const TensorList gradients = initial_gradients(outputs, grad_outputs);
    TensorList result = run_backward(edges_of(outputs), gradients,
                                     {.retain_graph = retain_graph.value_or(create_graph),
                                      .create_graph = create_graph,
                                      .inputs = edges_of(inputs),
                                      .returned = true});
    for (const Tensor& gradient : result)
        if (!gradient.defined() && !allow_unused)
            throw Error(
                "One of the differentiated Tensors appears to not have been used in the graph. Set allow_unused=True "
                "if this is the desired behavior.");
    return result;
}

}  // namespace autograd

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph) const {
    api::defined(*this, "backward");
    backward_from({*this}, {gradient}, retain_graph, create_graph, {}, __builtin_return_address(0));
}

const Tensor& Tensor::grad() const { return mutable_grad(); }
Tensor& Tensor::mutable_grad() const { return autograd_of(api::defined(*this, "grad")).grad; }

bool Tensor::is_leaf() const {
    const TensorImpl& impl = api::defined(*this, "is_leaf");
    if (impl.session) return !impl.meta.requires_grad;
    return !impl.autograd || !impl.autograd->made_by.node;
}

void Tensor::retain_grad() const {
    if (!requires_grad())
        throw Error("can't retain_grad on Tensor that has requires_grad=False",
                    "call requires_grad_() on an input of the computation");
    leave_graph({*this}, __builtin_return_address(0));
    const Edge edge = edge_of(impl_);
    if (!edge.node->is_leaf()) edge.node->retained[edge.result] = impl_;
}

unsigned Tensor::add_grad_hook(std::function<Tensor(const Tensor&)> hook, void* pc) const {
    if (!requires_grad())
        throw Error("cannot register a hook on a variable that doesn't require gradient",
                    "call requires_grad_() on an input of the computation");
    leave_graph({*this}, pc);
    const unsigned number = next_hook.fetch_add(1);
    hooks_of(*this).emplace(number, std::move(hook));
    return number;
}

void Tensor::remove_hook(unsigned number) const {
    if (!requires_grad() || hooks_of(*this).erase(number) == 0)
        throw Error("remove_hook: found number " + std::to_string(number) +
                    ", expected the number of a registered hook, which register_hook() returned");
}

}  // namespace whittle::api
