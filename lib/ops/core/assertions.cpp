#include "ops/core/assertions.h"

#include <algorithm>

#include "graph/text.h"
#include "ops/core/registry.h"

namespace whittle {

bool asserts(const Node& node) {
    const Schema* schema = node.kind == NodeKind::call ? Registry::instance().find(node.target) : nullptr;
    return schema && schema->param("assert_msg");
}

bool has_assertions(const Graph& graph) { return std::ranges::any_of(graph.nodes, asserts); }

std::string failed_assertion(const std::string& message, const Tensor& about) {
    const std::string found = about.numel() == 1 ? print(Graph(), Arg(about.item())) : print(ValueMeta::of(about));
    return message + ": found " + found;
}

std::string place_of_assertion(const Graph& graph, const Node& call) {
    std::string place = place_of(graph, call);
    if (call.stack.empty()) return place;
    const StackFrame& frame = call.stack.front();
    return place + ", " + frame.file + ":" + std::to_string(frame.line);
}

RefusedError::RefusedError(const Graph& graph, const Node& assertion, const Error& why)
    : Error({why.where().file, place_of_assertion(graph, assertion)}, why.message(), why.hint()),
      refusal_{graph.name, assertion.name, why.message()} {}

}  // namespace whittle
