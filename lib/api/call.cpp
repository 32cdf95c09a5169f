#define WHITTLE_API_IMPLEMENTATION
#include "api/call.h"

#include <algorithm>

#include "api/global_state.h"
#include "api/grad_node.h"
#include "api/module_path.h"
#include "api/probes.h"
#include "api/session.h"
#include "base/error.h"
#include "graph/value_ref.h"
#include "ops/aten/data_sizes.h"
#include "ops/core/interpreter.h"
#include "ops/core/layout.h"
#include "ops/core/mode.h"
#include "passes/decompose.h"

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

namespace {

std::vector<whittle::Tensor> run_kernel(const Node& call, const std::vector<ImplPtr>& operands) {
    const RegisteredOp& op = Registry::instance().require(call.target);
    if (!op.def->eval) {
        std::vector<whittle::Tensor> inputs;
        for (const ImplPtr& operand : operands) inputs.push_back(*operand->value);
        return evaluate(graph_of_call(call, operands), inputs);
    }
    const Arguments<whittle::Tensor> arguments(
        op.schema, call, [&](NodeRef ref) { return *operands.at(static_cast<std::size_t>(ref.id))->value; });
    check_main_dtype(op, arguments);
    return whittle::run_kernel(op, arguments);
}

/// `told` is what modes are told, the in-place call where `computed` computes what that writes.
std::vector<whittle::Tensor> run_now(const Node& told, const Node& computed, const std::vector<ImplPtr>& operands) {
    if (!in_mode()) return run_kernel(computed, operands);
    const std::function<whittle::Tensor(NodeRef)> value = [&](NodeRef ref) {
        return *operands.at(static_cast<std::size_t>(ref.id))->value;
    };
    return under_modes({told, value}, [&] { return run_kernel(computed, operands); });
}

}  // namespace

std::vector<whittle::Tensor> run_now(const Node& call, const std::vector<ImplPtr>& operands) {
    return run_now(call, call, operands);
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
        if (!value.defined())
            throw Error(node_.target + ": found an undefined tensor in a list, expected only defined tensors");
        list.push_back(reference(value));
    }
    push(Arg(std::move(list)));
}

void Call::add(const std::vector<OptionalTensor>& values) {
    ArgList list;
    for (const OptionalTensor& value : values) list.push_back(value ? reference(*value) : Arg());
    push(Arg(std::move(list)));
}

void Call::add(const Scalar& value) {
    if (!value.symbol()) return push(Arg(to_internal(value)));
    if (keyword_) return push(Arg(demanded(value)));
    symbols_.emplace_back(node_.args.size(), value);
    const Scalar::Kind kind = value.kind();
    push(Arg(to_internal(kind == Scalar::Kind::floating  ? Scalar(2.0)
                         : kind == Scalar::Kind::boolean ? Scalar(true)
                                                         : Scalar(2))));
}

whittle::Scalar Call::demanded(const Scalar& symbol) const {
    const std::string why = "item(): " + node_.target + " needs the value of a tensor as a number";
    return demand(Tensor(symbol.symbol()), {static_cast<int>(capture::BreakKind::item), why, "aten.item", pc_}).item();
}

namespace {

/// The op that takes a tensor as that argument, which here is a number: "aten.gt.Tensor" for "aten.gt.Scalar". Empty:
/// there is none.
std::string with_tensor(const std::string& target, std::size_t position, bool in_place) {
    const auto takes = [&](const std::string& name) {
        const Schema* schema = nullptr;
        if (in_place) {
            const InPlaceForm* const form = Registry::instance().in_place(name);
            schema = form ? &form->schema : nullptr;
        } else if (const RegisteredOp* const op = Registry::instance().op(name)) {
            schema = &op->schema;
        }
        return schema && position < schema->params.size() && schema->params[position].type == ParamType::tensor;
    };
    if (takes(target)) return target;
    constexpr std::string_view kNumber = "Scalar", kTensor = "Tensor";
    if (!target.ends_with(kNumber)) return {};
    std::string other = target.substr(0, target.size() - kNumber.size());
    other += kTensor;
    return takes(other) ? other : std::string();
}

/// Whether both calls have results of the same kinds.
bool same_result_kinds(const Node& a, const std::vector<ImplPtr>& of_a, const Node& b,
                       const std::vector<ImplPtr>& of_b) {
    const auto results = [](const Node& call, const std::vector<ImplPtr>& operands) {
        const Graph graph = graph_of_call(call, operands);
        std::vector<ValueMeta> metas;
        for (const NodeId id : graph.outputs()) metas.push_back(graph.node({id}).meta());
        return metas;
    };
    try {
        return results(a, of_a) == results(b, of_b);
    } catch (const Error&) {  // told when it is recorded
        return false;
    }
}

}  // namespace

bool Call::take_symbol(std::size_t position, const Scalar& number, bool in_place) {
    const Session* const session = Session::current();
    if (!session || !session->captures_scalars()) return false;
    const std::string target = with_tensor(node_.target, position, in_place);
    if (target.empty()) return false;
    // A number keeps its precision in an operation of f16, where a tensor would be rounded first.
    for (const ImplPtr& operand : operands_)
        if (operand->meta.dtype == DType::f16 || operand->meta.dtype == DType::bf16) return false;
    Node call = node_;
    call.target = target;
    call.args[position] = Arg(NodeRef{static_cast<NodeId>(operands_.size())});
    std::vector<ImplPtr> operands = operands_;
    operands.push_back(number.symbol());
    if (!in_place && !same_result_kinds(node_, operands_, call, operands)) return false;
    node_ = std::move(call);
    operands_ = std::move(operands);
    return true;
}

void Call::take_symbols(bool in_place) {
    for (const auto& [position, number] : std::exchange(symbols_, {}))
        if (!take_symbol(position, number, in_place)) node_.args[position] = Arg(demanded(number));
}

void Call::add(const IntList& value) { push(value.given() ? Arg::ints(value.values()) : Arg()); }

void Call::add(const FloatList& value) {
    if (!value.given()) return push(Arg());
    const ArgList list(value.values().begin(), value.values().end());
    push(Arg(list));
}

void Call::add(const std::vector<bool>& values) {
    ArgList list;
    for (const bool value : values) list.emplace_back(value);
    push(Arg(std::move(list)));
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

}  // namespace

bool wants_gradient(const std::vector<ImplPtr>& operands) {
    if (!grad_mode) return false;
    for (const ImplPtr& operand : operands)
        if (operand->meta.requires_grad) return true;
    return false;
}

Tensor Call::one() {
    const TensorList results = list();
    WHITTLE_CHECK(results.size() == 1, node_.target + " has several results");
    return results.front();
}

void Call::check(const Schema& schema) {
    for (std::size_t i = 0; i < node_.args.size() && i < schema.params.size(); ++i) {
        const Param& param = schema.params[i];
        if (param.type == ParamType::tensor && !param.optional && node_.args[i].is_none())
            throw Error(node_.target + ": found an undefined tensor as '" + param.name +
                        "', expected a defined tensor");
    }
    drop_defaults(node_, schema);
}

TensorList Call::list() {
    take_symbols(false);
    const Schema& schema = Registry::instance().require(node_.target).schema;
    check(schema);
    use_default_dtype(node_, schema, operands_, pc_);
    return issue(std::move(node_), operands_, pc_);
}

TensorList issue_calls(const Graph& graph, const std::vector<ImplPtr>& inputs, const IssueCall& one) {
    std::vector<TensorList> values(graph.nodes.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i) {
        const Node& node = graph.nodes[i];
        if (node.kind == NodeKind::placeholder) values[i] = {Tensor(inputs.at(next++))};
        if (node.kind == NodeKind::get_attr) values[i] = {wrap(graph.attributes.at(node.target))};
        if (node.kind != NodeKind::call) continue;
        if (const auto read = item_read(node)) {
            values[i] = {values[static_cast<std::size_t>(read->node)].at(static_cast<std::size_t>(read->index))};
            continue;
        }
        std::vector<ImplPtr> read;
        Node call = map_inputs(node, [&](NodeRef ref) {
            read.push_back(values.at(static_cast<std::size_t>(ref.id)).at(0).impl());
            return Arg(NodeRef{static_cast<NodeId>(read.size() - 1)});
        });
        call.results.clear();
        values[i] = one(std::move(call), read);
    }
    TensorList results;
    for (const NodeId id : graph.outputs()) results.push_back(values.at(static_cast<std::size_t>(id)).at(0));
    return results;
}

namespace {

/// What the call is made of where results' sizes are data: of the values that need no gradient, which are constants.
TensorList run_parts_of_values(const Node& call, const std::vector<ImplPtr>& operands, void* pc) {
    Graph whole;
    std::vector<NodeRef> nodes;
    std::vector<ImplPtr> tracked;
    for (const ImplPtr& operand : operands)
        if (operand->meta.requires_grad) tracked.push_back(operand);
    for (const ImplPtr& operand : operands)
        nodes.push_back(operand->meta.requires_grad ? whole.placeholder("operand", operand->meta)
                                                    : whole.get_attr("known", *operand->value));
    Node node = map_inputs(call, [&](NodeRef ref) { return Arg(nodes.at(static_cast<std::size_t>(ref.id))); });
    node.results = infer(whole, node);
    whole.output(add_results(whole, whole.add(std::move(node))));
    return issue_calls(decompose(whole), tracked,
                       [&](Node part, const std::vector<ImplPtr>& read) { return issue(std::move(part), read, pc); });
}

/// The results of a call that gradients flow through.
TensorList run_with_history(const Node& call, const std::vector<ImplPtr>& operands, void* pc) {
    const OpDef& op = *Registry::instance().require(call.target).def;
    if (!data_sized_results(call).empty()) return run_parts_of_values(call, operands, pc);
    if (!op.grad && op.decompose)  // its parts are asked
        return issue_calls(
            decompose(graph_of_call(call, operands)), operands,
            [&](Node part, const std::vector<ImplPtr>& read) { return issue(std::move(part), read, pc); });
    const std::vector<whittle::Tensor> values = run_now(call, operands);
    const auto node = std::make_shared<CallNode>(call, operands);
    node->save(operands, values);
    TensorList results;
    for (const whittle::Tensor& value : values) {
        results.push_back(wrap(value.with_requires_grad(false)));
        if (is_inexact(value.dtype())) set_history(*results.back().impl(), {node, results.size() - 1});
    }
    return results;
}

}  // namespace

TensorList issue(Node call, const std::vector<ImplPtr>& operands, void* pc) {
    call.module_path = current_module_path();
    if (!Session::current()) begin_implicit_frame();
    if (Session* session = Session::current()) return session->record(std::move(call), operands, pc);
    for (const ImplPtr& operand : operands)
        if (operand->session || !operand->value) demand(Tensor(operand), {});
    const OpDef& op = *Registry::instance().require(call.target).def;
    const bool ends = op.random || op.grad == no_gradient;
    TensorList results;
    if (!ends && wants_gradient(operands))
        results = run_with_history(call, operands, pc);
    else
        for (whittle::Tensor& value : run_now(call, operands))
            results.push_back(wrap(value.requires_grad() ? value.with_requires_grad(false) : std::move(value)));
    if (operands.empty() || ends) return results;
    for (const Tensor& result : results)
        if (result.impl()->value->storage() == operands.front()->value->storage())
            note_view(result.impl(), operands.front());
    return results;
}

namespace {

void check_no_leaf(const TensorImpl& self) {
    const std::string hint = "write to the tensor under a NoGradGuard, or write to a clone() of the tensor";
    if (!self.session && !(self.autograd && self.autograd->made_by.node))
        throw Error("a leaf Variable that requires grad is being used in an in-place operation.", hint);
    const ImplPtr base = self.autograd ? self.autograd->view_of : nullptr;
    if (base && base->meta.requires_grad && edge_of(base).node->is_leaf())
        throw Error("a view of a leaf Variable that requires grad is being used in an in-place operation.", hint);
}

/// Who wrote through such a view would have its gradient miss the write.
void check_no_untracked_view(const TensorImpl& self) {
    const ImplPtr base = self.autograd ? self.autograd->view_of : nullptr;
    if (base && base->meta.requires_grad)
        throw Error(
            "A view was created in no_grad mode and is being modified inplace with grad mode enabled. Given that this "
            "use case is ambiguous and error-prone, it is forbidden",
            "create the view and write to the view either both under the NoGradGuard or both outside the NoGradGuard");
}

/// `written` is the in-place call, whose value `call` computes.
void write_now(const Node& written, const Node& call, const std::vector<ImplPtr>& operands, void* pc) {
    TensorImpl& self = *operands.at(0);
    if (!wants_gradient(operands)) {
        write_into(*self.value, run_now(written, call, operands).at(0));
        return note_write(*self.value);
    }
    if (has_aliases(self))
        throw Error(call.target +
                        ": found a differentiable write to memory that several tensors share, expected memory of only "
                        "one tensor",
                    "write to a clone(), or compile() the function: graphs track shared memory");
    const ImplPtr before = make_impl(own_copy(*self.value).with_requires_grad(false));  // backward may need it
    if (self.meta.requires_grad) set_history(*before, self.autograd->made_by);
    std::vector<ImplPtr> read = operands;
    std::ranges::replace(read, operands.at(0), before);
    const TensorImpl result = *issue(call, read, pc).at(0).impl();
    write_into(*self.value, *result.value);
    note_write(*self.value);
    if (result.meta.requires_grad) set_history(self, result.autograd->made_by);
}

}  // namespace

void Call::in_place(const Tensor& self) {
    take_symbols(true);
    const InPlaceForm* form = Registry::instance().in_place(node_.target);
    WHITTLE_CHECK(form != nullptr, node_.target + " is not an in-place op");
    check(form->schema);
    if (grad_mode) self.requires_grad() ? check_no_leaf(*self.impl()) : check_no_untracked_view(*self.impl());
    if (!Session::current()) begin_implicit_frame();
    if (Session* session = Session::current()) {
        if (session->records_write(*self.impl(), wants_gradient(operands_)))
            return session->record_write(std::move(node_), form->functional, operands_, pc_);
        session->break_graph({.kind = capture::BreakKind::mutation,
                              .reason = "a write that changes which tensors have gradients",
                              .op = node_.target},
                             pc_);
    }
    issue_write(std::move(node_), form->functional, operands_, pc_);
}

void issue_write(Node call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc) {
    const NotRecording not_recording;
    for (const ImplPtr& operand : operands) demand(Tensor(operand), {});
    Node computes = call;
    computes.target = functional;
    write_now(call, computes, operands, pc);
}

}  // namespace whittle::api
