// The id of a compilation, the same in logs, file names, reports and hooks: which function, in the order in which they
// were first captured, and which specialization of it.
#pragma once

#include <cstdint>
#include <string>

namespace whittle::capture {

struct CompileId {
    std::int64_t function = 0, specialization = 0;

    /// "0/1".
    std::string numbers() const { return std::to_string(function) + "/" + std::to_string(specialization); }
    /// "[0/1]".
    std::string text() const { return "[" + numbers() + "]"; }
    bool operator==(const CompileId&) const = default;
};

}  // namespace whittle::capture
