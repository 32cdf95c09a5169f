// How the C++ API spells what ATen's schemas say: shared by the generator of the API's functions and by the C++ written
// of captured graphs, which has to call just those.
#pragma once

#include "graph/schema.h"

namespace whittle::printers {

/// Parameters that the API leaves out: there is one device, one layout, one generator.
bool api_leaves_out(const Param& param);

}  // namespace whittle::printers
