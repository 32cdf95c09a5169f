// --backend and --backend-option, as every program has them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/backend.h"

namespace whittle::cli {

class Tool;

struct BackendChoice {
    std::string name = {};                ///< as the user typed it; empty: the program's default
    std::vector<std::string> pairs = {};  ///< KEY=VALUE

    /// `fallback` is what the help page states as the default.
    void declare(Tool& tool, std::string_view fallback);
    /// The options as a map. Throws Error for a pair without '=' and for a key given twice.
    BackendOptions options() const;
};

}  // namespace whittle::cli
