// Calls on exact operands: are their results the same in every correct implementation, in whatever order it computes?
#pragma once

#include "judge/interval_rules.h"

namespace whittle {

/// By Bound::exact of the op (ops/core/op.h). The centers alone where they are; else `unbounded` with `inexact`, result
/// by result.
std::vector<Interval> exact_results(const WideCall& call, const RegisteredOp& op, const Accuracy& accuracy);

/// The exponent of a power of two of which all numbers are multiples; 0 where they are integers.
int unit_of(std::span<const double> numbers);

}  // namespace whittle
