#include "passes/assertions.h"

#include <algorithm>

#include "base/error.h"
#include "graph/text.h"
#include "ops/core/assertions.h"
#include "ops/core/memory.h"
#include "ops/core/registry.h"
#include "passes/rewriter.h"

namespace whittle {
namespace {

class Taker {
  public:
    explicit Taker(const Graph& graph) : rewriter_(graph), written_(has_writes(graph)) {}

    AssertedOutputs run(bool keep) {
        const Graph& from = rewriter_.from();
        std::vector<NodeRef> outputs;
        for (const NodeId id : from.outputs()) outputs.push_back({id});
        AssertedOutputs result{.graph = {}, .outputs = outputs.size()};
        std::vector<NodeRef> further;  // of the new graph
        for (NodeId id = 0; id + 1 < static_cast<NodeId>(from.nodes.size()); ++id) {
            const Node& node = from.node({id});
            if (!asserts(node)) {
                rewriter_.copy(id);
                continue;
            }
            const Schema& schema = *Registry::instance().find(node.target);
            const ArgList arguments = bind_arguments(schema, node);
            const auto argument = [&](std::string_view name) -> const Arg& {
                return arguments.at(static_cast<std::size_t>(schema.param(name) - schema.params.data()));
            };
            const auto operand = [&](std::string_view name) {
                const NodeRef* const value = argument(name).node();
                if (!value)
                    throw Error({{}, place_of(from, node)},
                                "found a number as '" + std::string(name) + "', expected a tensor");
                return rewriter_.mapped(*value);
            };
            rewriter_.replace(id, operand("dep_token"));
            if (!keep) continue;
            const auto position = [&](NodeRef value) {
                const NodeRef output = kept(id, value);
                const auto at = std::ranges::find(further, output);
                const auto before = static_cast<std::size_t>(at - further.begin());
                if (at == further.end()) further.push_back(output);
                return outputs.size() + before;
            };
            const std::size_t condition = position(operand("self")), about = position(operand("dep_token"));
            result.asserted.push_back({condition, about, std::get<std::string>(argument("assert_msg").value),
                                       node.target, node.name, place_of_assertion(from, node)});
        }
        for (NodeRef& output : outputs) output = rewriter_.mapped(output);
        outputs.insert(outputs.end(), further.begin(), further.end());
        rewriter_.work_on(static_cast<NodeId>(from.nodes.size()) - 1);
        rewriter_.graph().output(outputs);
        result.graph = rewriter_.finish();
        return result;
    }

  private:
    /// The value as it is at the assertion: what a graph that writes does to it later is not asked.
    NodeRef kept(NodeId assertion, NodeRef value) {
        if (!written_) return value;
        rewriter_.work_on(assertion);
        const ValueMeta& meta = rewriter_.graph().node(value).meta();
        return rewriter_.graph().add({.target = "aten.clone.default",
                                      .args = {Arg(value)},
                                      .results = {ValueMeta::contiguous(meta.dtype, meta.sizes)}});
    }

    Rewriter rewriter_;
    const bool written_;
};

}  // namespace

AssertedOutputs assertions_as_outputs(const Graph& graph) { return Taker(graph).run(true); }

Graph without_assertions(const Graph& graph) { return has_assertions(graph) ? Taker(graph).run(false).graph : graph; }

Graph without_any_assertions(const Graph& graph) {
    Graph plain = without_assertions(graph);
    for (auto& [name, nested] : plain.subgraphs)
        nested = std::make_shared<const Graph>(without_any_assertions(*nested));
    return plain;
}

}  // namespace whittle
