// --timeout, --cpu-limit and --memory-limit, as every program that runs suspects has them.
#pragma once

#include <cstdint>
#include <optional>

#include "judge/outcome.h"

namespace whittle::cli {

class Tool;

/// Of programs that run graphs.
inline constexpr char kLimited[] = "each run of a graph";

struct LimitOptions {
    double timeout = 60;                   ///< seconds of wall clock
    std::optional<std::int64_t> cpu = {};  ///< seconds of processor time
    std::int64_t memory = 4096;            ///< MiB

    /// `what` is limited: "one candidate".
    void declare(Tool& tool, const char* what);
    /// Throws Error for values out of range.
    Limits limits() const;
    /// Those that are not the default, as they were given.
    std::vector<std::string> words() const;
};

}  // namespace whittle::cli
