#include "ops/core/combine.h"

#include "base/error.h"
#include "tensor/limits.h"

namespace whittle {

expr::Expr combine(Combine how, const expr::Expr& old, const expr::Expr& added) {
    const bool logical = old->dtype == DType::boolean;
    switch (how) {
        case Combine::assign:
            return added;
        case Combine::sum:
            return logical ? old || added : old + added;
        case Combine::prod:
            return logical ? old && added : old * added;
        case Combine::amax:
        case Combine::amin: {
            const bool largest = how == Combine::amax;
            if (logical) return largest ? old || added : old && added;
            expr::Expr wins = largest ? old < added : added < old;
            if (is_floating(old->dtype)) wins = wins || expr::unary(expr::Op::is_nan, added);
            return expr::select(wins, added, old);
        }
    }
    WHITTLE_CHECK(false, "unknown way to combine");
    __builtin_unreachable();
}

Scalar identity(Combine how, DType dtype) {
    switch (how) {
        case Combine::assign:
        case Combine::sum:
            return Scalar(0);
        case Combine::prod:
            return Scalar(1);
        case Combine::amax:
            return lowest(dtype);
        case Combine::amin:
            return greatest(dtype);
    }
    __builtin_unreachable();
}

}  // namespace whittle
