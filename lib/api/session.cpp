#define WHITTLE_API_IMPLEMENTATION
#include "api/session.h"

#include <algorithm>
#include <iostream>
#include <utility>

#include "api/call.h"
#include "api/grad_node.h"
#include "api/stack.h"
#include "base/error.h"
#include "base/log.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/aten/data_sizes.h"
#include "ops/aten/random.h"
#include "ops/core/assertions.h"
#include "ops/core/interpreter.h"
#include "ops/core/mode.h"
#include "ops/core/registry.h"
#include "passes/assertions.h"
#include "passes/dce.h"
#include "passes/decompose.h"

namespace whittle::api {
namespace {

using capture::BreakKind;
using capture::GraphBreak;
using capture::Source;

// Plain data: looked at until the very end of a thread.
thread_local Session* current_session = nullptr;
thread_local int not_recording = 0;

}  // namespace

NotRecording::NotRecording() : before_(Session::exchange(nullptr)) { ++not_recording; }
NotRecording::~NotRecording() {
    --not_recording;
    Session::exchange(before_);
}
bool NotRecording::active() { return not_recording != 0; }

Session::Session(std::string frame, FrameHost& host)
    : frame_(std::move(frame)), host_(host), builder_(""), log_(frame_, host.wants_events()) {
    builder_.on_failure = [this](const Node& call, const std::exception& error) { return keep_failed(call, error); };
    begin();
}

Session* Session::current() { return current_session && !current_session->gave_up() ? current_session : nullptr; }
Session* Session::exchange(Session* session) { return std::exchange(current_session, session); }

void Session::begin() {
    builder_.begin(frame_ + "_" + std::to_string(graphs_run_));
    inputs_.clear();
    const bool known_will_do = !host_.wants_stacks() && !host_.keeps_all() && !log_.keeps();
    tapes_.begin(known_will_do ? host_.tapes(graphs_run_) : std::vector<std::shared_ptr<const Tape>>());
    pending_.clear();
    notes_.clear();
    log_.begin_graph();
}

// ---- Operations

TensorList Session::record(Node call, const std::vector<ImplPtr>& operands, void* pc,
                           const capture::NestedGraphs& nested) {
    const std::lock_guard lock(mutex_);
    const RegisteredOp* const op = tapes_.next_is(call.target) ? nullptr : &Registry::instance().require(call.target);
    if (op && op->def->random) return random(call, operands, pc);
    if (!data_sized_results(call).empty()) return data_sized(call, operands, pc);
    try {
        return issue(call, {}, operands, pc, nested);
    } catch (const CaptureFailed& failed) {
        if (in_body()) throw NestedBreak{{.kind = BreakKind::unsupported, .reason = failed.thrown.what}};
        give_up(failed, &call, operands);
    }
    if (nested.empty()) return api::issue(std::move(call), operands, pc);
    Graph around;
    for (const auto& [name, graph] : nested) around.subgraphs[name] = graph;
    std::map<NodeId, ImplPtr> given;
    for (const ImplPtr& operand : operands) given[around.placeholder("operand", operand->meta).id] = operand;
    call.results = infer(around, call);
    const NodeRef made = around.add(std::move(call));
    return run_uncompiled(around, given, add_results(around, made));
}

void Session::record_write(Node call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc) {
    const std::lock_guard lock(mutex_);
    keep_printed(*operands.at(0));
    try {
        issue(call, functional, operands, pc, {});
    } catch (const CaptureFailed& failed) {
        if (in_body()) throw NestedBreak{{.kind = BreakKind::unsupported, .reason = failed.thrown.what}};
        give_up(failed, &call, operands);
        issue_write(std::move(call), functional, operands, pc);
    }
}

void Session::print_later(const std::vector<std::string>& texts, const TensorList& tensors, void* pc) {
    const std::lock_guard lock(mutex_);
    if (in_body()) return break_graph({.kind = BreakKind::side_effect, .reason = "print_later()"}, pc);
    prints_.add(&std::cout, texts, tensors, this);
}

void Session::check_later(const Tensor& condition, const Tensor& about, const PrintQueue::Check& check) {
    const std::lock_guard lock(mutex_);
    const bool computed = condition.impl()->session.get() == this;
    if (in_body() && !computed)
        break_graph({.kind = BreakKind::branch, .reason = "check() of a value that the body does not compute"},
                    check.pc);
    if (computed) {
        const TensorList asserted =
            record({.target = std::string(kAssertion), .args = {Arg(NodeRef{0}), Arg(check.message), Arg(NodeRef{1})}},
                   {condition.impl(), about.impl()}, check.pc);
        if (in_body()) {  // asked where the body runs, if it runs; CheckError says this place
            Addresses& stack = notes_[asserted.at(0).impl()->node.id].stack;
            if (stack.empty()) stack = {check.pc};
            return;
        }
    }
    prints_.add_check(condition, about, check);
}

void Session::defer(PrintQueue::Target target, const Tensor& tensor) {
    const std::lock_guard lock(mutex_);
    prints_.add(target, tensor, this);
}

bool Session::defer(PrintQueue::Target target, std::string text) {
    const std::lock_guard lock(mutex_);
    if (prints_.empty()) return false;
    prints_.add(target, std::move(text));
    return true;
}

/// What is to be printed is what was there when print_later() was called.
void Session::keep_printed(const TensorImpl& written) {
    const auto memory = [&](const TensorImpl& impl) { return builder_.memories().of({impl.node, impl.place}); };
    prints_.for_each([&](Tensor& printed) {
        const TensorImpl& impl = *printed.impl();
        if (impl.session.get() != this) return;
        if (&impl == &written || (memory(impl) != capture::kOwn && memory(impl) == memory(written)))
            printed = printed.clone();
    });
}

TensorList Session::issue(const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands,
                          void* pc, const capture::NestedGraphs& nested) {
    check_body();
    prepare(operands);
    if (!functional.empty()) builder_.check_writable(operand_of(*operands.at(0)), call.target);
    const TapeStep* const step = tapes_.match(call, functional, operands);
    if (!step && functional.empty())
        if (auto results = record_parts(call, operands, pc)) return std::move(*results);
    if (!step) tapes_.leave();
    TensorList results = step ? repeat(*step, operands, pc) : build(call, functional, operands, pc, nested);
    if (!functional.empty() && wants_gradient(operands)) track(*operands.at(0));
    return results;
}

/// A value that requires a gradient was written to it: all that shows its memory requires one from here on.
void Session::track(TensorImpl& written) {
    written.meta.requires_grad = true;
    if (written.session.get() != this) return;  // its graph ended
    const capture::MemoryId memory = builder_.memories().of({written.node, written.place});
    if (memory == capture::kOwn) return;
    for (const ImplPtr& other : held())
        if (builder_.memories().of({other->node, other->place}) == memory && is_floating(other->meta.dtype))
            other->meta.requires_grad = true;
}

bool Session::records_write(const TensorImpl& written, bool with_gradient) const {
    const std::lock_guard lock(mutex_);
    const bool own = written.session.get() == this;
    if (!with_gradient) return !own || grad_enabled() || !written.meta.requires_grad;
    if (!own) return false;
    const capture::MemoryId memory = builder_.memories().of({written.node, written.place});
    return memory < 0 || !builder_.memories().at(memory).storage;
}

/// The graph ends where one of them must not be read by it; those of other sessions get their values.
void Session::prepare(const std::vector<ImplPtr>& operands) {
    for (const ImplPtr& operand : operands) {
        if (operand->session.get() == this) continue;
        if (operand->session || !operand->value) demand(Tensor(operand), {});
        if (auto why = builder_.before_reading(operand_of(*operand))) break_graph(std::move(*why), nullptr);
        // Its gradient is that of the new value, which the graph only has as one that it computed.
        else if (grad_enabled() && operand->meta.requires_grad &&
                 builder_.memories().is_written(storage_key(*operand->value)))
            break_graph({.kind = BreakKind::mutation, .reason = "a read of a leaf tensor that the function wrote to"},
                        nullptr);
    }
}

capture::Operand Session::operand_of(const TensorImpl& impl) const {
    capture::Operand operand{.key = impl.key, .meta = &impl.meta};
    if (impl.session.get() == this) {
        operand.node = impl.node;
        operand.place = impl.place;
        return operand;
    }
    operand.storage = storage_key(*impl.value);
    operand.offset = impl.value->offset();
    operand.writable = impl.value->storage()->writable();
    operand.leaf = !impl.autograd || !impl.autograd->made_by.node;
    operand.value = &*impl.value;
    operand.parameter = &impl.qualified_name;
    return operand;
}

TensorList Session::repeat(const TapeStep& step, const std::vector<ImplPtr>& operands, void* pc) {
    TensorList results = pending(step.results, step.call, operands);
    tapes_.advance();
    if (!step.functional.empty())
        if (auto why = builder_.write(operand_of(*operands.at(0)), step.call.target)) break_graph(std::move(*why), pc);
    return results;
}

TensorList Session::build(const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands,
                          void* pc, const capture::NestedGraphs& nested) {
    const auto nodes = static_cast<NodeId>(builder_.graph().graph().nodes.size());
    std::vector<capture::Operand> given;
    for (const ImplPtr& operand : operands) {
        given.push_back(operand_of(*operand));
        if (given.back().computed() && builder_.is_around(given.back()))
            bodies_.back().read.emplace(operand->node.id, operand);
    }
    const auto outcome = [&] {
        try {
            return capture_step(host_.verbose(), [&] {
                return builder_.issue({call, functional, given, nested, grad_enabled(), host_.keeps_all()});
            });
        } catch (...) {
            keep_inputs(operands);
            throw;
        }
    }();
    if (const auto* why = std::get_if<GraphBreak>(&outcome)) {
        break_graph(*why, pc);
        return build(call, functional, operands, pc, nested);
    }
    const capture::Placed& placed = std::get<capture::Placed>(outcome);
    keep_inputs(operands);
    TapeStep step{.call = call,
                  .functional = functional,
                  .grad_enabled = grad_enabled(),
                  .results = placed.results,
                  .made = placed.call,
                  .nodes = nodes};
    for (std::size_t i = 0; i < operands.size(); ++i)
        step.operands.push_back({placed.operands[i].id, operands[i]->meta.requires_grad});
    tapes_.add(std::move(step));
    if (host_.wants_stacks()) {
        const Addresses stack = stack_from(pc);
        for (const capture::Placed::Result& result : placed.results) notes_[result.node.id].stack = stack;
        notes_[placed.call.id].stack = stack;  // of several results it is a node of its own
    }
    log_last_call(pc);
    TensorList results = pending(placed.results, call, operands);
    if (placed.ended_by) break_graph(*placed.ended_by, pc);
    return results;
}

/// Inputs that the builder took of these operands.
void Session::keep_inputs(const std::vector<ImplPtr>& operands) {
    while (inputs_.size() < builder_.inputs().size()) {
        const capture::TensorKey key = builder_.inputs()[inputs_.size()].key;
        inputs_.push_back(*std::ranges::find(operands, key, [](const ImplPtr& operand) { return operand->key; }));
    }
}

TensorList Session::pending(const std::vector<capture::Placed::Result>& results, const Node& call,
                            const std::vector<ImplPtr>& operands) {
    TensorList tensors;
    tensors.reserve(results.size());
    for (const capture::Placed::Result& result : results) {
        ImplPtr impl = pending(result.meta, result.node);
        if (result.view) {
            const TensorImpl& viewed = *operands.at(static_cast<std::size_t>(call.args.front().node()->id));
            impl->place = builder_.view(operand_of(viewed), *result.view, result.meta.dtype);
        }
        tensors.push_back(Tensor(std::move(impl)));
    }
    return tensors;
}

ImplPtr Session::pending(const ValueMeta& meta, NodeRef node) {
    ImplPtr impl = make_pending(meta);
    impl->session = shared_from_this();
    impl->node = node;
    pending_.push_back(impl);
    return impl;
}

bool Session::keep_failed(const Node& call, const std::exception& error) {
    if (!bodies_.empty()) return false;  // the body is tried, and tells of nothing
    log_.note_failure(builder_.graph(), call, error, [&] { return user_stack(capture_stack(nullptr, outside)); });
    return log_.keeps();
}

void Session::log_last_call(void* pc) const {
    if (!log_enabled(LogChannel::capture, LogLevel::debug)) return;
    const Graph& graph = builder_.graph().graph();
    std::string text = print(graph, producer_of(graph, graph.nodes.back()));
    if (const std::vector<StackFrame> stack = pc ? user_stack({pc}) : std::vector<StackFrame>(); !stack.empty())
        text += " at " + stack[0].file + ":" + std::to_string(stack[0].line);
    log_debug(LogChannel::capture, text);
}

Addresses Session::stack_from(const void* pc) const {
    return host_.wants_stacks() ? capture_stack(pc, outside) : Addresses{};
}

/// Random values are drawn in program order, before the graph that uses them.
TensorList Session::random(const Node& call, const std::vector<ImplPtr>& operands, void* pc) {
    if (in_body()) throw NestedBreak{{.kind = BreakKind::unsupported, .reason = "random values"}};
    const bool by_values = draws_by_values(Registry::instance().require(call.target).schema);
    std::vector<ImplPtr> known = operands;
    for (ImplPtr& operand : known)
        if (operand->session && !by_values)
            operand = make_impl(whittle::Tensor(operand->meta.dtype, operand->meta.sizes));  // its kind will do
        else
            demand(Tensor(operand), {static_cast<int>(BreakKind::unsupported),
                                     "random values that depend on values computed in the graph", call.target, pc});
    const NotRecording not_recording;
    TensorList results;
    for (const whittle::Tensor& value : run_now(call, known)) {
        results.push_back(wrap(value));
        naming().know_origin(results.back().impl()->key, capture::Origin::random);
    }
    return results;
}

/// Of the call's results, by computing what it reads from what the graph has so far, on the reference.
std::vector<ValueMeta> Session::observed(const Node& call, const std::vector<ImplPtr>& operands) const {
    const NotRecording not_recording;
    const WithoutModes not_seen;
    Graph before = builder_.graph().graph();
    std::vector<NodeRef> wanted;
    for (const ImplPtr& operand : operands)
        if (operand->session.get() == this) wanted.push_back(operand->node);
    before.output(wanted);
    before = dce(without_assertions(before));
    std::vector<whittle::Tensor> given;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (builder_.graph().source_of(builder_.inputs()[i].node)) given.push_back(*inputs_[i]->value);
    const std::vector<whittle::Tensor> computed = evaluate(before, given);
    std::vector<ImplPtr> known;
    std::size_t next = 0;
    for (const ImplPtr& operand : operands)
        known.push_back(make_impl(operand->session.get() == this ? computed.at(next++) : *operand->value));
    std::vector<ValueMeta> metas;
    for (const whittle::Tensor& result : run_now(call, known))
        metas.push_back(ValueMeta::of(result.with_requires_grad(false)));
    return metas;
}

/// A call whose results' sizes are data. In the graph they are those of this execution.
TensorList Session::data_sized(const Node& call, const std::vector<ImplPtr>& operands, void* pc) {
    const std::string reason = call.target + " has a result whose sizes depend on values";
    if (in_body()) throw NestedBreak{{.kind = BreakKind::dynamic_shape, .reason = reason, .op = call.target}};
    if (!host_.captures_dynamic_shapes() || wants_gradient(operands)) {
        for (const ImplPtr& operand : operands)
            demand(Tensor(operand), {static_cast<int>(BreakKind::dynamic_shape), reason, call.target, pc});
        const NotRecording not_recording;
        return api::issue(call, operands, pc);
    }
    prepare(operands);
    tapes_.leave();  // which has the sizes of another execution
    Node sized = call;
    sized.results = observed(call, operands);
    return build(sized, {}, operands, pc, {});
}

/// A call that is made of others, some of which draw: these are recorded in its place. Nothing: it draws nothing.
std::optional<TensorList> Session::record_parts(const Node& call, const std::vector<ImplPtr>& operands, void* pc) {
    const OpDef& op = *Registry::instance().require(call.target).def;
    if (!op.decompose || op.eval) return std::nullopt;
    Graph whole;
    try {
        whole = graph_of_call(call, operands);
    } catch (const std::exception&) {  // told when it is recorded
        return std::nullopt;
    }
    const Graph parts = decompose(whole);
    const auto draws = [](const Node& n) {
        const RegisteredOp* part = n.kind == NodeKind::call ? Registry::instance().op(n.target) : nullptr;
        return part && part->def->random;
    };
    if (std::none_of(parts.nodes.begin(), parts.nodes.end(), draws)) return std::nullopt;
    return issue_calls(parts, operands, [&](Node part, const std::vector<ImplPtr>& read) {
        part.module_path = call.module_path;
        return record(std::move(part), read, pc);
    });
}

// ---- Names

void Session::name_parameter(std::size_t position, const TensorImpl* tensor, const std::string& name) {
    std::string before = "arg" + std::to_string(position);
    if (tensor) {
        const Source* const known = naming().source(tensor->key);
        if (!known) return name_variable(tensor, name);
        before = known->root().name();
    }
    if (before == name || !numbered_argument(before)) return;
    naming().rename(before, name);
    host_.argument_named(before, name);
}

/// What a body calls its values is forgotten with it.
void Session::name_variable(const TensorImpl* tensor, const std::string& name) {
    const std::lock_guard lock(mutex_);
    if (!tensor || in_body()) return;
    naming().know_variable(tensor->key, Source::local(name));  // `Tensor x = a;` does not rename the parameter `a`
    if (tensor->session.get() == this) notes_[tensor->node.id].name = name;
}

}  // namespace whittle::api
