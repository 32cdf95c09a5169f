#include "ops/core/dense.h"

#include <algorithm>

#include "ops/core/gemm.h"

namespace whittle {

void check_same_dtype(const std::string& op, DType dtype, const std::string& other_name, DType other) {
    if (dtype == other) return;
    throw Error(op + ": found '" + other_name + "' of dtype " + std::string(name(other)) + ", expected " +
                    std::string(name(dtype)) + ", the dtype of the first operand",
                "convert one operand with aten.to.dtype");
}

bool expands_to(const Sizes& from, const Sizes& to) {
    if (from.size() > to.size()) return false;
    for (std::size_t d = 0; d < from.size(); d++)
        if (from[from.size() - 1 - d] != 1 && from[from.size() - 1 - d] != to[to.size() - 1 - d]) return false;
    return true;
}

namespace {

/// What an element costs beside loading it: nothing but sums and multiples of indices, little arithmetic on one load,
/// or more (divisions cost as much as several products).
enum class Cost { load, little, much };

Cost cost(const expr::Expr& element) {
    constexpr std::size_t kLittle = 24;
    if (expr::node_count(element) > kLittle) return Cost::much;
    int loads = 0;
    bool simple = true;
    expr::visit(element, [&](const expr::Expr& node) {
        using expr::Op;
        loads += node->op == Op::load;
        constexpr Op kSimple[] = {Op::constant, Op::variable,    Op::load,        Op::cast,      Op::abs,
                                  Op::is_nan,   Op::add,         Op::sub,         Op::mul,       Op::min,
                                  Op::max,      Op::eq,          Op::ne,          Op::lt,        Op::le,
                                  Op::select,   Op::logical_not, Op::logical_and, Op::logical_or};
        simple = simple && std::ranges::find(kSimple, node->op) != std::end(kSimple);
    });
    if (!simple || loads > 1) return Cost::much;
    const expr::Expr& loaded = element->op == expr::Op::cast ? element->operands.at(0) : element;
    return loaded->op == expr::Op::load ? Cost::load : Cost::little;
}

}  // namespace

expr::Value loadable(expr::GroupBuilder& builder, const expr::Value& operand, std::int64_t times) {
    if (!operand.stored_as().empty()) return operand;
    constexpr std::int64_t kRepeatable = 4;
    expr::Index index;
    for (std::int64_t d = 0; d < operand.rank(); d++) index.push_back(expr::variable('d' + std::to_string(d)));
    const Cost found = cost(operand(index));
    if (found == Cost::load || times <= 1 || (found == Cost::little && times <= kRepeatable)) return operand;
    return builder.materialize(operand, "operand");
}

DType accumulator_dtype(DType dtype, std::int64_t terms) {
    const DType compute = compute_dtype(dtype);
    return compute == DType::f32 && terms > kMostProductsInF32 ? DType::f64 : compute;
}

expr::Value reduction_stage(expr::GroupBuilder& builder, DType dtype, const Sizes& sizes, const Sizes& domain,
                            const std::function<expr::Expr(const expr::Index&)>& init,
                            const std::function<expr::Expr(const expr::Index&, const expr::Index&, expr::Expr)>& update,
                            const std::string& hint) {
    if (element_count(domain) == 0) return {dtype, sizes, init};
    return builder.reduce(dtype, sizes, domain, init, update, hint);
}

}  // namespace whittle
