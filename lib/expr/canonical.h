// One form for groups that differ in names only, so that a kernel compiled for one serves all: the steps of an unrolled
// loop, the layers of a network.
#pragma once

#include <string>

#include "expr/group.h"

namespace whittle::expr {

/// The same group with inputs named in0, in1 …, stages s0, s1 …, and without origins.
Group canonical(const Group& group);

/// The same directives for the canonical group.
Schedule canonical(const Schedule& schedule, const Group& group);

/// Text that is equal exactly when two groups with their schedules compute the same in the same way: dtypes, sizes,
/// strides, expressions and active directives; not names.
std::string key(const Group& group, const Schedule& schedule);

}  // namespace whittle::expr
