// A map from expressions, equal by structure: how readers find shared subexpressions.
#pragma once

#include <unordered_map>

#include "expr/expr.h"

namespace whittle::expr {

struct ExprHash {
    std::size_t operator()(const Expr& e) const { return e->hash; }
};
struct ExprSame {
    bool operator()(const Expr& a, const Expr& b) const { return same(a, b); }
};
template <class T>
using ExprMap = std::unordered_map<Expr, T, ExprHash, ExprSame>;

}  // namespace whittle::expr
