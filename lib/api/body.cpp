#define WHITTLE_API_IMPLEMENTATION
#include "api/body.h"

#include <algorithm>

#include "api/stack.h"
#include "api/tape.h"
#include "base/error.h"
#include "passes/dce.h"
#include "passes/functionalize.h"

namespace whittle::api {

namespace {

/// A body is never run by itself.
class BodyHost final : public FrameHost {
  public:
    explicit BodyHost(bool with_stacks) : with_stacks_(with_stacks) {}
    std::vector<whittle::Tensor> run(const Recorded&, std::shared_ptr<CompiledGraph>&,
                                     const std::vector<whittle::Tensor>&,
                                     const std::vector<whittle::Tensor>&) override {
        throw Error("found a nested graph that shall run alone");
    }
    void broke(const capture::GraphBreak& why, const Addresses&) override { throw NestedBreak{why}; }
    bool wants_stacks() const override { return with_stacks_; }
    void argument_named(const std::string&, const std::string&) override {}
    std::vector<std::shared_ptr<const Tape>> tapes(std::int64_t) const override { return {}; }
    void remember(std::int64_t, std::shared_ptr<const Tape>) override {}

  private:
    bool with_stacks_;
};

/// What the body left pending has no value when it is over.
class Abandon {
  public:
    explicit Abandon(Session& session) : session_(session) {}
    ~Abandon() { session_.abandon(); }
    Abandon(const Abandon&) = delete;
    Abandon& operator=(const Abandon&) = delete;

  private:
    Session& session_;
};

}  // namespace

RecordedBody record_body(const std::string& name, const std::function<TensorList(const TensorList&)>& function,
                         const std::vector<ValueMeta>& arguments, bool with_stacks) {
    BodyHost host(with_stacks);
    const auto session = std::make_shared<Session>(name, host, true);
    session->set_around(Session::current());
    const Abandon abandon(*session);
    const CurrentSession current(session.get());
    const TensorList given = session->body_arguments(arguments);
    const TensorList results = function(given);
    return session->body(given, results);
}

TensorList Session::body_arguments(const std::vector<ValueMeta>& metas) {
    TensorList arguments;
    for (std::size_t i = 0; i < metas.size(); ++i) {
        ImplPtr impl = make_pending(metas[i]);
        impl->session = shared_from_this();
        impl->node = graph_.input(capture::Source::local("argument" + std::to_string(i)), metas[i]);
        impl->memory = outside_;
        pending_.push_back(impl);
        arguments.push_back(Tensor(std::move(impl)));
    }
    return arguments;
}

NodeRef Session::lift(const ImplPtr& operand) {
    lifted_.push_back(operand);
    return graph_.input(capture::Source::local("captured" + std::to_string(lifted_.size())), operand->meta);
}

RecordedBody Session::body(const TensorList& arguments, const TensorList& results) {
    RecordedBody body;
    for (const Tensor& argument : arguments) body.arguments.push_back(argument.impl()->node);
    for (const Tensor& result : results) {
        if (!result.defined()) throw Error("found an undefined tensor as a result of " + frame_);
        body.results.push_back(node_of(result.impl()));
    }
    body.graph = graph_.graph();
    body.captured = lifted_;
    for (const ImplPtr& captured : lifted_) body.lifted.push_back(known_.at(captured->key));
    for (Node& node : body.graph.nodes)
        if (const auto stack = stacks_.find(node.name); stack != stacks_.end()) node.stack = user_stack(stack->second);
    return body;
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
    WHITTLE_CHECK(functional.updates.empty(), "a nested graph that writes to what is around it");
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
