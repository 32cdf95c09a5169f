#include "expr/cost.h"

namespace whittle::expr {
namespace {

std::int64_t points(const std::vector<LoopVar>& loops) {
    std::int64_t product = 1;
    for (const LoopVar& loop : loops) product *= loop.extent;
    return product;
}

/// All that gives a float but what only moves it.
bool is_arithmetic(const Node& node) { return is_floating(node.dtype) && info_of(node.op).kind != OpInfo::Kind::other; }

std::int64_t flops(const Expr& root) {
    std::int64_t count = 0;
    if (root) visit(root, [&](const Expr& e) { count += is_arithmetic(*e); });
    return count;
}

std::int64_t memory_of(const Input& input) {
    std::int64_t elements = 1;
    for (std::size_t d = 0; d < input.sizes.size(); ++d)
        if (input.sizes[d] == 0 || d >= input.strides.size() || input.strides[d] != 0) elements *= input.sizes[d];
    return elements * static_cast<std::int64_t>(size_of(input.dtype));
}

}  // namespace

Cost cost(const Group& group) {
    Cost total;
    for (const Stage& stage : group.stages) {
        total.flops += points(stage.vars) * flops(stage.value);
        for (const Update& update : stage.updates)
            total.flops += points(loops_of(stage, update)) * (flops(update.value) + flops(update.condition));
    }
    for (const Input& input : group.inputs) total.bytes += memory_of(input);
    for (const std::string& output : group.outputs)
        if (const Stage* stage = group.stage(output))
            total.bytes += points(stage->vars) * static_cast<std::int64_t>(size_of(stage->dtype));
    return total;
}

double interpreted_nodes(const Group& group) {
    const auto nodes = [](const Expr& root) { return static_cast<double>(node_count(root)); };
    double total = 0;
    for (const Stage& stage : group.stages) {
        total += static_cast<double>(points(stage.vars)) * nodes(stage.value);
        for (const Update& update : stage.updates)
            total += static_cast<double>(points(loops_of(stage, update))) * nodes(update.value);
    }
    return total;
}

}  // namespace whittle::expr
