#include "printers/api_spelling.h"

#include <set>

namespace whittle::printers {

bool api_leaves_out(const Param& param) {
    static const std::set<std::string> names = {"layout",        "device",    "pin_memory",
                                                "memory_format", "generator", "non_blocking"};
    return names.contains(param.name);
}

}  // namespace whittle::printers
