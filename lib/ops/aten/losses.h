// What losses share: what becomes of one value per element or row.
#pragma once

#include "ops/core/op.h"

namespace whittle {

constexpr std::int64_t kNone = 0, kMean = 1, kSum = 2;  // at::Reduction

/// What the parameter "reduction" makes of the losses.
inline NodeRef reduced(GraphBuilder& b, const Arguments<NodeValue>& a, const NodeValue& losses) {
    const std::int64_t reduction = a.integer("reduction");
    if (reduction == kNone) return losses.ref;
    return b.call(reduction == kMean ? "aten.mean.default" : "aten.sum.default", {arg(losses)}).ref;
}

/// The parameter "weight", or none.
inline Arg weight_of(const Arguments<NodeValue>& a) {
    const auto weight = a.optional_tensor("weight");
    return weight ? arg(*weight) : Arg();
}

}  // namespace whittle
