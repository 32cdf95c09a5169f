#include "frontends/onnx/unspecified.h"

#include <onnx/defs/schema.h>

#include <algorithm>
#include <optional>
#include <vector>

#include "base/words.h"
#include "graph/value_ref.h"

namespace whittle {
namespace {

/// As operator schemas have it: "tensor(float16)".
std::string onnx_type(DType dtype) { return "tensor(" + lower_case(std::string(info_of(dtype).onnx_name)) + ")"; }

/// Dtypes of the operands in the order of the standard; nothing for one that is not there.
std::vector<std::optional<DType>> operands(const Graph& graph, const Node& call) {
    std::vector<std::optional<DType>> dtypes;
    const auto add = [&](const Arg& arg) {
        const NodeRef* ref = arg.node();
        if (!ref) return dtypes.push_back(std::nullopt);
        const ValueRef value = value_of(graph, *ref);
        dtypes.emplace_back(graph.node({value.node}).results.at(static_cast<std::size_t>(value.index)).dtype);
    };
    for (const Arg& arg : call.args) {
        if (const ArgList* list = arg.list())
            std::ranges::for_each(*list, add);
        else
            add(arg);
    }
    return dtypes;
}

bool refuses(const onnx::OpSchema& schema, const std::vector<std::optional<DType>>& dtypes) {
    for (std::size_t i = 0; i < dtypes.size() && !schema.inputs().empty(); i++) {
        if (!dtypes[i]) continue;
        const std::string type = onnx_type(*dtypes[i]);
        const auto& allowed = schema.inputs()[std::min(i, schema.inputs().size() - 1)].GetTypes();
        if (std::ranges::none_of(allowed, [&](const std::string* one) { return *one == type; })) return true;
    }
    return false;
}

/// What the text leaves open.
bool left_open(const std::string& op, std::int64_t opset, const Node& call, std::optional<DType> dtype) {
    // The mask of a Dropout that drops nothing is all ones since opset 12 only.
    if (op == "Dropout" && opset < 12 && call.results.size() > 1) return true;
    // How a logarithm, root or mean of integers is rounded.
    const bool rounds = op == "ReduceLogSum" || op == "ReduceLogSumExp" || op == "ReduceL2" || op == "ReduceMean";
    return rounds && dtype && !is_floating(*dtype);
}

}  // namespace

std::string outside_standard(const Graph& graph) {
    const auto import = graph.opset_imports.find("");
    if (graph.dialect != "onnx" || import == graph.opset_imports.end()) return {};
    for (const NodeId id : graph.calls()) {
        const Node& call = graph.node({id});
        if (!is_op_call(call) || !call.target.starts_with("onnx.")) continue;
        const std::string op = call.target.substr(5);
        const onnx::OpSchema* schema = onnx::OpSchemaRegistry::Schema(op, static_cast<int>(import->second), "");
        if (!schema) continue;
        const std::vector<std::optional<DType>> dtypes = operands(graph, call);
        const std::optional<DType> first = dtypes.empty() ? std::nullopt : dtypes[0];
        if (schema->Deprecated() || refuses(*schema, dtypes) || left_open(op, import->second, call, first))
            return op + (first ? " on " + std::string(name(*first)) : "");
    }
    return {};
}

}  // namespace whittle
