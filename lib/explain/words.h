// Words that the reports share.
#pragma once

#include <cstdint>
#include <string>

namespace whittle::explain {

/// "1 graph", "2 graphs".
inline std::string plural(std::int64_t count, const std::string& noun) {
    return std::to_string(count) + " " + noun + (count == 1 ? "" : "s");
}

}  // namespace whittle::explain
