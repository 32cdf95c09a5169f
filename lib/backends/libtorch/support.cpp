#include "backends/libtorch/support.h"

#include <algorithm>

#include "backends/libtorch/boxed_call.h"
#include "backends/libtorch/memory.h"
#include "graph/graph.h"
#include "ops/core/assertions.h"
#include "ops/core/registry.h"

namespace whittle::aten {
namespace {

/// The op, or the element type of what it reads or gives.
bool is_unsupported(const Graph& graph, const Node& node) {
    if (node.kind != NodeKind::call) return false;
    bool known = std::ranges::all_of(node.results, [](const ValueMeta& meta) { return has(meta.dtype); });
    for_each_input(node, [&](NodeRef read) {
        for (const ValueMeta& meta : graph.node(read).results) known &= has(meta.dtype);
    });
    if (!known) return true;
    if (node.target == kGetItem || schema_of(node.target)) return false;
    const RegisteredOp* op = Registry::instance().op(node.target);
    return !op || (!op->def->decompose && !is_control(node, op->schema));
}

}  // namespace

std::vector<std::string> not_in_libtorch(const Graph& graph) { return targets_of(graph, is_unsupported); }

bool is_control(const Node& call, const Schema& schema) {
    return asserts(call) ||
           std::ranges::any_of(schema.params, [](const Param& param) { return param.type == ParamType::graph; });
}

}  // namespace whittle::aten
