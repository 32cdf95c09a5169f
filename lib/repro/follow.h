// follow(): from a failing model to what is left of it, minimized, and a repro of that.
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "reduce/minimize_frame.h"
#include "repro/repro.h"

namespace whittle::repro {

/// The repro of one result.
struct MinimizedRepro {
    std::optional<Repro> report = {};
    Options options = {};   ///< it was written with
    std::string none = {};  ///< why there is no repro
};

struct Followed {
    reduce::MinimizedModel minimized = {};
    std::vector<MinimizedRepro> repros = {};  ///< one per result that was minimized
    bool verified = false;                    ///< all that fails was minimized, and each repro shows its failure
};

/// Of a minimized graph, which `file` holds: written to `output` with the smallest data that shows the failure, and
/// verified.
MinimizedRepro repro_of(const Graph& minimized, const std::filesystem::path& file, const std::filesystem::path& output,
                        const std::map<std::string, std::string>& environment);

/// Told while follow() runs.
struct Observer : reduce::Observer {
    std::function<void(const MinimizedRepro&, const Failure&)> written = [](const MinimizedRepro&, const Failure&) {};
};

/// Minimizes, writes a repro of each result beside it, NAME.cpp of NAME.json, with the smallest data that shows the
/// failure, and verifies that. A backend that has no part of a repro leaves it at the minimized graphs. `environment`
/// is what the repros say of this machine.
Followed follow(const std::vector<LoadedFrame>& frames, const reduce::Request& request,
                const std::map<std::string, std::string>& environment, const Observer& observer);

/// {"minify": {…}, "repros": [{…}], "verified": true}: what minify --json and, for each result, repro --json print.
nlohmann::json to_json(const Followed& followed);

}  // namespace whittle::repro
