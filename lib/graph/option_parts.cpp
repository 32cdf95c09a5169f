#include "graph/option_parts.h"

#include <sstream>

namespace whittle {

std::vector<std::string> option_parts(const BackendOptions& options, const std::string& key) {
    std::vector<std::string> result;
    const auto found = options.find(key);
    std::istringstream rest(found == options.end() ? std::string() : found->second);
    for (std::string part; std::getline(rest, part, ';');)
        if (!part.empty()) result.push_back(part);
    return result;
}

}  // namespace whittle
