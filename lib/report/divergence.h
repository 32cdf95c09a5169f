// The first-divergence table as text and JSON.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "judge/divergence.h"

namespace whittle::report {

struct DivergenceTextOptions {
    bool all = false;         ///< every value instead of those around the first that differs
    std::size_t columns = 0;  ///< of the screen: rows are cut there, unless all are shown; 0: no limit
};

/// `backend` is what the user called it.
std::string to_text(const Divergence& divergence, const std::string& backend, const DivergenceTextOptions& options);
nlohmann::json to_json(const Divergence& divergence);

}  // namespace whittle::report
