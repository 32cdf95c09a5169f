#include "ops/core/cost.h"

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "expr/builder.h"
#include "graph/value_ref.h"
#include "ops/core/registry.h"

namespace whittle {
namespace {

/// Loads below `root` whose place depends on one of the variables.
std::vector<expr::Expr> loads_along(const expr::Expr& root, const std::set<std::string>& variables) {
    std::vector<expr::Expr> loads;
    expr::visit(root, [&](const expr::Expr& e) {
        if (e->op != expr::Op::load) return;
        bool depends = false;
        for (const expr::Expr& index : e->operands)
            expr::visit(index, [&](const expr::Expr& part) {
                depends = depends || (part->op == expr::Op::variable && variables.contains(part->name));
            });
        if (depends) loads.push_back(e);
    });
    return loads;
}

bool same_place(const expr::Expr& a, const expr::Expr& b) {
    return std::equal(a->operands.begin(), a->operands.end(), b->operands.begin(), b->operands.end(), expr::same);
}

bool contracts(const expr::Update& update) {
    std::set<std::string> domain;
    for (const expr::LoopVar& variable : update.domain) domain.insert(variable.name);
    bool found = false;
    expr::visit(update.value, [&](const expr::Expr& e) {
        if (e->op != expr::Op::mul) return;
        for (const expr::Expr& a : loads_along(e->operands[0], domain))
            for (const expr::Expr& b : loads_along(e->operands[1], domain)) found = found || !same_place(a, b);
    });
    return found;
}

/// Of one evaluation that is stored.
double work_of(const expr::Expr& value) {
    double work = 1;
    expr::visit(value, [&](const expr::Expr& e) {
        const expr::OpInfo& op = expr::info_of(e->op);
        if (op.kind != expr::OpInfo::Kind::infix || is_floating(e->dtype)) work += op.work;
    });
    return std::max(work, 2.0);
}

CallCost cost_of(const expr::Group& group) {
    CallCost cost;
    const auto add = [&](double steps, double work) {
        cost.steps += steps;
        cost.work += steps * work;
    };
    for (const expr::Stage& stage : group.stages) {
        add(static_cast<double>(element_count(stage.sizes())), work_of(stage.value));
        for (const expr::Update& update : stage.updates) {
            double steps = 1;
            for (const expr::LoopVar& loop : expr::loops_of(stage, update)) steps *= static_cast<double>(loop.extent);
            const bool contraction = contracts(update);
            constexpr double kContraction = 0.07;  // blocked, vectorized
            add(steps, contraction ? kContraction : work_of(update.value));
            cost.contracts = cost.contracts || contraction;
        }
    }
    return cost;
}

expr::Value operand(expr::GroupBuilder& builder, const Node& node) {
    const ValueMeta& meta = node.meta();
    if (meta.numel() > 0) return builder.input(node.name, meta.dtype, meta.sizes, meta.strides);
    return expr::Value(meta.dtype, meta.sizes,
                       [dtype = meta.dtype](const expr::Index&) { return expr::constant(dtype, Scalar(0)); });
}

CallCost cost_of_lowered(const Graph& graph, const Node& call, const RegisteredOp& op) {
    expr::GroupBuilder builder;
    const Arguments<expr::Value> arguments(op.schema, call,
                                           [&](NodeRef ref) { return operand(builder, graph.node(ref)); });
    bool any = false;
    for (const expr::Value& result : op.def->lower(builder, arguments))
        if (element_count(result.sizes()) > 0) any = true, builder.output(result);
    return any ? cost_of(builder.finish()) : CallCost{};
}

std::optional<CallCost> cost_of_parts(const Graph& graph, const Node& call) {
    const Expansion expansion = expand(graph, call);
    CallCost sum;
    for (const Node& part : expansion.graph.nodes) {
        if (!is_op_call(part)) continue;
        const std::optional<CallCost> cost = cost_of(expansion.graph, part);
        if (!cost) return std::nullopt;
        sum.steps += cost->steps;
        sum.work += cost->work;
        sum.parts += std::max(cost->parts, 1);
        sum.contracts = sum.contracts || cost->contracts;
    }
    return sum;
}

}  // namespace

std::optional<CallCost> cost_of(const Graph& graph, const Node& call) {
    const RegisteredOp* op = Registry::instance().op(call.target);
    if (!op || op->def->random) return std::nullopt;
    try {
        if (op->def->lower) return cost_of_lowered(graph, call, *op);
        if (op->def->decompose) {
            std::optional<CallCost> cost = cost_of_parts(graph, call);
            if (cost && op->def->eval) cost->parts = 0;
            return cost;
        }
    } catch (const Error&) {  // it refuses its operands, which is for who runs it to say
    }
    return std::nullopt;
}

double terms_of(const Graph& graph, const Node& call) {
    std::int64_t made = 1, read = 1;
    for (const ValueMeta& meta : call.results) made = std::max(made, element_count(meta.sizes));
    for_each_input(call, [&](NodeRef ref) {
        for (const ValueMeta& meta : graph.node(ref).results) read = std::max(read, element_count(meta.sizes));
    });
    const std::optional<CallCost> cost = is_op_call(call) ? cost_of(graph, call) : std::nullopt;
    return cost ? std::max(1.0, cost->steps / static_cast<double>(made)) : static_cast<double>(read);
}

}  // namespace whittle
