#include "backends/command/definitions.h"

#include <algorithm>
#include <optional>
#include <vector>

#include "base/error.h"
#include "base/words.h"
#include "frontends/onnx/versions.h"
#include "ops/core/registry.h"
#include "ops/onnx/opset.h"
#include "printers/short_program.h"

namespace whittle {
namespace {

constexpr std::size_t kMost = 6;

/// Whether the value is its graph's input, or what views make of it.
bool is_view_of_input(const Graph& graph, const Node& value) {
    if (value.kind != NodeKind::call) return value.kind == NodeKind::placeholder;
    const Schema* const schema = Registry::instance().find(value.target);
    if (!schema || schema->returns.size() != 1 || schema->returns[0].alias.empty() || value.args.empty()) return false;
    const NodeRef* const of = value.args[0].node();
    return of && is_view_of_input(graph, graph.node(*of));
}

/// Whether the call gives the elements of its first operand, all of them and in their order: the op is made of views,
/// and the elements lie in memory as they did.
bool only_changes_shape(const Graph& graph, const Node& call) {
    const RegisteredOp* const op = Registry::instance().op(call.target);
    if (!op || !op->def->decompose || call.args.empty() || !call.args[0].node()) return false;
    try {
        const Expansion expansion = expand(graph, call);
        const std::vector<NodeId> outputs = expansion.graph.outputs();
        if (outputs.size() != 1) return false;
        const Node& output = expansion.graph.node({outputs[0]});
        if (!is_view_of_input(expansion.graph, output)) return false;
        const ValueMeta &from = graph.node(*call.args[0].node()).meta(), &to = output.meta();
        return from.dtype == to.dtype && from.numel() == to.numel() && to.strides == contiguous_strides(to.sizes);
    } catch (const Error&) {  // its sizes are not known here
        return false;
    }
}

struct Version {
    std::string op;
    int since;
};

std::int64_t opset_of(const Graph& graph) {
    const auto found = graph.opset_imports.find("");
    return found == graph.opset_imports.end() ? kMaxOpset : found->second;
}

/// Of the ops of ai.onnx, each once, in order.
std::vector<Version> versions_of(const Graph& graph) {
    constexpr std::string_view kDialect = "onnx.";
    std::vector<Version> versions;
    for (const NodeId id : graph.calls()) {
        const Node& node = graph.node({id});
        if (!node.target.starts_with(kDialect) || only_changes_shape(graph, node)) continue;
        const std::string op = node.target.substr(kDialect.size());
        const std::optional<int> since = schema_version(op, opset_of(graph));
        if (since && std::ranges::find(versions, op, &Version::op) == versions.end()) versions.push_back({op, *since});
    }
    return versions;
}

}  // namespace

std::string definitions_text(const Graph& graph) {
    std::vector<std::string> links;
    for (const Version& version : versions_of(graph)) {
        const std::string name = version.op + "-" + std::to_string(version.since);
        links.push_back("[" + name + "](https://github.com/onnx/onnx/blob/main/docs/Changelog.md#" + name + ")");
    }
    return links.empty() || links.size() > kMost ? "" : "Definition: " + join(links) + ".\n";
}

std::string opset_words(const Graph& graph) {
    const auto is_old = [](const Version& version) { return schema_version(version.op, kMaxOpset) != version.since; };
    return std::ranges::any_of(versions_of(graph), is_old) ? " at opset " + std::to_string(opset_of(graph)) : "";
}

}  // namespace whittle
