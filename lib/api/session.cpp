#define WHITTLE_API_IMPLEMENTATION
#include "api/session.h"

#include <algorithm>
#include <cstring>
#include <set>
#include <utility>

#include "api/call.h"
#include "api/probes.h"
#include "api/stack.h"
#include "base/error.h"
#include "base/log.h"
#include "graph/text.h"
#include "ops/families.h"
#include "ops/registry.h"

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

Session::Session(std::string frame, FrameHost& host) : frame_(std::move(frame)), host_(host), graph_("") { reset(); }

Session* Session::current() { return current_session; }
Session* Session::exchange(Session* session) { return std::exchange(current_session, session); }

void Session::reset() {
    graph_ = capture::OutputGraph(frame_ + "_" + std::to_string(graphs_run_));
    pending_.clear();
    inputs_.clear();
    stacks_.clear();
    known_.clear();
    input_impls_.clear();
    node_names_.clear();
    input_memory_.clear();
    written_.clear();
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
    if (const auto name = variables_.find(operand->key); name != variables_.end()) {
        const Source source = Source::local(name->second);
        if (!inputs_.contains(source.text())) return source;
    }
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
    input_impls_.emplace(operand->key, operand);
    if (const auto parameter = parameters_.find(operand->key); parameter != parameters_.end())
        return graph_.parameter(parameter->second, *operand->value, operand->key);
    if (!operand->qualified_name.empty())
        return graph_.parameter(operand->qualified_name, *operand->value, operand->key);
    Source source = source_of(operand);
    if (inputs_.contains(source.text()))  // a variable that took over an argument's name
        source = Source::global("tensor_" + std::to_string(global_inputs_++));
    inputs_.emplace(source.text(), operand);
    return graph_.input(source, operand->meta, operand->key);
}

TensorList Session::add(Node call, std::vector<ValueMeta> metas, const Addresses& stack) {
    const std::vector<NodeRef> nodes = graph_.call({.target = std::move(call.target),
                                                    .args = std::move(call.args),
                                                    .kwargs = std::move(call.kwargs),
                                                    .results = metas,
                                                    .module_path = std::move(call.module_path),
                                                    .effect = host_.keeps_all()});
    TensorList results;
    for (std::size_t i = 0; i < nodes.size(); ++i) {
        if (host_.wants_stacks()) stacks_[graph_.graph().node(nodes[i]).name] = stack;
        ImplPtr impl = make_pending(metas[i]);
        impl->session = shared_from_this();
        impl->node = nodes[i];
        pending_.push_back(impl);
        results.push_back(Tensor(std::move(impl)));
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

/// One past the last element that sizes and strides reach from the first; nothing where a stride is negative.
std::optional<std::int64_t> reach(const ValueMeta& meta) {
    std::int64_t last = 0;
    for (std::size_t d = 0; d < meta.sizes.size(); ++d) {
        if (meta.sizes[d] == 0) return 0;
        if (meta.strides[d] < 0) return std::nullopt;
        last += (meta.sizes[d] - 1) * meta.strides[d];
    }
    return last + 1;
}

}  // namespace

std::shared_ptr<Memory> Session::memory_of(const TensorImpl& impl) {
    if (impl.session.get() == this) return impl.memory;
    std::shared_ptr<Memory>& memory = input_memory_[impl.value->storage().get()];
    if (!memory) memory = std::make_shared<Memory>(Memory{.storage = impl.value->storage()});
    return memory;
}

void Session::locate(const Node& call, const Schema& schema, const std::vector<ImplPtr>& operands,
                     const TensorList& results) {
    for (const Tensor& result : results) {
        TensorImpl& impl = *result.impl();
        impl.memory = std::make_shared<Memory>(Memory{.root = impl.node, .root_meta = impl.meta});
    }
    if (schema.returns.empty() || schema.returns.front().alias.empty() || call.args.empty()) return;
    const NodeRef* first = call.args.front().node();
    const RegisteredOp* op = Registry::instance().op(call.target);
    if (!first || !op || !op->def->eval) return;
    const TensorImpl& operand = *operands.at(static_cast<std::size_t>(first->id));
    const auto elements = reach(operand.meta);
    if (!elements) return;
    // A view shows where its kernel puts it; some views copy, depending on the strides.
    const auto storage = probe_storage(static_cast<std::size_t>(*elements) * size_of(operand.meta.dtype));
    const whittle::Tensor probe(storage, operand.meta.dtype, operand.meta.sizes, operand.meta.strides);
    const Arguments<whittle::Tensor> arguments(op->schema, call, [&](NodeRef) { return probe; });
    const std::vector<whittle::Tensor> shown = op->def->eval(arguments);
    const std::int64_t offset = operand.session.get() == this ? operand.offset : operand.value->offset();
    for (std::size_t i = 0; i < results.size() && i < shown.size(); ++i) {
        if (shown[i].storage() != storage) continue;
        results[i].impl()->memory = memory_of(operand);
        results[i].impl()->offset = offset + shown[i].offset();
    }
}

void Session::end_aliased_writes(const ImplPtr& operand) {
    if (operand->session || !operand->value) return;
    const auto written = written_.find(operand->value->storage().get());
    if (written == written_.end() || written->second == operand->key) return;
    break_graph({.kind = BreakKind::mutation, .reason = "memory that another input wrote is read"}, nullptr);
}

TensorList Session::record(Node call, const std::vector<ImplPtr>& operands, void* pc) {
    const std::lock_guard lock(mutex_);
    const RegisteredOp& op = Registry::instance().require(call.target);
    if (op.def->random) {  // drawn in program order, before the graph that uses it
        for (const ImplPtr& operand : operands)
            demand(Tensor(operand), {static_cast<int>(BreakKind::unsupported),
                                     "random values that depend on computed ones", call.target, pc});
        const NotRecording not_recording;
        TensorList results;
        for (const whittle::Tensor& value : run_now(call, operands)) {
            results.push_back(wrap(value));
            made_here_[results.back().impl()->key] = true;
        }
        return results;
    }
    for (const ImplPtr& operand : operands) end_aliased_writes(operand);
    bool gradient = false;
    const auto mapped = [&] {
        return map_inputs(call, [&](NodeRef ref) {
            const ImplPtr& operand = operands.at(static_cast<std::size_t>(ref.id));
            gradient |= operand->meta.requires_grad;
            return Arg(node_of(operand));
        });
    };
    Node node = mapped();
    std::vector<ValueMeta> metas = infer(graph_.graph(), node);
    if (gradient && grad_enabled())
        for (ValueMeta& meta : metas) meta.requires_grad = is_floating(meta.dtype);
    const TensorList results =
        add(std::move(node), std::move(metas), host_.wants_stacks() ? capture_stack() : Addresses{});
    locate(call, op.schema, operands, results);
    return results;
}

void Session::record_write(Node call, const std::string& functional, const std::vector<ImplPtr>& operands, void* pc) {
    const std::lock_guard lock(mutex_);
    for (const ImplPtr& operand : operands) end_aliased_writes(operand);
    Node node =
        map_inputs(call, [&](NodeRef ref) { return Arg(node_of(operands.at(static_cast<std::size_t>(ref.id)))); });
    const TensorImpl& self = *operands.at(0);
    Node computed = node;
    computed.target = functional;
    const std::vector<ValueMeta> metas = infer(graph_.graph(), computed);
    if (metas.at(0).sizes != self.meta.sizes)
        throw Error(call.target + ": found a result of sizes " + to_string(metas[0].sizes) + " written into " +
                    to_string(self.meta.sizes) + ", expected equal ones");
    const std::vector<NodeRef> made = graph_.call({.target = std::move(node.target),
                                                   .args = std::move(node.args),
                                                   .kwargs = std::move(node.kwargs),
                                                   .results = {self.meta},
                                                   .effect = true});
    if (host_.wants_stacks()) stacks_[graph_.graph().node(made.at(0)).name] = capture_stack();
    const std::shared_ptr<Memory> memory = memory_of(self);
    if (!memory->storage) return;
    if (!memory->storage->writable()) throw Error(call.target + ": found a write to memory that is only to be read");
    // By whom: the input that the written tensor is, or views.
    std::vector<std::uint64_t> sharing;
    for (const auto& [key, ref] : known_) {
        const auto input = input_impls_.find(key);
        if (input != input_impls_.end() && input->second->value->storage() == memory->storage) sharing.push_back(key);
    }
    written_[memory->storage.get()] = sharing.empty() ? 0 : sharing.front();
    if (sharing.size() > 1)
        break_graph(
            {.kind = BreakKind::mutation, .reason = "a write to memory that several inputs share", .op = call.target},
            pc);
}

void Session::name_parameter(std::size_t position, const TensorImpl* tensor, const std::string& name) {
    std::string before = "arg" + std::to_string(position);
    if (tensor) {
        const auto known = sources_.find(tensor->key);
        if (known == sources_.end()) return name_variable(tensor, name);
        before = known->second.root().name();
    }
    if (before == name || !before.starts_with("arg")) return;
    for (auto& [key, source] : sources_)
        if (source.root().name() == before) source = source.with_root(name);
    host_.argument_named(before, name);
}

void Session::name_variable(const TensorImpl* tensor, const std::string& name) {
    if (!tensor) return;
    variables_[tensor->key] = name;
    if (tensor->session.get() == this) node_names_[graph_.graph().node(tensor->node).name] = name;
}

void Session::break_graph(GraphBreak why, void* pc) {
    const std::lock_guard lock(mutex_);
    if (empty()) return;
    Addresses stack = host_.wants_stacks() ? capture_stack() : Addresses{pc};
    if (host_.wants_stacks()) why.stack = with_cursor(user_stack(stack));
    flush(std::move(why), std::move(stack));
}

void Session::finish() {
    const std::lock_guard lock(mutex_);
    flush(std::nullopt, {});
}

void Session::finish_by_exception() noexcept {
    const std::lock_guard lock(mutex_);
    try {
        break_graph({.kind = BreakKind::exception, .reason = "an exception left " + frame_}, nullptr);
    } catch (const std::exception& error) {
        log_warning("capture", "what " + frame_ + " did before an exception left it failed: " + error.what());
    }
    abandon();
}

void Session::abandon() {
    for (const std::weak_ptr<TensorImpl>& entry : pending_)
        if (const ImplPtr impl = entry.lock()) impl->session.reset();
    reset();
}

namespace {

void append(std::string& key, std::int64_t number) {
    key.append(reinterpret_cast<const char*>(&number), sizeof number);
}
void append(std::string& key, const std::string& text) {
    append(key, static_cast<std::int64_t>(text.size()));
    key += text;
}
void append(std::string& key, const Arg& arg);
void append_value(std::string&, const std::monostate&) {}
void append_value(std::string& key, const NodeRef& ref) { append(key, std::int64_t{ref.id}); }
void append_value(std::string& key, std::int64_t number) { append(key, number); }
void append_value(std::string& key, double number) {
    std::int64_t bits = 0;
    std::memcpy(&bits, &number, sizeof bits);
    append(key, bits);
}
void append_value(std::string& key, bool flag) { key += flag ? '1' : '0'; }
void append_value(std::string& key, const std::string& text) { append(key, text); }
void append_value(std::string& key, whittle::DType dtype) { key += static_cast<char>(dtype); }
void append_value(std::string& key, const ArgList& list) {
    append(key, static_cast<std::int64_t>(list.size()));
    for (const Arg& arg : list) append(key, arg);
}
void append_value(std::string& key, const GraphRef& graph) { append(key, graph.name); }
void append(std::string& key, const Arg& arg) {
    key += static_cast<char>(arg.value.index());
    std::visit([&](const auto& value) { append_value(key, value); }, arg.value);
}
void append(std::string& key, const std::vector<std::int64_t>& numbers) {
    append(key, static_cast<std::int64_t>(numbers.size()));
    for (const std::int64_t number : numbers) append(key, number);
}

/// Equal for graphs that do the same on inputs of the same kind: all but names of calls, stacks and parameters' values.
std::string key_of(const Graph& graph) {
    std::string key;
    key.reserve(graph.nodes.size() * 128);
    for (const Node& node : graph.nodes) {
        key += static_cast<char>(node.kind);
        append(key, node.target);
        append(key, static_cast<std::int64_t>(node.args.size()));
        for (const Arg& arg : node.args) append(key, arg);
        append(key, static_cast<std::int64_t>(node.kwargs.size()));
        for (const auto& [name, arg] : node.kwargs) {
            append(key, name);
            append(key, arg);
        }
        append(key, static_cast<std::int64_t>(node.results.size()));
        for (const ValueMeta& meta : node.results) {
            key += static_cast<char>(meta.dtype);
            key += meta.requires_grad ? '1' : '0';
            append(key, meta.sizes);
            append(key, meta.strides);
        }
    }
    return key;
}

/// The value as the graph promised it: a backend may lay it out differently.
whittle::Tensor as_promised(whittle::Tensor value, const ValueMeta& meta, const std::string& graph) {
    if (value.dtype() != meta.dtype || value.sizes() != meta.sizes)
        throw Error("graph " + graph + ": the backend returned " + std::string(whittle::name(value.dtype())) +
                    to_string(value.sizes()) + ", expected " + std::string(whittle::name(meta.dtype)) +
                    to_string(meta.sizes));
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

/// Memory of its own that holds `value` under the strides of `meta`, starting at element 0.
std::shared_ptr<Storage> laid_out(const whittle::Tensor& value, const ValueMeta& meta) {
    const auto elements = reach(meta);
    WHITTLE_CHECK(elements.has_value(), "a root with negative strides");
    auto storage = Storage::allocate(static_cast<std::size_t>(*elements) * size_of(meta.dtype));
    whittle::Tensor shown(storage, meta.dtype, meta.sizes, meta.strides);
    write_into(shown, value);
    return storage;
}

}  // namespace

void Session::flush(std::optional<GraphBreak> why, Addresses stack) {
    const std::shared_ptr<Session> self = shared_from_this();  // values that are given up must not end us here
    std::vector<ImplPtr> live;
    std::vector<NodeRef> results;
    std::map<const Memory*, int> shares;
    for (const std::weak_ptr<TensorImpl>& entry : pending_)
        if (ImplPtr impl = entry.lock(); impl && impl->session.get() == this) {
            results.push_back(impl->node);
            if (!impl->memory->storage) ++shares[impl->memory.get()];
            live.push_back(std::move(impl));
        }
    // Memory that several tensors show is an output as a whole; they become views of it.
    std::map<const Memory*, std::size_t> whole;
    for (const ImplPtr& impl : live) {
        const Memory& memory = *impl->memory;
        if (memory.storage || shares[&memory] < 2 || whole.contains(&memory)) continue;
        std::size_t position = 0;
        while (position < results.size() && !(results[position] == memory.root)) ++position;
        if (position == results.size()) results.push_back(memory.root);
        whole[&memory] = position;
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
    rename_nodes(recorded.captured.graph, node_names_);
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
    std::map<const Memory*, std::shared_ptr<Storage>> storages;
    for (const auto& [memory, position] : whole) storages[memory] = laid_out(outputs.at(position), memory->root_meta);
    for (std::size_t i = 0; i < live.size(); ++i) {
        TensorImpl& impl = *live[i];
        const ValueMeta& meta = impl.meta;
        std::shared_ptr<Storage> storage = impl.memory->storage;
        if (const auto found = storages.find(impl.memory.get()); found != storages.end()) storage = found->second;
        impl.value = storage ? whittle::Tensor(storage, meta.dtype, meta.sizes, meta.strides, impl.offset)
                                   .with_requires_grad(meta.requires_grad)
                             : outputs[i];
        impl.meta = ValueMeta::of(*impl.value);
        impl.session.reset();
        impl.memory.reset();
        made_here_.emplace(impl.key, false);
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
