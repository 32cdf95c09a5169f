// How a recorded graph ends: finished, run, and its values handed out.
#define WHITTLE_API_IMPLEMENTATION
#include <algorithm>
#include <set>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "api/compiled_gradient.h"
#include "api/global_state.h"
#include "api/probes.h"
#include "api/session.h"
#include "api/stack.h"
#include "base/error.h"
#include "base/log.h"
#include "ops/core/layout.h"
#include "tensor/reach.h"

namespace whittle::api {

using capture::BreakKind;
using capture::GraphBreak;

namespace {

/// The value as the graph promised it: a backend may lay it out differently.
whittle::Tensor as_promised(whittle::Tensor value, const ValueMeta& meta, const std::string& graph) {
    if (value.dtype() != meta.dtype || value.sizes() != meta.sizes)
        throw Error("graph " + graph + ": the backend returned " + std::string(whittle::name(value.dtype())) +
                    to_string(value.sizes()) + ", expected " + std::string(whittle::name(meta.dtype)) +
                    to_string(meta.sizes));
    value = laid_out_as(std::move(value), meta);
    return value.requires_grad() == meta.requires_grad ? value : value.with_requires_grad(meta.requires_grad);
}

/// Nodes get the names of the variables that held their values, as far as those are free.
void rename_nodes(Graph& graph, const std::map<std::string, std::string>& names) {
    if (names.empty()) return;
    std::set<std::string> taken;
    for (const Node& node : graph.nodes) taken.insert(node.name);
    for (Node& node : graph.nodes) {
        const auto name = names.find(node.name);
        if (name == names.end() || node.kind != NodeKind::call) continue;
        std::string wanted = identifier(name->second);
        for (int i = 1; taken.contains(wanted); ++i) wanted = identifier(name->second) + "_" + std::to_string(i);
        taken.insert(wanted);
        node.name = wanted;
    }
}

/// The results of calls that nothing in the graph reads.
std::vector<NodeRef> unread(const Graph& graph) {
    const auto readers = users(graph);
    std::vector<NodeRef> nodes;
    for (std::size_t i = 0; i < graph.nodes.size(); ++i)
        if (graph.nodes[i].kind == NodeKind::call && graph.nodes[i].results.size() == 1 && readers[i].empty())
            nodes.push_back({static_cast<NodeId>(i)});
    return nodes;
}

}  // namespace

std::shared_ptr<Tape> Session::finish_graph(const std::vector<NodeRef>& live, std::optional<GraphBreak> why,
                                            Addresses stack) {
    const Graph& raw = builder_.graph().graph();
    std::optional<capture::CapturedGraph> finished = builder_.close(live, std::move(why));
    if (!finished || finished->graph.calls().empty()) return nullptr;
    auto tape = std::make_shared<Tape>(Tape{.live = live});
    tape->recorded = {.captured = std::move(*finished), .ended_at = std::move(stack)};
    Graph& graph = tape->recorded.captured.graph;
    tape->recorded.key = key_of(graph);
    std::unordered_map<std::string_view, std::size_t> inputs;
    for (const capture::Builder::Input& input : builder_.inputs())
        inputs.emplace(raw.node(input.node).name, inputs.size());
    std::unordered_map<std::string_view, const Note*> notes;
    for (const auto& [id, note] : notes_) notes.emplace(raw.node({id}).name, &note);
    for (Node& node : graph.nodes) {
        if (node.kind == NodeKind::placeholder) tape->placeholders.push_back(inputs.at(node.name));
        if (node.kind == NodeKind::get_attr) tape->parameters.push_back(inputs.at(node.name));
        const auto note = notes.find(node.name);
        tape->recorded.stacks.push_back(note == notes.end() ? Addresses{} : note->second->stack);
    }
    std::map<std::string, std::string> names;
    for (const auto& [name, note] : notes)
        if (!note->name.empty()) names.emplace(name, note->name);
    rename_nodes(graph, names);
    if (log_.keeps() || host_.wants_stacks() || host_.keeps_all() || !raw.subgraphs.empty()) return tape;
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
        const capture::Builder::Input& input = builder_.inputs()[i];
        const capture::Source* source = builder_.graph().source_of(input.node);
        tape->inputs.push_back(
            {.node = input.node.id,
             .parameter = source ? "" : builder_.parameter_name(input.key, inputs_[i]->qualified_name),
             .source = source ? std::optional(*source) : std::nullopt,
             .meta = raw.node(input.node).meta()});
    }
    tape->graph = raw;
    tape->graph.attributes.clear();
    tape->steps = tapes_.take_steps();
    return tape;
}

/// What the program holds of the graph.
std::vector<ImplPtr> Session::held() const {
    std::vector<ImplPtr> held;
    for (const std::weak_ptr<TensorImpl>& entry : pending_)
        if (ImplPtr impl = entry.lock(); impl && impl->session.get() == this) held.push_back(std::move(impl));
    return held;
}

bool Session::shares_memory(const TensorImpl& tensor) const {
    const std::lock_guard lock(mutex_);
    const capture::MemoryId memory = builder_.memories().of({tensor.node, tensor.place});
    if (memory == capture::kOwn) return false;
    if (memory == capture::kOutside || builder_.memories().at(memory).storage) return true;
    const std::vector<ImplPtr> all = held();
    return std::ranges::count(all, memory, [&](const ImplPtr& other) {
               return builder_.memories().of({other->node, other->place});
           }) > 1;
}

void Session::note_segment(const std::vector<NodeRef>& live, const std::optional<GraphBreak>& why) {
    if (!log_.keeps()) return;
    std::vector<whittle::Tensor> inputs;
    for (std::size_t i = 0; i < inputs_.size(); ++i)
        if (builder_.graph().source_of(builder_.inputs()[i].node)) inputs.push_back(*inputs_[i]->value);
    log_.note_segment(builder_.graph(), inputs, live, why, host_.keeps_all());
}

namespace {

std::vector<ImplPtr> inputs_of(const Tape& tape, const std::vector<ImplPtr>& inputs) {
    std::vector<ImplPtr> all;
    for (const auto* positions : {&tape.placeholders, &tape.parameters})
        for (const std::size_t position : *positions) all.push_back(inputs.at(position));
    return all;
}

/// Gradients of what the graph computed go back through it.
void give_history(const std::vector<ImplPtr>& live, const std::shared_ptr<CompiledNode>& history) {
    for (std::size_t i = 0; i < live.size(); ++i) {
        TensorImpl& impl = *live[i];
        if (!impl.meta.requires_grad) continue;
        if (history && history->differentiates(i)) {
            set_history(impl, {history, i});
            continue;
        }
        impl.meta.requires_grad = false;
        impl.value = impl.value->with_requires_grad(false);
    }
}

std::vector<whittle::Tensor> values_at(const std::vector<std::size_t>& positions, const std::vector<ImplPtr>& inputs) {
    std::vector<whittle::Tensor> values;
    for (const std::size_t position : positions) values.push_back(*inputs.at(position)->value);
    return values;
}

/// Gives the program's tensors the values that their graph computed. Memory that several of them show is an output as a
/// whole: they become views of it, as those of an input become views of that.
void hand_out(const std::vector<ImplPtr>& live, const std::vector<whittle::Tensor>& outputs,
              const capture::HeldOutputs& promised, const capture::Memories& memories,
              const std::vector<ImplPtr>& inputs) {
    std::map<capture::MemoryId, std::shared_ptr<Storage>> storages;
    std::map<const Storage*, ImplPtr> first;  // whose memory others show
    for (const ImplPtr& input : inputs) first.emplace(input->value->storage().get(), input);
    for (const auto& [memory, position] : promised.whole)
        storages[memory] = laid_out(outputs.at(position), memories.at(memory).root_meta.strides).storage();
    const auto storage_of = [&](capture::MemoryId memory) -> std::shared_ptr<Storage> {
        if (const auto whole = storages.find(memory); whole != storages.end()) return whole->second;
        const capture::StorageKey key = memory >= 0 ? memories.at(memory).storage : 0;
        for (const ImplPtr& input : inputs)
            if (key && storage_key(*input->value) == key) return input->value->storage();
        return nullptr;
    };
    for (std::size_t i = 0; i < live.size(); ++i) {
        TensorImpl& impl = *live[i];
        const ValueMeta& meta = impl.meta;
        const capture::MemoryId memory = memories.of({impl.node, impl.place});
        const std::shared_ptr<Storage> storage = memory == capture::kOwn ? nullptr : storage_of(memory);
        impl.value = storage ? whittle::Tensor(storage, meta.dtype, meta.sizes, meta.strides, impl.place.offset)
                                   .with_requires_grad(meta.requires_grad)
                             : outputs[i];
        impl.meta = ValueMeta::of(*impl.value);
        impl.session.reset();
        impl.place = {};
        if (const auto shown = first.emplace(impl.value->storage().get(), live[i]).first; storage)
            note_view(live[i], shown->second);
    }
}

}  // namespace

void Session::tell(const CaptureFailed& failed) {
    gave_up_ = true;
    host_.gave_up(failed.thrown, capture_stack(nullptr, host_.verbose() ? nullptr : outside));
}

Node Session::failed_call(const Node& call, const std::vector<ImplPtr>& operands) {
    std::vector<NodeRef> nodes;
    for (const ImplPtr& operand : operands) nodes.push_back(builder_.node_of(operand_of(*operand)));
    keep_inputs(operands);
    return map_inputs(call, [&](NodeRef ref) { return Arg(nodes.at(static_cast<std::size_t>(ref.id))); });
}

void Session::give_up(const CaptureFailed& failed, const Node* call, const std::vector<ImplPtr>& operands) {
    const std::shared_ptr<Session> self = shared_from_this();
    give_up_bodies();
    tapes_.leave();
    if (call && log_.keeps() && !log_.op_that_threw(failed.thrown.what))
        log_.note_failure(builder_.graph(), failed_call(*call, operands), std::runtime_error(failed.thrown.what),
                          [&] { return user_stack(capture_stack(nullptr, outside)); });
    const std::vector<ImplPtr> live = held();
    note_segment({}, std::nullopt);
    tell(failed);
    const Graph recorded = builder_.graph().graph();
    std::map<NodeId, ImplPtr> given;
    for (std::size_t i = 0; i < inputs_.size(); ++i) given[builder_.inputs()[i].node.id] = inputs_[i];
    std::vector<NodeRef> wanted;
    for (const ImplPtr& impl : live) wanted.push_back(impl->node);
    begin();
    try {
        const TensorList values = run_uncompiled(recorded, given, wanted);
        for (std::size_t i = 0; i < live.size(); ++i) take_value(*live[i], values[i]);
    } catch (...) {
        for (const ImplPtr& impl : live) impl->session.reset();
        throw;
    }
    prints_.print();
}

TensorList Session::run_as_recorded(const Tape& tape, const std::vector<ImplPtr>& inputs) {
    const Graph& graph = tape.recorded.captured.graph;
    const std::vector<ImplPtr> all = inputs_of(tape, inputs);
    std::map<NodeId, ImplPtr> given;
    std::size_t next = 0;
    for (const NodeKind kind : {NodeKind::placeholder, NodeKind::get_attr})
        for (std::size_t i = 0; i < graph.nodes.size(); ++i)
            if (graph.nodes[i].kind == kind) given[static_cast<NodeId>(i)] = all.at(next++);
    std::vector<NodeRef> wanted;
    for (const NodeId id : graph.outputs()) wanted.push_back({id});
    return run_uncompiled(graph, given, wanted);
}

void Session::flush(std::optional<GraphBreak> why, Addresses stack, bool all) {
    const std::shared_ptr<Session> self = shared_from_this();  // values that are given up must not end us here
    give_up_bodies();
    const std::vector<ImplPtr> live = held();
    std::vector<capture::Held> places;
    places.reserve(live.size());
    for (const ImplPtr& impl : live) places.push_back({impl->node, impl->place});
    capture::HeldOutputs promised = builder_.outputs(places);
    if (all)
        for (const NodeRef node : unread(builder_.graph().graph()))
            if (std::ranges::find(promised.nodes, node) == promised.nodes.end()) promised.nodes.push_back(node);
    NotRecording not_recording;
    note_segment(promised.nodes, why);
    if (why) host_.broke(*why, stack);
    std::shared_ptr<Tape> recorded;
    if (!tapes_.match_end(promised.nodes)) {
        tapes_.leave();
        try {
            recorded = capture_step(host_.verbose(), [&] { return finish_graph(promised.nodes, why, stack); });
        } catch (const CaptureFailed& failed) {
            return give_up(failed);
        }
        if (!recorded) return begin();  // nothing to run
    }
    const std::shared_ptr<const Tape> tape = recorded ? recorded : tapes_.tape();
    std::shared_ptr<CompiledGraph> compiled = tape->compiled;
    const std::vector<ImplPtr> inputs = std::move(inputs_);
    const capture::Memories memories = builder_.take_memories();
    const std::int64_t number = graphs_run_++;
    if (recorded && host_.wants_stacks())
        for (capture::Guard& guard : branch_guards(ways_))
            recorded->recorded.captured.guards.push_back(std::move(guard));
    host_.went(number, std::exchange(ways_, {}));
    begin();
    std::vector<whittle::Tensor> outputs;
    std::shared_ptr<CompiledNode> history;
    try {
        const RestoreState restore;  // whatever the backend does to it
        GraphRun run = host_.run(tape->recorded, compiled, values_at(tape->placeholders, inputs),
                                 values_at(tape->parameters, inputs));
        outputs = std::move(run.outputs);
        history = std::move(run.history);
        log_.note_outputs(outputs);
        for (std::size_t i = 0; i < live.size(); ++i)
            outputs.at(i) = as_promised(outputs.at(i), live[i]->meta, tape->recorded.captured.graph.name);
    } catch (const CaptureFailed& failed) {
        tell(failed);
        const TensorList values = run_as_recorded(*tape, inputs);
        for (std::size_t i = 0; i < live.size(); ++i) take_value(*live[i], values.at(i));
        return;
    } catch (...) {
        for (const ImplPtr& impl : live) impl->session.reset();
        throw;
    }
    if (recorded && !recorded->steps.empty()) {
        recorded->compiled = std::move(compiled);
        // Not to be kept alive: values come with each run, and the key has done its work.
        recorded->recorded.captured.graph.attributes.clear();
        recorded->recorded.key.clear();
        host_.remember(number, recorded);
    }
    hand_out(live, outputs, promised, memories, inputs);
    if (history) history->connect(inputs_of(*tape, inputs));
    give_history(live, history);
    for (const ImplPtr& impl : live) naming().know_origin(impl->key, capture::Origin::live);
}

void Session::break_graph(GraphBreak why, void* pc, bool always) {
    const std::lock_guard lock(mutex_);
    if (in_body()) throw NestedBreak{std::move(why)};
    give_up_bodies();
    if (empty() && !always) return prints_.print();
    Addresses stack = host_.wants_stacks() ? stack_from(pc) : Addresses{pc};
    if (host_.wants_stacks()) why.stack = with_cursor(user_stack(stack));
    flush(std::move(why), std::move(stack));
    prints_.print();
}

void Session::finish() {
    const std::lock_guard lock(mutex_);
    if (!gave_up_) flush(std::nullopt, {});
    prints_.print();
}

void Session::finish_by_exception(const Thrown& thrown) noexcept {
    const std::lock_guard lock(mutex_);
    try {
        // An op that fails before anything is recorded ends capture just the same.
        const std::optional<std::string> op_failed = log_.op_that_threw(thrown.what);
        if (!empty() || op_failed) {
            GraphBreak why{.kind = BreakKind::exception, .reason = "an exception left " + frame_};
            if (op_failed) why.op = *op_failed;
            if (!thrown.what.empty()) why.reason += ": " + thrown.what;
            why.stack = thrown.stack;
            flush(std::move(why), thrown.addresses, host_.wants_stacks());
        }
        prints_.print();
    } catch (const std::exception& error) {
        log_warning(LogChannel::capture,
                    "the operations of " + frame_ + " that preceded the exception failed: " + error.what());
    }
    abandon();
}

void Session::abandon() {
    give_up_bodies();
    prints_.clear();
    note_segment({}, std::nullopt);  // what came to no graph
    for (const std::weak_ptr<TensorImpl>& entry : pending_)
        if (const ImplPtr impl = entry.lock()) impl->session.reset();
    begin();
}

void Session::settle(const TensorImpl& tensor, const Demand& why) {
    const std::lock_guard lock(mutex_);
    if (!tensor.value) return;
    const capture::StorageKey storage = storage_key(*tensor.value);
    bool stale = builder_.memories().is_written(storage);
    if (static_cast<BreakKind>(why.kind) == BreakKind::data_pointer)  // perhaps to write
        for (const capture::Builder::Input& input : builder_.inputs()) stale |= input.storage == storage;
    if (stale) break_graph({.kind = static_cast<BreakKind>(why.kind), .reason = why.reason, .op = why.op}, why.pc);
}

const whittle::Tensor& demand(const Tensor& tensor, const Demand& why) {
    TensorImpl& impl = defined(tensor, why.op.c_str());
    if (const std::shared_ptr<Session> session = impl.session)
        session->break_graph({.kind = static_cast<BreakKind>(why.kind), .reason = why.reason, .op = why.op}, why.pc);
    else if (Session* const current = Session::current(); current && !why.reason.empty())
        current->settle(impl, why);
    if (!impl.value)
        throw Error("the tensor has no value: the graph that computes it failed, or an exception discarded it",
                    "if a function that you pass to cond(), while_loop(), map() or scan() computes the tensor, return "
                    "the tensor from this function");
    return *impl.value;
}

TensorImpl& defined(const Tensor& tensor, const char* what) {
    if (!tensor.defined()) throw Error(std::string(what) + ": found an undefined tensor, expected a defined tensor");
    return *tensor.impl();
}

}  // namespace whittle::api
