#include "expr/cpp_text.h"

#include "base/error.h"
#include "text/language.h"

namespace whittle::expr {

Code infix_code(Op op, const Code& a, const Code& b) {
    const Strength own = info_of(op).strength;
    WHITTLE_CHECK(info_of(op).kind == OpInfo::Kind::infix, "no infix operator " + std::string(name(op)));
    const auto join = [&](Strength left, Strength right) {
        return Code{a.at(left) + " " + std::string(info_of(op).symbol) + " " + b.at(right), own};
    };
    switch (own) {
        case Strength::product:
            return join(own, Strength::prefix);
        case Strength::sum:
            return join(own, Strength::product);
        case Strength::relation:
        case Strength::equality:  // -Wlogical-not-parentheses: !a == b may be meant for !(a == b)
            return join(a.strength == Strength::prefix && a.text.starts_with('!') ? Strength::atom : Strength::shift,
                        Strength::shift);
        case Strength::both:
            return join(own, Strength::equality);
        case Strength::either:  // gcc wants parentheses around && here
            return join(a.strength == own ? own : Strength::equality, Strength::equality);
        default:  // shifts and operators on bits
            return join(Strength::prefix, Strength::prefix);
    }
}

Code literal(DType dtype, const Scalar& value) {
    const std::string text = language::cpp.value(value, dtype);
    return {text, text[0] == '-' ? Code::prefix : Code::atom};
}

namespace {
constexpr std::size_t kCheapLength = 16;  ///< short enough to be written twice
constexpr std::size_t kLineLength = 48;   ///< too long to stay inside another expression
}  // namespace

Naming::Naming(const Group& group) : taken_(names_in(group)) {}

void Naming::begin(const std::vector<Expr>& roots) {
    uses_.clear();
    roots_.clear();
    for (const Expr& root : roots) {
        if (!root) continue;
        roots_.insert(root.get());
        visit(root, [&](const Expr& e) {
            if (!uses_.emplace(e, 0).second) return;
            for (const Expr& operand : e->operands) ++uses_[operand];
        });
        ++uses_[root];
    }
}

bool Naming::wants_name(const Expr& e, const Code& code) const {
    if (e->op == Op::constant || e->op == Op::variable) return false;
    const auto found = uses_.find(e);
    const int uses = found == uses_.end() ? 1 : found->second;
    if (uses == 1 && roots_.contains(e.get())) return false;
    return code.text.size() > (uses > 1 ? kCheapLength : kLineLength);
}

std::string Naming::fresh() {
    std::string name;
    do name = 't' + std::to_string(next_++);
    while (taken_.contains(name));
    return name;
}

}  // namespace whittle::expr
