#define WHITTLE_API_IMPLEMENTATION
#include "api/body.h"

#include <algorithm>
#include <map>
#include <optional>

#include "api/call.h"
#include "api/session.h"
#include "api/stack.h"
#include "base/error.h"
#include "ops/core/mode.h"
#include "passes/dce.h"
#include "passes/functionalize.h"

namespace whittle::api {

using capture::Source;

BodyScope::BodyScope(Session& session) : session_(session) {
    const std::lock_guard lock(session.mutex_);
    session.check_body();
    session.bodies_.push_back({.thread = std::this_thread::get_id(),
                               .before = session.builder_.checkpoint(),
                               .tapes = session.tapes_.position(),
                               .pending = session.pending_.size()});
    session.tapes_.leave();
    session.builder_.begin_body();
    session.bodies_.back().steps = session.tapes_.steps().size();
}

BodyScope::~BodyScope() {
    const std::lock_guard lock(session_.mutex_);
    if (!session_.bodies_.back().given_up) {
        try {
            give_values();
        } catch (...) {  // they have none, then, as it says who reads them
        }
        session_.roll_back(session_.bodies_.back());
    }
    session_.bodies_.pop_back();
}

TensorList BodyScope::arguments(const std::vector<ValueMeta>& metas) {
    const std::lock_guard lock(session_.mutex_);
    const Source given = Source::state("argument").item(static_cast<std::int64_t>(session_.bodies_.size()));
    TensorList arguments;
    for (std::size_t i = 0; i < metas.size(); ++i) {
        const Source source = given.item(static_cast<std::int64_t>(i));
        ImplPtr impl = session_.pending(metas[i], session_.builder_.graph().input(source, metas[i]));
        impl->place.memory = capture::kOutside;
        arguments.push_back(Tensor(std::move(impl)));
    }
    return arguments;
}

namespace {

/// The steps of a body, issued again into a graph of its own.
class BodyGraph {
  public:
    /// `around`: the tensors of what is read from around it, by node.
    BodyGraph(const std::string& name, const std::unordered_map<NodeId, ImplPtr>& around)
        : graph_(name + "_0"), around_(around) {}

    void add_argument(const TensorImpl& argument) {
        const std::string name = "argument" + std::to_string(recorded_.arguments.size());
        recorded_.arguments.push_back(graph_.input(Source::local(name), argument.meta));
        nodes_[argument.node.id] = recorded_.arguments.back();
    }
    /// `call`: as it is in the graph `from`.
    void add(const TapeStep& step, const Node& call, const Graph& from) {
        std::vector<NodeRef> operands;
        for (const TapeStep::Operand& operand : step.operands) operands.push_back(node(operand.node));
        Node own =
            map_inputs(step.call, [&](NodeRef ref) { return Arg(operands.at(static_cast<std::size_t>(ref.id))); });
        for (std::size_t i = 0; i < own.args.size(); ++i)
            if (const auto* wanted = std::get_if<GraphRef>(&own.args[i].value)) {
                const GraphRef& nested = std::get<GraphRef>(call.args.at(i).value);
                own.args[i] = Arg(graph_.nest(wanted->name, from.subgraphs.at(nested.name)));
            }
        own.name.clear();
        own.results = call.results;
        const std::vector<NodeRef> made = graph_.call(std::move(own));
        if (step.results.empty() && !made.empty()) nodes_[step.made.id] = made.front();
        for (std::size_t i = 0; i < step.results.size(); ++i) nodes_[step.results[i].node.id] = made.at(i);
    }
    void add_result(const ImplPtr& result, bool computed) {
        const auto known = computed ? nodes_.find(result->node.id) : nodes_.end();
        recorded_.results.push_back(known == nodes_.end() ? capture(result) : known->second);
    }
    /// The own node of one of the body's; null: it was added nowhere.
    const NodeRef* own(NodeId id) const {
        const auto known = nodes_.find(id);
        return known == nodes_.end() ? nullptr : &known->second;
    }
    RecordedBody finish() {
        recorded_.graph = graph_.graph();
        return std::move(recorded_);
    }

  private:
    NodeRef node(NodeId id) {
        const auto known = nodes_.find(id);
        return known == nodes_.end() ? nodes_[id] = capture(around_.at(id)) : known->second;
    }
    NodeRef capture(const ImplPtr& from) {
        const auto known = std::find(recorded_.captured.begin(), recorded_.captured.end(), from);
        if (known != recorded_.captured.end())
            return recorded_.lifted[static_cast<std::size_t>(known - recorded_.captured.begin())];
        recorded_.captured.push_back(from);
        const std::string name = "captured" + std::to_string(recorded_.captured.size());
        recorded_.lifted.push_back(graph_.input(Source::local(name), from->meta));
        return recorded_.lifted.back();
    }

    capture::OutputGraph graph_;
    const std::unordered_map<NodeId, ImplPtr>& around_;
    RecordedBody recorded_;
    std::unordered_map<NodeId, NodeRef> nodes_;  ///< by the session's
};

}  // namespace

void BodyScope::refuse_what_leaves(const OpenBody& body, const TensorList& arguments, const TensorList& results) const {
    std::map<const TensorImpl*, long> expected;
    for (const TensorList* list : {&arguments, &results})
        for (const Tensor& tensor : *list) ++expected[tensor.impl().get()];
    for (const auto& [node, read] : body.read) ++expected[read.get()];
    for (std::size_t i = body.pending; i < session_.pending_.size(); ++i) {
        const ImplPtr impl = session_.pending_[i].lock();
        if (impl && impl.use_count() > 1 + expected[impl.get()])
            throw NestedBreak{
                {.kind = capture::BreakKind::side_effect, .reason = "a tensor that is used after the call"}};
    }
}

std::unordered_map<NodeId, ImplPtr> BodyScope::computed(const OpenBody& body) const {
    std::unordered_map<NodeId, ImplPtr> known;
    const auto& inputs = session_.builder_.inputs();
    for (std::size_t i = 0; i < std::min(inputs.size(), session_.inputs_.size()); ++i)
        if (const ImplPtr& input = session_.inputs_[i];
            input->value && !session_.builder_.memories().is_written(storage_key(*input->value)))
            known.emplace(inputs[i].node.id, input);
    const NotRecording at_once;
    const WithoutModes unseen;
    const auto& steps = session_.tapes_.steps();
    for (std::size_t i = body.steps; i < steps.size(); ++i) {
        const TapeStep& step = steps[i];
        if (!step.functional.empty()) return {};
        std::vector<ImplPtr> operands;
        for (const TapeStep::Operand& operand : step.operands)
            if (const auto at = known.find(operand.node); at != known.end()) operands.push_back(at->second);
        if (operands.size() != step.operands.size() || step.results.empty()) continue;
        try {
            const std::vector<whittle::Tensor> values = run_now(step.call, operands);
            for (std::size_t k = 0; k < values.size(); ++k)
                known.emplace(step.results.at(k).node.id, make_impl(values[k]));
        } catch (const Error&) {  // the program meets it where it runs the body
        }
    }
    return known;
}

void BodyScope::give_values() const {
    const OpenBody& body = session_.bodies_.back();
    std::optional<std::unordered_map<NodeId, ImplPtr>> known;
    for (std::size_t i = body.pending; i < session_.pending_.size(); ++i) {
        const ImplPtr kept = session_.pending_[i].lock();
        if (!kept || kept->meta.requires_grad) continue;
        if (!known) known = computed(body);
        if (const auto at = known->find(kept->node.id); at != known->end()) kept->value = at->second->value;
    }
}

RecordedBody BodyScope::recorded(const std::string& name, const TensorList& arguments, const TensorList& results,
                                 bool runs) {
    const std::lock_guard lock(session_.mutex_);
    session_.check_body();
    OpenBody& body = session_.bodies_.back();
    if (runs) refuse_what_leaves(body, arguments, results);
    const Graph& from = session_.builder_.graph().graph();
    const auto& inputs = session_.builder_.inputs();
    for (std::size_t i = 0; i < inputs.size(); ++i) body.read.emplace(inputs[i].node.id, session_.inputs_[i]);
    BodyGraph graph(name, body.read);
    for (const Tensor& argument : arguments) graph.add_argument(*argument.impl());
    const auto& steps = session_.tapes_.steps();
    for (std::size_t i = body.steps; i < steps.size(); ++i) graph.add(steps[i], from.node(steps[i].made), from);
    for (const Tensor& result : results) {
        if (!result.defined())
            throw Error("found an undefined tensor as a result of " + name + ", expected a defined tensor");
        graph.add_result(result.impl(), result.impl()->session.get() == &session_);
    }
    std::vector<std::pair<NodeRef, const Addresses*>> stacks;
    for (const auto& [id, note] : session_.notes_)
        if (const NodeRef* own = note.stack.empty() ? nullptr : graph.own(id)) stacks.emplace_back(*own, &note.stack);
    RecordedBody recorded = graph.finish();
    for (const auto& [node, stack] : stacks)
        recorded.graph.nodes[static_cast<std::size_t>(node.id)].stack = user_stack(*stack);
    return recorded;
}

RecordedBody Session::record_body(const std::string& name, const std::function<TensorList(const TensorList&)>& function,
                                  const std::vector<ValueMeta>& arguments, bool runs) {
    BodyScope scope(*this);
    const CurrentSession current(this);
    const TensorList given = scope.arguments(arguments);
    return scope.recorded(name, given, function(given), runs);
}

void Session::roll_back(const OpenBody& to) {
    for (std::size_t i = to.pending; i < pending_.size(); ++i)
        if (const ImplPtr impl = pending_[i].lock()) impl->session.reset();
    pending_.resize(to.pending);
    inputs_.resize(to.before.inputs);
    const NodeId first = to.tapes.tape ? to.tapes.taken : static_cast<NodeId>(to.before.graph.nodes);
    notes_.erase(notes_.lower_bound(first), notes_.end());
    builder_.end_body();
    builder_.roll_back(to.before);
    tapes_.roll_back(to.tapes);
}

void Session::give_up_bodies() {
    for (auto body = bodies_.rbegin(); body != bodies_.rend(); ++body)
        if (!std::exchange(body->given_up, true)) roll_back(*body);
}

void Session::check_body() const {
    if (!bodies_.empty() && bodies_.back().given_up)
        throw NestedBreak{{.kind = capture::BreakKind::nested, .reason = "a value that another thread reads"}};
}

bool Session::in_body() const {
    const std::lock_guard lock(mutex_);
    return !bodies_.empty() && bodies_.back().thread == std::this_thread::get_id();
}

namespace {

/// The body with these placeholders, without writes.
Graph finished(const RecordedBody& body, const std::string& argument, const std::vector<ImplPtr>& captured) {
    Graph graph{.name = body.graph.name, .subgraphs = body.graph.subgraphs};
    std::vector<NodeRef> map(body.graph.nodes.size());
    const auto at = [&](NodeRef ref) -> NodeRef& { return map.at(static_cast<std::size_t>(ref.id)); };
    for (std::size_t i = 0; i < body.arguments.size(); ++i)
        at(body.arguments[i]) =
            graph.placeholder(argument + "_" + std::to_string(i), body.graph.node(body.arguments[i]).meta());
    for (std::size_t i = 0; i < captured.size(); ++i) {
        const NodeRef placeholder = graph.placeholder("captured_" + std::to_string(i), captured[i]->meta);
        for (std::size_t k = 0; k < body.captured.size(); ++k)
            if (body.captured[k] == captured[i]) at(body.lifted[k]) = placeholder;
    }
    for (std::size_t i = 0; i < body.graph.nodes.size(); ++i)
        if (body.graph.nodes[i].kind == NodeKind::call)
            map[i] = graph.add(map_inputs(body.graph.nodes[i], [&](NodeRef ref) { return Arg(at(ref)); }));
    std::vector<NodeRef> results;
    for (const NodeRef result : body.results) results.push_back(at(result));
    graph.output(results);
    const Functionalized functional = functionalize(graph);
    WHITTLE_CHECK(functional.updates.empty(), "a nested graph writes to a tensor of the enclosing graph");
    return dce(functional.graph);
}

}  // namespace

Bodies finish_bodies(const std::vector<RecordedBody>& bodies, const std::string& argument) {
    Bodies result;
    for (const RecordedBody& body : bodies)
        for (const ImplPtr& captured : body.captured)
            if (std::find(result.captured.begin(), result.captured.end(), captured) == result.captured.end())
                result.captured.push_back(captured);
    for (const RecordedBody& body : bodies)
        result.graphs.push_back(std::make_shared<const Graph>(finished(body, argument, result.captured)));
    return result;
}

}  // namespace whittle::api
