// How the C++ API spells what ATen's schemas say: shared by the generator of the API's functions and by the C++ written
// of captured graphs, which has to call just those.
#pragma once

#include <set>
#include <string>

#include "graph/schema.h"

namespace whittle::printers {

/// Parameters that the API leaves out: there is one device, one layout, one generator.
inline bool api_leaves_out(const Param& param) {
    static const std::set<std::string> names = {"layout",        "device",    "pin_memory",
                                                "memory_format", "generator", "non_blocking"};
    return names.contains(param.name);
}

}  // namespace whittle::printers
