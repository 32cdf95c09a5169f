// Samples of lib/ops/aten/unary.cpp.
#include "ops/samples/families.h"

namespace whittle::samples {
namespace {

Samples decimals_samples(DType dtype) {
    Samples result;
    for (const int decimals : {2, 0, -1})
        for (Sample& sample : unary(dtype, {}, ", " + std::to_string(decimals) + " decimals")) {
            sample.kwargs.emplace_back("decimals", Arg(decimals));
            result.push_back(std::move(sample));
        }
    return result;
}

}  // namespace

Table unary_table() {
    return {{{"aten.abs.default",        "aten.neg.default",    "aten.sign.default",        "aten.sgn.default",
              "aten.floor.default",      "aten.ceil.default",   "aten.trunc.default",       "aten.round.default",
              "aten.frac.default",       "aten.square.default", "aten.bitwise_not.default", "aten.exp.default",
              "aten.exp2.default",       "aten.expm1.default",  "aten.log.default",         "aten.log1p.default",
              "aten.log2.default",       "aten.log10.default",  "aten.sqrt.default",        "aten.rsqrt.default",
              "aten.reciprocal.default", "aten.sin.default",    "aten.cos.default",         "aten.tan.default",
              "aten.asin.default",       "aten.acos.default",   "aten.atan.default",        "aten.sinh.default",
              "aten.cosh.default",       "aten.tanh.default",   "aten.asinh.default",       "aten.acosh.default",
              "aten.atanh.default",      "aten.erf.default",    "aten.erfc.default",        "aten.lgamma.default",
              "aten.isnan.default",      "aten.isinf.default",  "aten.isfinite.default",    "aten.logical_not.default"},
             unary},
            {{"aten.digamma.default"},
             [](DType dtype) -> Samples {
                 if (!is_floating(dtype)) return {call_of("positive", {values(dtype, {1, 1, 1, 1}, {2, 2})})};
                 const Tensor x = values(dtype, {0.25, 1, 3.5, 20, -0.5, -2.75}, {2, 3});
                 return {call_of("rows", {x}), call_of("transposed", {transposed(x)})};
             }},
            {{"aten.round.decimals"}, decimals_samples}};
}

}  // namespace whittle::samples
