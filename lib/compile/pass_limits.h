// Passes that can be switched off, wholly or after their first applications: where a failure begins, something is
// culprit. What LLVM calls opt-bisect-limit, for the steps between a graph and its kernels.
#pragma once

#include <array>
#include <iterator>
#include <set>
#include <string>
#include <vector>

#include "graph/backend.h"
#include "passes/pass.h"

namespace whittle::program {

/// In the order in which they are suspected: the last to have touched a kernel first.
std::vector<PassId> limitable_passes();

class PassLimits {
  public:
    PassLimits() = default;
    /// The options pass-limit=PASS=K;PASS=K… (only the first K applications), and disable=… as far as it names passes
    /// (none). Throws Error for what is no pass or no number.
    explicit PassLimits(const BackendOptions& options);

    /// Counts an application; false when it must not happen.
    bool apply(PassId pass);
    /// Applications so far, and those that were not allowed.
    int applications(PassId pass) const { return counts_[static_cast<std::size_t>(pass)].asked; }

  private:
    struct Count {
        int asked = 0;
        int most = -1;  ///< negative: no limit
    };
    std::array<Count, std::size(kPasses)> counts_ = {};
};

/// What the option disable=PASS;DIRECTIVE;… names beside passes: texts of directives.
std::set<std::string> disabled_directives(const BackendOptions& options);

}  // namespace whittle::program
