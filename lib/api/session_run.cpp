// How a recorded graph ends: finished, run, and its values handed out.
#define WHITTLE_API_IMPLEMENTATION
#include <algorithm>
#include <cstring>
#include <set>
#include <string_view>
#include <utility>

#include "api/global_state.h"
#include "api/session.h"
#include "api/tape.h"
#include "base/error.h"

namespace whittle::api {

using capture::BreakKind;
using capture::GraphBreak;

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
    for (const auto& [name, nested] : graph.subgraphs) {
        append(key, name);
        append(key, key_of(*nested));
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

std::vector<whittle::Tensor> Session::values_of(const std::vector<NodeId>& inputs) const {
    std::vector<whittle::Tensor> values;
    for (const NodeId id : inputs) values.push_back(*input_impls_.at(id)->value);
    return values;
}

std::shared_ptr<Tape> Session::finish_graph(const std::vector<NodeRef>& live, std::optional<GraphBreak> why,
                                            Addresses stack) {
    const Graph& raw = graph_.graph();
    std::optional<capture::CapturedGraph> finished = graph_.finish(live, std::move(why));
    if (!finished || finished->graph.calls().empty()) return nullptr;
    auto tape = std::make_shared<Tape>(Tape{.live = live});
    tape->recorded = {.captured = std::move(*finished), .ended_at = std::move(stack)};
    Graph& graph = tape->recorded.captured.graph;
    tape->recorded.key = key_of(graph);
    std::unordered_map<std::string_view, NodeId> by_name;
    for (const auto& [id, impl] : input_impls_) by_name.emplace(raw.node({id}).name, id);
    for (const Node& node : graph.nodes) {
        if (node.kind == NodeKind::placeholder) tape->placeholders.push_back(by_name.at(node.name));
        if (node.kind == NodeKind::get_attr) tape->parameters.push_back(by_name.at(node.name));
        const auto known = stacks_.find(node.name);
        tape->recorded.stacks.push_back(known == stacks_.end() ? Addresses{} : known->second);
    }
    std::map<std::string, std::string> names;
    for (const auto& [id, name] : node_names_) names.emplace(raw.node({id}).name, name);
    rename_nodes(graph, names);
    if (keeps_events_ || host_.wants_stacks() || host_.keeps_all() || !raw.subgraphs.empty()) return tape;
    for (const auto& [id, impl] : input_impls_) {
        const capture::Source* source = graph_.source_of({id});
        tape->inputs[id] = {.parameter = source ? "" : parameter_name(*impl),
                            .source = source ? std::optional(*source) : std::nullopt,
                            .meta = raw.node({id}).meta()};
    }
    tape->graph = raw;
    tape->graph.attributes.clear();
    tape->steps = std::move(steps_);
    return tape;
}

namespace {

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

void Session::flush(std::optional<GraphBreak> why, Addresses stack, bool all) {
    const std::shared_ptr<Session> self = shared_from_this();  // values that are given up must not end us here
    std::vector<ImplPtr> live;
    std::vector<NodeRef> results;
    std::map<const Memory*, int> shares;
    for (const std::weak_ptr<TensorImpl>& entry : pending_)
        if (ImplPtr impl = entry.lock(); impl && impl->session.get() == this) {
            results.push_back(impl->node);
            if (impl->memory && !impl->memory->storage) ++shares[impl->memory.get()];
            live.push_back(std::move(impl));
        }
    // Memory that several tensors show is an output as a whole; they become views of it.
    std::map<const Memory*, std::size_t> whole;
    for (const ImplPtr& impl : live) {
        if (!impl->memory) continue;
        const Memory& memory = *impl->memory;
        if (memory.storage || shares[&memory] < 2 || whole.contains(&memory)) continue;
        std::size_t position = 0;
        while (position < results.size() && !(results[position] == memory.root)) ++position;
        if (position == results.size()) results.push_back(memory.root);
        whole[&memory] = position;
    }
    if (all)
        for (const NodeRef node : unread(graph_.graph()))
            if (std::find(results.begin(), results.end(), node) == results.end()) results.push_back(node);
    NotRecording not_recording;
    if (keeps_events_) note_segment(results, why);
    if (why) host_.broke(*why, stack);
    std::shared_ptr<Tape> recorded;
    if (!match_end(results)) {
        leave_tape();
        recorded = finish_graph(results, std::move(why), std::move(stack));
        if (!recorded) return reset();  // nothing to run
    }
    const std::shared_ptr<const Tape> tape = recorded ? recorded : tape_;
    std::shared_ptr<CompiledGraph> compiled = tape->compiled;
    const std::vector<whittle::Tensor> inputs = values_of(tape->placeholders), parameters = values_of(tape->parameters);
    const auto keep = std::move(input_impls_);
    const std::int64_t number = graphs_run_++;
    if (recorded && host_.wants_stacks())
        for (capture::Guard& guard : branch_guards(ways_))
            recorded->recorded.captured.guards.push_back(std::move(guard));
    host_.went(number, std::exchange(ways_, {}));
    reset();
    std::vector<whittle::Tensor> outputs;
    try {
        const RestoreState restore;  // whatever the backend does to it
        outputs = host_.run(tape->recorded, compiled, inputs, parameters);
        note_outputs(outputs);
        for (std::size_t i = 0; i < live.size(); ++i)
            outputs.at(i) = as_promised(outputs.at(i), live[i]->meta, tape->recorded.captured.graph.name);
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
    std::map<const Memory*, std::shared_ptr<Storage>> storages;
    for (const auto& [memory, position] : whole) storages[memory] = laid_out(outputs.at(position), memory->root_meta);
    for (std::size_t i = 0; i < live.size(); ++i) {
        TensorImpl& impl = *live[i];
        const ValueMeta& meta = impl.meta;
        std::shared_ptr<Storage> storage = impl.memory ? impl.memory->storage : nullptr;
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

void Session::settle(const TensorImpl& tensor, const Demand& why) {
    if (nested()) {
        if (around_) around_->settle(tensor, why);
        return;
    }
    const std::lock_guard lock(mutex_);
    if (!tensor.value) return;
    const Storage* const storage = tensor.value->storage().get();
    bool stale = written_.contains(storage);
    if (static_cast<BreakKind>(why.kind) == BreakKind::data_pointer)  // perhaps to write
        for (const auto& [id, impl] : input_impls_) stale |= impl->value && impl->value->storage().get() == storage;
    if (!stale) return;
    // Inside the body of a higher-order operation the graph around it must not break.
    if (Session* const current = Session::current(); current && current->nested())
        throw NestedBreak{{.kind = static_cast<BreakKind>(why.kind), .reason = why.reason, .op = why.op}};
    break_graph({.kind = static_cast<BreakKind>(why.kind), .reason = why.reason, .op = why.op}, why.pc);
}

const whittle::Tensor& demand(const Tensor& tensor, const Demand& why) {
    TensorImpl& impl = defined(tensor, why.op.c_str());
    if (impl.session) {
        // Inside the body of a higher-order operation the graph around it must not break.
        Session* const current = Session::current();
        const auto session = current && current->nested() ? current->shared_from_this() : impl.session;
        session->break_graph({.kind = static_cast<BreakKind>(why.kind), .reason = why.reason, .op = why.op}, why.pc);
    } else if (Session* const current = Session::current(); current && !why.reason.empty())
        current->settle(impl, why);
    if (!impl.value)
        throw Error("the tensor has no value: the graph that computes it failed, or was given up by an exception",
                    "a tensor made in a function of cond(), while_loop() or map() leaves it only as its result");
    return *impl.value;
}

TensorImpl& defined(const Tensor& tensor, const char* what) {
    if (!tensor.defined()) throw Error(std::string(what) + ": found an undefined tensor");
    return *tensor.impl();
}

}  // namespace whittle::api
