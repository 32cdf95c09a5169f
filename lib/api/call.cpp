#define WHITTLE_API_IMPLEMENTATION
#include "api/call.h"

#include <cstring>

#include "api/global_state.h"
#include "api/module_path.h"
#include "api/probes.h"
#include "api/session.h"
#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/core/interpreter.h"

namespace whittle::api {

namespace {

std::atomic<std::uint64_t> next_key{1};

thread_local bool grad_mode = true;

}  // namespace

bool grad_enabled() { return grad_mode; }
void set_grad_enabled(bool value) { grad_mode = value; }

ImplPtr make_pending(const ValueMeta& meta) {
    auto impl = std::make_shared<TensorImpl>();
    impl->key = next_key.fetch_add(1, std::memory_order_relaxed);
    impl->meta = meta;
    return impl;
}

ImplPtr make_impl(whittle::Tensor value) {
    auto impl = std::make_shared<TensorImpl>();
    impl->key = next_key.fetch_add(1, std::memory_order_relaxed);
    impl->meta = ValueMeta::of(value);
    impl->value = std::move(value);
    return impl;
}

whittle::Scalar to_internal(const Scalar& scalar) {
    switch (scalar.kind()) {
        case Scalar::Kind::floating:
            return {scalar.to<double>()};
        case Scalar::Kind::boolean:
            return {scalar.to<bool>()};
        case Scalar::Kind::integer:
            break;
    }
    return {scalar.to<std::int64_t>()};
}

Graph graph_of_call(const Node& call, const std::vector<ImplPtr>& operands) {
    Graph graph;
    std::vector<NodeRef> refs;
    for (const ImplPtr& operand : operands) refs.push_back(graph.placeholder("operand", operand->meta));
    Node node = map_inputs(call, [&](NodeRef ref) { return Arg(refs.at(static_cast<std::size_t>(ref.id))); });
    node.results = infer(graph, node);
    const NodeRef made = graph.add(std::move(node));
    graph.output(add_results(graph, made));
    return graph;
}

std::vector<whittle::Tensor> run_now(const Node& call, const std::vector<ImplPtr>& operands) {
    const RegisteredOp& op = Registry::instance().require(call.target);
    if (!op.def->eval) {
        std::vector<whittle::Tensor> inputs;
        for (const ImplPtr& operand : operands) inputs.push_back(*operand->value);
        return evaluate(graph_of_call(call, operands), inputs);
    }
    const Arguments<whittle::Tensor> arguments(
        op.schema, call, [&](NodeRef ref) { return *operands.at(static_cast<std::size_t>(ref.id))->value; });
    check_main_dtype(op, arguments);
    return op.def->eval(arguments);
}

Arg Call::reference(const Tensor& tensor) {
    if (!tensor.defined()) return {};
    operands_.push_back(tensor.impl());
    return Arg(NodeRef{static_cast<NodeId>(operands_.size() - 1)});
}

void Call::push(Arg arg) {
    if (keyword_)
        node_.kwargs.emplace_back(keyword_, std::move(arg));
    else
        node_.args.push_back(std::move(arg));
}

void Call::add(const TensorList& values) {
    ArgList list;
    for (const Tensor& value : values) {
        if (!value.defined()) throw Error(node_.target + ": found an undefined tensor in a list");
        list.push_back(reference(value));
    }
    push(Arg(std::move(list)));
}

void Call::add(const std::vector<OptionalTensor>& values) {
    ArgList list;
    for (const OptionalTensor& value : values) list.push_back(value ? reference(*value) : Arg());
    push(Arg(std::move(list)));
}

void Call::add(const Scalar& value) { push(Arg(to_internal(value))); }

void Call::add(const IntList& value) { push(value.given() ? Arg::ints(value.values()) : Arg()); }

void Call::add(const FloatList& value) {
    if (!value.given()) return push(Arg());
    const ArgList list(value.values().begin(), value.values().end());
    push(Arg(list));
}

namespace {

/// Arguments that only repeat their default are left out, as people write calls.
void drop_defaults(Node& call, const Schema& schema) {
    while (!call.args.empty() && call.args.size() <= schema.params.size()) {
        const Param& param = schema.params[call.args.size() - 1];
        if (!param.default_value || !(call.args.back() == *param.default_value)) break;
        call.args.pop_back();
    }
    std::erase_if(call.kwargs, [&](const auto& keyword) {
        const Param* param = schema.param(keyword.first);
        return param && param->default_value && keyword.second == *param->default_value;
    });
}

bool wants_gradient(const std::vector<ImplPtr>& operands) {
    if (!grad_mode) return false;
    for (const ImplPtr& operand : operands)
        if (operand->meta.requires_grad) return true;
    return false;
}

}  // namespace

Tensor Call::one() {
    const TensorList results = list();
    WHITTLE_CHECK(results.size() == 1, node_.target + " has several results");
    return results.front();
}

void Call::check(const Schema& schema) {
    for (std::size_t i = 0; i < node_.args.size() && i < schema.params.size(); ++i) {
        const Param& param = schema.params[i];
        if (param.type == ParamType::tensor && !param.optional && node_.args[i].is_none())
            throw Error(node_.target + ": '" + param.name + "' is an undefined tensor");
    }
    drop_defaults(node_, schema);
}

TensorList Call::list() {
    const Schema& schema = Registry::instance().require(node_.target).schema;
    check(schema);
    use_default_dtype(node_, schema, operands_, pc_);
    return issue(std::move(node_), operands_, pc_);
}

TensorList issue(Node call, const std::vector<ImplPtr>& operands, void* pc) {
    call.module_path = current_module_path();
    if (!Session::current()) begin_implicit_frame();
    if (Session* session = Session::current()) return session->record(std::move(call), operands, pc);
    for (const ImplPtr& operand : operands) demand(Tensor(operand), {});
    const bool gradient = wants_gradient(operands) && !Registry::instance().require(call.target).def->random;
    TensorList results;
    for (const whittle::Tensor& value : run_now(call, operands))
        results.push_back(wrap(gradient && is_floating(value.dtype()) ? value.with_requires_grad(true) : value));
    return results;
}

void Call::in_place(const Tensor& self) {
    const InPlaceForm* form = Registry::instance().in_place(node_.target);
    WHITTLE_CHECK(form != nullptr, node_.target + " is no in-place op");
    check(form->schema);
    TensorImpl& impl = *self.impl();
    if (grad_mode && impl.meta.requires_grad)
        throw Error(node_.target + ": found a tensor that requires a gradient, expected one without",
                    "write to it under a NoGradGuard");
    if (!Session::current()) begin_implicit_frame();
    if (Session* session = Session::current())
        return session->record_write(std::move(node_), form->functional, operands_, pc_);
    for (const ImplPtr& operand : operands_) demand(Tensor(operand), {});
    Node functional = node_;
    functional.target = form->functional;
    const whittle::Tensor result = run_now(functional, operands_).at(0);
    write_into(*impl.value, result);
}

}  // namespace whittle::api
