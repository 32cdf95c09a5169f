#define WHITTLE_API_IMPLEMENTATION
#include "api/session.h"

#include <algorithm>
#include <utility>

#include "api/call.h"
#include "api/probes.h"
#include "api/stack.h"
#include "api/tape.h"
#include "base/error.h"
#include "base/log.h"
#include "graph/text.h"
#include "graph/value_ref.h"
#include "ops/aten/random.h"
#include "ops/core/registry.h"
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

Session::Session(std::string frame, FrameHost& host, bool nested)
    : frame_(std::move(frame)),
      host_(host),
      graph_(""),
      outside_(nested ? std::make_shared<Memory>() : nullptr),
      keeps_events_(host.wants_events()) {
    reset();
}

Session* Session::current() { return current_session; }
Session* Session::exchange(Session* session) { return std::exchange(current_session, session); }

void Session::reset() {
    graph_ = capture::OutputGraph(frame_ + "_" + std::to_string(graphs_run_));
    steps_.clear();
    failed_.clear();
    noted_ = false;
    const bool known_will_do = !host_.wants_stacks() && !host_.keeps_all() && !keeps_events_;
    tapes_ = known_will_do ? host_.tapes(graphs_run_) : decltype(tapes_)();
    tape_ = tapes_.empty() ? nullptr : tapes_.front();
    cursor_ = 0;
    taken_ = 0;
    pending_.clear();
    taken_sources_.clear();
    stacks_.clear();
    known_.clear();
    input_impls_.clear();
    node_names_.clear();
    input_memory_.clear();
    written_.clear();
    counters_ = {};
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

const std::string& Session::parameter_name(const TensorImpl& operand) const {
    const auto known = parameters_.find(operand.key);
    return known == parameters_.end() ? operand.qualified_name : known->second;
}

Source Session::source_of(const TensorImpl& operand, Counters& counters) const {
    const auto free = [&](const Source& source) { return !taken_sources_.contains(source); };
    const auto known = sources_.find(operand.key);
    if (known != sources_.end() && free(known->second)) return known->second;
    if (const auto name = variables_.find(operand.key); known == sources_.end() && name != variables_.end())
        if (const Source source = Source::local(name->second); free(source)) return source;
    const auto made = made_here_.find(operand.key);
    if (known == sources_.end() && made != made_here_.end())
        return made->second ? Source::random(counters.random++) : Source::live(counters.live++);
    return Source::global("tensor_" + std::to_string(counters.global++));
}

NodeRef Session::node_of(const ImplPtr& operand) {
    if (operand->session.get() == this) return operand->node;
    if (!nested()) demand(Tensor(operand), {});  // of another session
    const auto [known, added] = known_.try_emplace(operand->key);
    if (added) {
        known->second = nested() ? lift(operand) : input(operand);
        input_impls_.emplace(known->second.id, operand);
    }
    return known->second;
}

NodeRef Session::input(const ImplPtr& operand) {
    if (const std::string& name = parameter_name(*operand); !name.empty())
        return graph_.parameter(name, *operand->value, operand->key);
    const Source source = source_of(*operand, counters_);
    taken_sources_.insert(source);
    return graph_.input(source, operand->meta, operand->key);
}

ImplPtr Session::pending(const ValueMeta& meta, NodeRef node) {
    ImplPtr impl = make_pending(meta);
    impl->session = shared_from_this();
    impl->node = node;
    pending_.push_back(impl);
    return impl;
}

TensorList Session::add(Node call, const std::vector<ValueMeta>& metas, const Addresses& stack) {
    const std::vector<NodeRef> nodes = graph_.call({.target = std::move(call.target),
                                                    .args = std::move(call.args),
                                                    .kwargs = std::move(call.kwargs),
                                                    .results = metas,
                                                    .module_path = std::move(call.module_path),
                                                    .effect = host_.keeps_all()});
    TensorList results;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (host_.wants_stacks()) stacks_[graph_.graph().node(nodes[i]).name] = stack;
        results.push_back(Tensor(pending(metas[i], nodes[i])));
    }
    return results;
}

namespace {

/// Zeros to try views on; kernels of views do not look at them.
std::shared_ptr<Storage> probe_storage(std::size_t bytes) {
    thread_local std::shared_ptr<Storage> storage;
    if (!storage || storage->bytes().size() < bytes) storage = Storage::allocate(std::max<std::size_t>(bytes, 4096));
    return storage;
}

}  // namespace

std::optional<std::int64_t> reach(const ValueMeta& meta) {
    std::int64_t last = 0;
    for (std::size_t d = 0; d < meta.sizes.size(); ++d) {
        if (meta.sizes[d] == 0) return 0;
        if (meta.strides[d] < 0) return std::nullopt;
        last += (meta.sizes[d] - 1) * meta.strides[d];
    }
    return last + 1;
}

std::shared_ptr<Memory> Session::memory_of(TensorImpl& impl) {
    if (impl.session.get() == this) {
        if (!impl.memory) impl.memory = std::make_shared<Memory>(Memory{.root = impl.node, .root_meta = impl.meta});
        return impl.memory;
    }
    if (nested()) return outside_;
    std::shared_ptr<Memory>& memory = input_memory_[impl.value->storage().get()];
    if (!memory) memory = std::make_shared<Memory>(Memory{.storage = impl.value->storage()});
    return memory;
}

void Session::locate(const Node& call, const Schema& schema, const std::vector<ImplPtr>& operands,
                     const TensorList& results, Step& step) {
    if (schema.returns.empty() || schema.returns.front().alias.empty() || call.args.empty()) return;
    const NodeRef* first = call.args.front().node();
    const RegisteredOp* op = Registry::instance().op(call.target);
    if (!first || !op || !op->def->eval) return;
    TensorImpl& operand = *operands.at(static_cast<std::size_t>(first->id));
    const auto elements = reach(operand.meta);
    if (!elements) return;
    // A view shows where its kernel puts it; some views copy, depending on the strides.
    const auto storage = probe_storage(static_cast<std::size_t>(*elements) * size_of(operand.meta.dtype));
    const whittle::Tensor probe(storage, operand.meta.dtype, operand.meta.sizes, operand.meta.strides);
    const Arguments<whittle::Tensor> arguments(op->schema, call, [&](NodeRef) { return probe; });
    const std::vector<whittle::Tensor> shown = op->def->eval(arguments);
    for (std::size_t i = 0; i < results.size() && i < shown.size(); ++i) {
        if (shown[i].storage() != storage) continue;
        step.results[i].view = true;
        step.results[i].offset = shown[i].offset();
        show(*results[i].impl(), operand, shown[i].offset());
    }
}

void Session::show(TensorImpl& result, TensorImpl& operand, std::int64_t offset) {
    result.memory = memory_of(operand);
    result.offset = offset + (operand.session || !operand.value ? operand.offset : operand.value->offset());
}

void Session::end_aliased_writes(const ImplPtr& operand) {
    if (written_.empty() || operand->session || !operand->value) return;
    const auto written = written_.find(operand->value->storage().get());
    if (written == written_.end() || written->second == operand->key) return;
    break_graph({.kind = BreakKind::mutation, .reason = "memory that another input wrote is read"}, nullptr);
}

/// Random values are drawn in program order, before the graph that uses them.
TensorList Session::random(const Node& call, const std::vector<ImplPtr>& operands, void* pc) {
    if (nested()) refuse(BreakKind::unsupported, "random values");
    const bool by_values = draws_by_values(Registry::instance().require(call.target).schema);
    std::vector<ImplPtr> known = operands;
    for (ImplPtr& operand : known)
        if (operand->session && !by_values)
            operand = make_impl(whittle::Tensor(operand->meta.dtype, operand->meta.sizes));  // its kind will do
        else
            demand(Tensor(operand), {static_cast<int>(BreakKind::unsupported),
                                     "random values that depend on computed ones", call.target, pc});
    const NotRecording not_recording;
    TensorList results;
    for (const whittle::Tensor& value : run_now(call, known)) {
        results.push_back(wrap(value));
        made_here_[results.back().impl()->key] = true;
    }
    return results;
}

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
    std::vector<TensorList> values(parts.nodes.size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < parts.nodes.size(); ++i) {
        const Node& part = parts.nodes[i];
        if (part.kind == NodeKind::placeholder) values[i] = {Tensor(operands.at(next++))};
        if (part.kind != NodeKind::call) continue;
        if (const auto read = item_read(part)) {
            values[i] = {values[static_cast<std::size_t>(read->node)].at(static_cast<std::size_t>(read->index))};
            continue;
        }
        std::vector<ImplPtr> read;
        Node issued = map_inputs(part, [&](NodeRef ref) {
            read.push_back(values.at(static_cast<std::size_t>(ref.id)).at(0).impl());
            return Arg(NodeRef{static_cast<NodeId>(read.size() - 1)});
        });
        issued.results.clear();
        issued.module_path = call.module_path;
        values[i] = record(std::move(issued), read, pc);
    }
    TensorList results;
    for (const NodeId id : parts.outputs()) results.push_back(values.at(static_cast<std::size_t>(id)).at(0));
    return results;
}

Step Session::step_of(const Node& call, const std::string& functional, const std::vector<ImplPtr>& operands,
                      NodeId nodes) const {
    Step step{.call = call, .functional = functional, .grad_enabled = grad_enabled(), .nodes = nodes};
    for (const ImplPtr& operand : operands)
        step.operands.push_back({operand->session.get() == this ? operand->node.id : known_.at(operand->key).id,
                                 operand->meta.requires_grad});
    return step;
}

/// Gives back what the operation took, unless it is kept.
class Session::Speculation {
  public:
    explicit Speculation(Session& session)
        : session_(session), before_(session.graph_.checkpoint()), counters_(session.counters_) {}
    ~Speculation() {
        if (!kept_) session_.give_back(before_, counters_);
    }
    Speculation(const Speculation&) = delete;
    Speculation& operator=(const Speculation&) = delete;
    void keep() { kept_ = true; }

  private:
    Session& session_;
    capture::OutputGraph::Checkpoint before_;
    Counters counters_;
    bool kept_ = false;
};

TensorList Session::record(Node call, const std::vector<ImplPtr>& operands, void* pc, const NestedGraphs& nested) {
    const std::lock_guard lock(mutex_);
    const RegisteredOp* const op = next_is(call.target) ? nullptr : &Registry::instance().require(call.target);
    if (op && op->def->random) return random(call, operands, pc);
    for (const ImplPtr& operand : operands) end_aliased_writes(operand);
    if (const Step* step = match(call, {}, operands)) return results_of(*step, operands);
    if (auto results = record_parts(call, operands, pc)) return std::move(*results);
    leave_tape();
    Speculation speculation(*this);
    for (const auto& [name, graph] : nested)
        for (Arg& arg : call.args)
            if (arg == Arg(GraphRef{name})) arg = Arg(graph_.nest(name, graph));
    TensorList results = record_new(std::move(call), operands, pc);
    speculation.keep();
    return results;
}

void Session::give_back(const capture::OutputGraph::Checkpoint& before, const Counters& counters) {
    if (keeps_events_) return;
    const auto is_new = [&](NodeId id) { return static_cast<std::size_t>(id) >= before.nodes; };
    for (const auto& [id, impl] : input_impls_)
        if (const Source* source = is_new(id) ? graph_.source_of({id}) : nullptr) taken_sources_.erase(*source);
    std::erase_if(known_, [&](const auto& entry) { return is_new(entry.second.id); });
    std::erase_if(input_impls_, [&](const auto& entry) { return is_new(entry.first); });
    std::erase_if(lifted_, [&](const ImplPtr& impl) { return !known_.contains(impl->key); });
    graph_.roll_back(before);
    counters_ = counters;
}

void Session::log_last_call(void* pc) const {
    if (!log_enabled(LogChannel::capture, LogLevel::debug)) return;
    const Graph& graph = graph_.graph();
    std::string text = print(graph, producer_of(graph, graph.nodes.back()));
    if (const std::vector<StackFrame> stack = pc ? user_stack({pc}) : std::vector<StackFrame>(); !stack.empty())
        text += " at " + stack[0].file + ":" + std::to_string(stack[0].line);
    log_debug(LogChannel::capture, text);
}

TensorList Session::record_new(Node call, const std::vector<ImplPtr>& operands, void* pc) {
    const auto nodes = static_cast<NodeId>(graph_.graph().nodes.size());
    bool gradient = false;
    Node node = map_inputs(call, [&](NodeRef ref) {
        const ImplPtr& operand = operands.at(static_cast<std::size_t>(ref.id));
        gradient |= operand->meta.requires_grad;
        return Arg(node_of(operand));
    });
    std::vector<ValueMeta> metas;
    try {
        metas = infer(graph_.graph(), node);
    } catch (const std::exception& error) {
        note_failure(node, error);
        throw;
    }
    if (gradient && grad_enabled())
        for (ValueMeta& meta : metas) meta.requires_grad = is_floating(meta.dtype);
    Step step = step_of(call, {}, operands, nodes);
    TensorList results = add(std::move(node), metas, stack_from(pc));
    log_last_call(pc);
    for (std::size_t i = 0; i < results.size(); ++i)
        step.results.push_back({.node = results[i].impl()->node, .meta = metas[i]});
    locate(call, Registry::instance().require(call.target).schema, operands, results, step);
    steps_.push_back(std::move(step));
    return results;
}

void Session::record_write(Node call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc) {
    const std::lock_guard lock(mutex_);
    for (const ImplPtr& operand : operands) end_aliased_writes(operand);
    if (match(call, functional, operands)) {
        advance();
        return note_write(operands.at(0), call.target, pc);
    }
    leave_tape();
    const auto nodes = static_cast<NodeId>(graph_.graph().nodes.size());
    Speculation speculation(*this);
    Node node =
        map_inputs(call, [&](NodeRef ref) { return Arg(node_of(operands.at(static_cast<std::size_t>(ref.id)))); });
    const TensorImpl& self = *operands.at(0);
    Node computed = node;
    computed.target = functional;
    try {
        const std::vector<ValueMeta> metas = infer(graph_.graph(), computed);
        if (metas.at(0).sizes != self.meta.sizes)
            throw Error(call.target + ": found a result of sizes " + to_string(metas[0].sizes) + " written into " +
                        to_string(self.meta.sizes) + ", expected equal ones");
    } catch (const std::exception& error) {
        note_failure(node, error);
        throw;
    }
    steps_.push_back(step_of(call, functional, operands, nodes));
    const std::vector<NodeRef> made = graph_.call({.target = std::move(node.target),
                                                   .args = std::move(node.args),
                                                   .kwargs = std::move(node.kwargs),
                                                   .results = {self.meta},
                                                   .effect = true});
    log_last_call(pc);
    if (host_.wants_stacks()) stacks_[graph_.graph().node(made.at(0)).name] = stack_from(pc);
    speculation.keep();
    note_write(operands.at(0), call.target, pc);
}

/// Memory of inputs is written when the graph runs; what shares it must be known then.
void Session::note_write(const ImplPtr& self, const std::string& target, void* pc) {
    const std::shared_ptr<Memory> memory = memory_of(*self);
    if (memory == outside_) refuse(BreakKind::mutation, "a write to a tensor from around it");
    if (!memory->storage) return;
    if (!memory->storage->writable()) throw Error(target + ": found a write to memory that is only to be read");
    // By whom: the input that the written tensor is, or views.
    std::vector<std::uint64_t> sharing;
    for (const auto& [key, ref] : known_)
        if (input_impls_.at(ref.id)->value->storage() == memory->storage) sharing.push_back(key);
    written_[memory->storage.get()] = sharing.empty() ? 0 : sharing.front();
    if (sharing.size() > 1)
        break_graph(
            {.kind = BreakKind::mutation, .reason = "a write to memory that several inputs share", .op = target}, pc);
}

void Session::name_parameter(std::size_t position, const TensorImpl* tensor, const std::string& name) {
    std::string before = "arg" + std::to_string(position);
    if (tensor) {
        const auto known = sources_.find(tensor->key);
        if (known == sources_.end()) return name_variable(tensor, name);
        before = known->second.root().name();
    }
    if (before == name || !numbered_argument(before)) return;
    for (auto& [key, source] : sources_)
        if (source.root().name() == before) source = source.with_root(name);
    host_.argument_named(before, name);
}

void Session::name_variable(const TensorImpl* tensor, const std::string& name) {
    if (!tensor) return;
    variables_.try_emplace(tensor->key, name);  // `Tensor x = a;` does not rename the parameter `a`
    if (tensor->session.get() == this) node_names_[tensor->node.id] = name;
}

void Session::refuse(BreakKind kind, const std::string& reason) const {
    throw NestedBreak{{.kind = kind, .reason = reason}};
}

void Session::break_graph(GraphBreak why, void* pc, bool always) {
    const std::lock_guard lock(mutex_);
    if (nested()) throw NestedBreak{std::move(why)};
    if (empty() && !always) return;
    Addresses stack = host_.wants_stacks() ? stack_from(pc) : Addresses{pc};
    if (host_.wants_stacks()) why.stack = with_cursor(user_stack(stack));
    flush(std::move(why), std::move(stack));
}

void Session::finish() {
    const std::lock_guard lock(mutex_);
    flush(std::nullopt, {});
}

Addresses Session::stack_from(const void* pc) const {
    return host_.wants_stacks() ? capture_stack(pc, outside) : Addresses{};
}

void Session::finish_by_exception(const Thrown& thrown) noexcept {
    const std::lock_guard lock(mutex_);
    try {
        // An op that fails before anything is recorded ends capture just the same.
        const bool op_failed = last_failure_ && last_failure_->second == thrown.what;
        if (!empty() || op_failed) {
            GraphBreak why{.kind = BreakKind::exception, .reason = "an exception left " + frame_};
            if (op_failed) why.op = last_failure_->first;
            if (!thrown.what.empty()) why.reason += ": " + thrown.what;
            why.stack = thrown.stack;
            flush(std::move(why), thrown.addresses, host_.wants_stacks());
        }
    } catch (const std::exception& error) {
        log_warning(LogChannel::capture, "what " + frame_ + " did before an exception left it failed: " + error.what());
    }
    abandon();
}

void Session::abandon() {
    note_rest();
    for (const std::weak_ptr<TensorImpl>& entry : pending_)
        if (const ImplPtr impl = entry.lock()) impl->session.reset();
    reset();
}

}  // namespace whittle::api
