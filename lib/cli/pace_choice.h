// --slower, --than and --than-option: a graph fails by the time that it takes.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/backend_choice.h"
#include "graph/failure.h"

namespace whittle::cli {

class Tool;

struct PaceChoice {
    std::optional<double> factor = {};    ///< of --slower
    std::string than = {};                ///< a backend; empty: see Pace
    std::vector<std::string> pairs = {};  ///< KEY=VALUE

    /// `means`: what --slower does in this program, up to "FACTOR times as long …".
    void declare(Tool& tool, const std::string& means);
    /// Throws Error for --than without --slower, for a factor that is none, and for a backend that is not there.
    /// `alone`: nothing else runs on this machine at the same time that disturbs the times; else jobs are refused.
    void check(const BackendChoice& suspect, bool alone) const;
    /// Of the suspect that runs as `spec` with `options`: nothing without --slower.
    std::optional<Pace> pace(const BackendSpec& spec, const BackendOptions& options) const;
    /// As they are typed.
    std::vector<std::string> words() const;
};

}  // namespace whittle::cli
