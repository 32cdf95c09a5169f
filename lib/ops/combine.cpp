#include "ops/combine.h"

#include "base/error.h"

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

namespace {

Scalar extreme(DType dtype, bool greatest) {
    if (dtype == DType::boolean) return Scalar(greatest);
    return visit_dtype(dtype, [&]<class T>(T) -> Scalar {
        if constexpr (std::is_integral_v<T>)
            return Scalar(
                static_cast<std::int64_t>(greatest ? std::numeric_limits<T>::max() : std::numeric_limits<T>::min()));
        else
            return Scalar(greatest ? std::numeric_limits<double>::infinity()
                                   : -std::numeric_limits<double>::infinity());
    });
}

}  // namespace

Scalar identity(Combine how, DType dtype) {
    switch (how) {
        case Combine::prod:
            return Scalar(1);
        case Combine::amax:
            return extreme(dtype, false);
        case Combine::amin:
            return extreme(dtype, true);
        default:
            return Scalar(0);
    }
}

}  // namespace whittle
