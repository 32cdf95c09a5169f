#include "printers/api_spelling.h"

#include <charconv>
#include <cmath>
#include <set>

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
    char buffer[32];
    std::string text(buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace whittle::printers
