#include "compile/interpreted.h"

#include <map>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/words.h"
#include "compile/compile.h"
#include "compile/gradients.h"
#include "graph/abilities.h"
#include "ops/core/interpreter.h"
#include "passes/dce.h"
#include "passes/functionalize.h"
#include "passes/no_grad.h"
#include "tensor/compare.h"

namespace whittle::program {
namespace {

/// Forward, and backward behind it, as the joint graph has them.
class Joined {
  public:
    explicit Joined(const Differentiated& made) : made_(made), result_(made.joint.graph) { result_.nodes.clear(); }

    Graph run() {
        const Graph &forward = made_.parts.forward, &backward = made_.parts.backward;
        result_.attributes = forward.attributes;
        result_.attributes.insert(backward.attributes.begin(), backward.attributes.end());
        Mapped first = leaves(forward), second = saved(backward, first);
        calls(forward, first);
        const std::vector<NodeId> kept = forward.outputs(), placeholders = backward.placeholders();
        for (std::size_t i = 0; i < made_.parts.saved.size(); ++i)
            if (const Saved& saved = made_.parts.saved[i]; saved.is_output)
                second[placeholders[i]] = first.at(kept[saved.position]);
        calls(backward, second);
        std::vector<NodeRef> outputs;
        for (std::size_t i = 0; i < made_.joint.outputs; ++i) outputs.push_back(first.at(kept[i]));
        for (const NodeId id : backward.outputs()) outputs.push_back(second.at(id));
        result_.output(outputs);
        return without_requires_grad(std::move(result_));
    }

  private:
    using Mapped = std::map<NodeId, NodeRef>;

    Mapped leaves(const Graph& forward) {
        Mapped mapped;
        for (const NodeId id : forward.placeholders()) mapped[id] = result_.add(forward.node({id}));
        return mapped;
    }

    /// What backward is given of the inputs, and the tangents.
    Mapped saved(const Graph& backward, const Mapped& first) {
        Mapped mapped;
        const std::vector<NodeId> placeholders = backward.placeholders(), inputs = made_.parts.forward.placeholders();
        for (std::size_t i = 0; i < placeholders.size(); ++i) {
            if (i >= made_.parts.saved.size())
                mapped[placeholders[i]] = result_.add(backward.node({placeholders[i]}));
            else if (!made_.parts.saved[i].is_output)
                mapped[placeholders[i]] = first.at(inputs[made_.parts.saved[i].position]);
        }
        return mapped;
    }

    void calls(const Graph& graph, Mapped& mapped) {
        for (NodeId id = 0; id + 1 < static_cast<NodeId>(graph.nodes.size()); ++id) {
            const Node& node = graph.node({id});
            if (node.kind == NodeKind::placeholder) continue;
            mapped[id] = result_.add(map_inputs(node, [&](NodeRef ref) { return Arg(mapped.at(ref.id)); }));
        }
    }

    const Differentiated& made_;
    Graph result_;
};

/// The failing graph as an Interpreted has it, with the inputs of `asked`.
Graph asked_with(const Graph& failing, Graph graph, std::vector<Tensor> inputs) {
    graph.name = failing.name;
    graph.failure = failing.failure;
    graph.failure->inputs = std::move(inputs);
    graph.failure->signature.part.clear();
    return graph;
}

Graph first_outputs(Graph graph, std::size_t count) {
    std::vector<NodeRef> outputs;
    for (const NodeId id : graph.outputs())
        if (outputs.size() < count) outputs.push_back({id});
    graph.nodes.pop_back();
    graph.output(outputs);
    return graph;
}

std::optional<Interpreted> interpreted(const Backend& backend, const Graph& failing, const BackendOptions& options) {
    const std::vector<Tensor>& inputs = failing.failure->inputs;
    const std::optional<Differentiated> made = differentiate(failing, backend, options);
    const bool cut = made && made->refused.empty();
    if (failing.failure->signature.at_gradients()) {
        if (!cut) return std::nullopt;
        std::vector<Tensor> all = inputs;
        append(all, made->tangents);
        return Interpreted{asked_with(failing, without_requires_grad(made->joint.graph), std::move(all)),
                           Joined(*made).run()};
    }
    Graph forward = cut ? made->parts.forward
                        : differentiable(backend, without_requires_grad(failing), options).partition().forward;
    return Interpreted{asked_with(failing, failing, inputs),
                       without_requires_grad(first_outputs(std::move(forward), failing.outputs().size()))};
}

/// Of the passes before the cut, whose gradients nobody knows but they.
std::optional<std::string> wrong_before_cut(const Graph& failing, std::span<const Tensor> expected) {
    const std::vector<Tensor>& inputs = failing.failure->inputs;
    const Accuracy& accuracy = failing.failure->accuracy;
    CompiledProgram program(without_requires_grad(failing));
    const Graph& functional = program.graph(Stage::functional);
    if (differs(functional, inputs, expected, accuracy)) return std::string(name(PassId::functionalize));
    if (differs(dce(functional), inputs, expected, accuracy))
        return std::string(name(PassId::dce));  // with which each pass behind it ends
    const std::optional<Differentiated> made = differentiate(failing);
    if (!made || !made->refused.empty()) return std::nullopt;
    std::vector<Tensor> all = inputs;
    append(all, made->tangents);
    if (differs(made->joint.graph, all, expected, accuracy)) return std::string(name(PassId::joint));
    return std::nullopt;
}

/// Without writes, which programs of loops do not have.
std::optional<Interpreted> rewritten(const Rewriting& backend, const Graph& failing) {
    std::optional<Graph> instead = backend.instead_of(failing);
    if (!instead) return std::nullopt;
    instead->failure.reset();
    Graph functional = functionalize(end_gradients(*instead)).graph;
    return Interpreted{asked_with(failing, failing, failing.failure->inputs),
                       without_requires_grad(first_outputs(std::move(functional), failing.outputs().size()))};
}

}  // namespace

std::optional<Interpreted> interpreted_by(const Backend& backend, const Graph& failing) {
    if (const Rewriting* rewriting = offered<Rewriting>(backend)) return rewritten(*rewriting, failing);
    const Differentiates* own = offered<Differentiates>(backend);
    if (!own || !own->interprets(failing.failure->options)) return std::nullopt;
    return interpreted(backend, failing, failing.failure->options);
}

bool differs(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected,
             const Accuracy& accuracy) {
    std::vector<Tensor> outputs;
    try {
        outputs = evaluate(graph, inputs);
    } catch (const Error&) {
        return true;
    }
    for (std::size_t i = 0; i < expected.size(); ++i)
        if (i >= outputs.size() || compare(outputs[i], expected[i], accuracy)) return true;
    return false;
}

std::optional<std::string> wrong_pass(const Backend& backend, const Graph& failing) {
    const std::optional<Interpreted> found = interpreted_by(backend, failing);
    if (!found) return std::nullopt;
    const std::vector<Tensor>& inputs = found->asked.failure->inputs;
    const Accuracy& accuracy = failing.failure->accuracy;
    const std::vector<Tensor> expected = evaluate(found->asked, inputs);
    if (!failing.failure->signature.at_gradients())
        if (const auto pass = wrong_before_cut(failing, expected)) return pass;
    if (!differs(found->instead, inputs, expected, accuracy)) return std::nullopt;
    BackendOptions options = failing.failure->options;
    options["decompositions"] = "none";
    const std::optional<Interpreted> composite = interpreted(backend, failing, options);
    const bool cut_is_wrong = !composite || differs(composite->instead, inputs, expected, accuracy);
    return std::string(name(cut_is_wrong ? PassId::partition : PassId::decompose));
}

}  // namespace whittle::program
