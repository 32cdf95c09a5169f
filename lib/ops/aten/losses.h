// What losses share: what becomes of one value per element or row.
#pragma once

#include "ops/aten/formulas.h"

namespace whittle {

constexpr std::int64_t kNone = 0, kMean = 1, kSum = 2;  // at::Reduction

/// What the parameter "reduction" makes of the losses.
inline V reduced(const Call& c, const V& losses) {
    const std::int64_t reduction = c.integer("reduction");
    if (reduction == kNone) return losses;
    return reduction == kMean ? aten::mean(losses) : aten::sum(losses);
}

}  // namespace whittle
