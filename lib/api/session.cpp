#define WHITTLE_API_IMPLEMENTATION
#include "api/session.h"

#include <utility>

#include "api/call.h"
#include "api/stack.h"
#include "base/error.h"
#include "graph/text.h"
#include "ops/families.h"
#include "ops/registry.h"

namespace whittle::api {

namespace {

using capture::BreakKind;
using capture::GraphBreak;
using capture::Source;

thread_local std::shared_ptr<Session> current_session;

}  // namespace

Session::Session(std::string frame, FrameHost& host) : frame_(std::move(frame)), host_(host), graph_("") { reset(); }

Session* Session::current() { return current_session.get(); }

std::shared_ptr<Session> Session::exchange(std::shared_ptr<Session> session) {
    return std::exchange(current_session, std::move(session));
}

void Session::reset() {
    graph_ = capture::OutputGraph(frame_ + "_" + std::to_string(graphs_run_));
    pending_.clear();
    inputs_.clear();
    stacks_.clear();
    known_.clear();
    live_inputs_ = global_inputs_ = random_inputs_ = 0;
}

void Session::know(const Tensor& tensor, const Source& source) {
    if (!tensor.defined()) return;
    sources_.emplace(tensor.impl()->key, source);
    kept_.push_back(tensor.impl());
}

void Session::know_parameter(const Tensor& tensor, const std::string& qualified_name) {
    if (!tensor.defined()) return;
    parameters_.emplace(tensor.impl()->key, qualified_name);
    kept_.push_back(tensor.impl());
}

Source Session::source_of(const ImplPtr& operand) {
    if (const auto known = sources_.find(operand->key); known != sources_.end()) return known->second;
    if (const auto made = made_here_.find(operand->key); made != made_here_.end())
        return made->second ? Source::random(random_inputs_++) : Source::live(live_inputs_++);
    return Source::global("tensor_" + std::to_string(global_inputs_++));
}

NodeRef Session::node_of(const ImplPtr& operand) {
    if (operand->session.get() == this) return operand->node;
    demand(Tensor(operand), {});  // of another session
    const auto [known, added] = known_.try_emplace(operand->key);
    if (added) known->second = input(operand);
    return known->second;
}

NodeRef Session::input(const ImplPtr& operand) {
    if (const auto parameter = parameters_.find(operand->key); parameter != parameters_.end())
        return graph_.parameter(parameter->second, *operand->value, operand->key);
    if (!operand->qualified_name.empty())
        return graph_.parameter(operand->qualified_name, *operand->value, operand->key);
    const Source source = source_of(operand);
    inputs_.emplace(source.text(), operand);
    return graph_.input(source, operand->meta, operand->key);
}

TensorList Session::add(Node call, std::vector<ValueMeta> metas, const Addresses& stack) {
    const std::vector<NodeRef> nodes = graph_.call({.target = std::move(call.target),
                                                    .args = std::move(call.args),
                                                    .kwargs = std::move(call.kwargs),
                                                    .results = metas,
                                                    .module_path = std::move(call.module_path)});
    TensorList results;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        stacks_[graph_.graph().node(nodes[i]).name] = stack;
        auto impl = make_impl({});
        impl->value.reset();
        impl->meta = metas[i];
        impl->session = shared_from_this();
        impl->node = nodes[i];
        pending_.push_back(impl);
        results.push_back(Tensor(std::move(impl)));
    }
    return results;
}

TensorList Session::record(Node call, const std::vector<ImplPtr>& operands, void* pc) {
    const RegisteredOp& op = Registry::instance().require(call.target);
    if (op.def->random) {  // drawn in program order, before the graph that uses it
        NotRecording not_recording;
        for (const ImplPtr& operand : operands)
            demand(Tensor(operand),
                   {static_cast<int>(BreakKind::unsupported), "random values of computed ones", call.target, pc});
        TensorList results;
        for (const whittle::Tensor& value : run_now(call, operands)) {
            results.push_back(wrap(value));
            made_here_[results.back().impl()->key] = true;
        }
        return results;
    }
    bool gradient = false;
    const Node mapped = map_inputs(call, [&](NodeRef ref) {
        const ImplPtr& operand = operands.at(static_cast<std::size_t>(ref.id));
        gradient |= operand->meta.requires_grad;
        return Arg(node_of(operand));
    });
    std::vector<ValueMeta> metas = infer(graph_.graph(), mapped);
    if (gradient && grad_enabled())
        for (ValueMeta& meta : metas) meta.requires_grad = is_floating(meta.dtype);
    return add(mapped, std::move(metas), host_.wants_stacks() ? capture_stack() : Addresses{pc});
}

void Session::break_graph(GraphBreak why, void* pc) {
    if (empty()) return;
    flush(std::move(why), host_.wants_stacks() ? capture_stack() : Addresses{pc});
}

void Session::finish() { flush(std::nullopt, {}); }

void Session::abandon() {
    for (const std::weak_ptr<TensorImpl>& entry : pending_)
        if (const ImplPtr impl = entry.lock()) impl->session.reset();
    reset();
}

namespace {

std::string key_of(const Graph& graph) {
    Graph nameless = graph;
    nameless.name = "g";
    return print(nameless);
}

/// The value as the graph promised it: a backend may lay it out differently.
whittle::Tensor as_promised(whittle::Tensor value, const ValueMeta& meta, const std::string& graph) {
    if (value.dtype() != meta.dtype || value.sizes() != meta.sizes)
        throw Error("graph " + graph + ": the backend returned " + std::string(whittle::name(value.dtype())) +
                    to_string(value.sizes()) + ", expected " + std::string(whittle::name(meta.dtype)) +
                    to_string(meta.sizes));
    return value.requires_grad() == meta.requires_grad ? value : value.with_requires_grad(meta.requires_grad);
}

}  // namespace

void Session::flush(std::optional<GraphBreak> why, Addresses stack) {
    const std::shared_ptr<Session> self = shared_from_this();  // values that are given up must not end us here
    std::vector<ImplPtr> live;
    std::vector<NodeRef> results;
    for (const std::weak_ptr<TensorImpl>& entry : pending_)
        if (ImplPtr impl = entry.lock(); impl && impl->session.get() == this) {
            results.push_back(impl->node);
            live.push_back(std::move(impl));
        }
    NotRecording not_recording;
    if (why) host_.broke(*why, stack);
    Recorded recorded{.captured = {}, .ended_at = std::move(stack)};
    std::optional<capture::CapturedGraph> finished = graph_.finish(results, std::move(why));
    if (!finished || finished->graph.calls().empty()) return reset();
    recorded.captured = std::move(*finished);
    const Graph& graph = recorded.captured.graph;
    recorded.key = key_of(graph);
    for (const Node& node : graph.nodes) {
        const auto known = stacks_.find(node.name);
        recorded.stacks.push_back(known == stacks_.end() ? Addresses{} : known->second);
    }
    std::vector<whittle::Tensor> inputs;
    for (const Source& source : recorded.captured.sources) inputs.push_back(*inputs_.at(source.text())->value);
    const auto keep = std::move(inputs_);
    ++graphs_run_;
    reset();
    std::vector<whittle::Tensor> outputs;
    try {
        outputs = host_.run(recorded, inputs);
        for (std::size_t i = 0; i < live.size(); ++i)
            outputs.at(i) = as_promised(outputs.at(i), live[i]->meta, graph.name);
    } catch (...) {
        for (const ImplPtr& impl : live) impl->session.reset();
        throw;
    }
    for (std::size_t i = 0; i < live.size(); ++i) {
        live[i]->value = outputs[i];
        live[i]->meta = ValueMeta::of(outputs[i]);
        live[i]->session.reset();
        made_here_.emplace(live[i]->key, false);
    }
}

const whittle::Tensor& demand(const Tensor& tensor, const Demand& why) {
    TensorImpl& impl = defined(tensor, why.op.c_str());
    if (impl.session) {
        const std::shared_ptr<Session> session = impl.session;
        session->break_graph({.kind = static_cast<BreakKind>(why.kind), .reason = why.reason, .op = why.op}, why.pc);
    }
    if (!impl.value)
        throw Error("the tensor has no value: the graph that computes it failed, or was given up by an exception");
    return *impl.value;
}

TensorImpl& defined(const Tensor& tensor, const char* what) {
    if (!tensor.defined()) throw Error(std::string(what) + ": found an undefined tensor");
    return *tensor.impl();
}

}  // namespace whittle::api
