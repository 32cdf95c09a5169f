#include "printers/api_spelling.h"

#include <cmath>
#include <set>

#include "base/number_text.h"

namespace whittle::printers {

bool api_leaves_out(const Param& param) {
    static const std::set<std::string> names = {"layout",        "device",    "pin_memory",
                                                "memory_format", "generator", "non_blocking"};
    return names.contains(param.name);
}

std::string api_dtype(DType dtype) { return "k" + std::string(info_of(dtype).aten_name); }

std::string cpp_number(double value) {
    if (std::isnan(value)) return "NAN";
    if (std::isinf(value)) return value > 0 ? "INFINITY" : "-INFINITY";
    return shortest_real(value);
}

}  // namespace whittle::printers
