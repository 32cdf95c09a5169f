#include "frontends/onnx/operands.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "base/error.h"
#include "frontends/onnx/standard.h"
#include "graph/placement.h"
#include "graph/text.h"
#include "ops/core/registry.h"

namespace whittle {

std::string domain_in(const std::string& target) {
    const std::string domain = target.substr(0, target.rfind('.'));
    return domain == "onnx" ? "" : domain;
}

std::vector<Arg> operands_in_file(const Graph& graph, const Node& call) {
    const RegisteredOp* const op = Registry::instance().op(call.target);
    const std::string domain = domain_in(call.target), op_type = call.target.substr(call.target.rfind('.') + 1);
    const std::int64_t opset = graph.opset_imports.at(domain);
    const auto order = op ? onnx_proto::operand_order(op->schema, op_type, domain, opset) : std::vector<std::size_t>();
    std::vector<Arg> operands = order.empty() ? call.args : std::vector<Arg>();
    for (std::size_t i = 0; i < call.args.size() && !order.empty(); ++i) {
        if (call.args[i].is_none()) continue;
        const auto position = static_cast<std::size_t>(std::ranges::find(order, i) - order.begin());
        if (position == order.size())
            throw Error({"", place_of(graph, call)}, "found the operand '" + op->schema.params[i].name + "', which " +
                                                         op_type + " does not have at opset " + std::to_string(opset));
        operands.resize(std::max(operands.size(), position + 1));
        operands[position] = call.args[i];
    }
    std::vector<Arg> flat;
    for (const Arg& operand : operands) {
        if (const ArgList* const list = operand.list())
            flat.insert(flat.end(), list->begin(), list->end());
        else
            flat.push_back(operand);
    }
    return flat;
}

void check_operand_types(const Graph& graph, const Node& call) {
    const std::string domain = domain_in(call.target);
    const auto opset = graph.opset_imports.find(domain);
    if (opset == graph.opset_imports.end()) return;
    std::vector<std::optional<DType>> dtypes;
    for (const Arg& operand : operands_in_file(graph, call)) {
        const ValueMeta* const meta = operand.node() ? &graph.node(*operand.node()).meta() : nullptr;
        dtypes.push_back(meta && !is_unknown(*meta) && !is_opaque(*meta) ? std::optional(meta->dtype) : std::nullopt);
    }
    const std::string misfit =
        onnx_proto::type_misfit(call.target.substr(call.target.rfind('.') + 1), domain, opset->second, dtypes);
    if (!misfit.empty()) throw Error({"", place_of(graph, call)}, misfit);
}

}  // namespace whittle
