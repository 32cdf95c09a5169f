// Splits what depends on constant inputs alone from a kernel: packed weights are computed once, not in every run.
#pragma once

#include <optional>

#include "expr/group.h"

namespace whittle::expr {

struct Hoisted {
    Group once;  ///< its outputs are what `rest` reads of it, under the names that they had as stages
    Schedule once_schedule;
    Group rest;  ///< those stages are inputs, contiguous and constant, behind the others
    Schedule rest_schedule;
};

/// Nothing where no stage that is stored whole depends on constant inputs alone. The two kernels together compute what
/// the one does.
std::optional<Hoisted> hoist(const Group& group, const Schedule& schedule);

}  // namespace whittle::expr
