#include "ops/dense.h"

namespace whittle {

void check_same_dtype(const std::string& op, DType dtype, const std::string& other_name, DType other) {
    if (dtype == other) return;
    throw Error(op + ": found '" + other_name + "' of " + std::string(name(other)) + ", expected " +
                    std::string(name(dtype)) + " as the first operand has",
                "convert one of them with aten.to.dtype");
}

namespace {

/// One load, perhaps cast, whose indices are sums and multiples: no division, which costs as much as the product.
bool is_plain_load(const expr::Expr& element) {
    constexpr std::size_t kMaxNodes = 24;
    if (expr::node_count(element) > kMaxNodes) return false;
    const expr::Expr& loaded = element->op == expr::Op::cast ? element->operands.at(0) : element;
    if (loaded->op != expr::Op::load) return false;
    bool plain = true;
    for (const expr::Expr& index : loaded->operands)
        expr::visit(index, [&](const expr::Expr& node) {
            plain = plain && (node->op == expr::Op::constant || node->op == expr::Op::variable ||
                              node->op == expr::Op::add || node->op == expr::Op::sub || node->op == expr::Op::mul);
        });
    return plain;
}

}  // namespace

expr::Value loadable(expr::GroupBuilder& builder, const expr::Value& operand) {
    if (!operand.stored_as().empty()) return operand;
    expr::Index index;
    for (std::int64_t d = 0; d < operand.rank(); d++) index.push_back(expr::variable("d" + std::to_string(d)));
    return is_plain_load(operand(index)) ? operand : builder.materialize(operand);
}

expr::Value reduction_stage(expr::GroupBuilder& builder, DType dtype, const Sizes& sizes, const Sizes& domain,
                            const std::function<expr::Expr(const expr::Index&)>& init,
                            const std::function<expr::Expr(const expr::Index&, const expr::Index&, expr::Expr)>& update,
                            const std::string& hint) {
    if (element_count(domain) == 0) return {dtype, sizes, init};
    return builder.reduce(dtype, sizes, domain, init, update, hint);
}

}  // namespace whittle
