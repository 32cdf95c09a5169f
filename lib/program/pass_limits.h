// Passes that can be switched off, wholly or after their first applications: where a failure begins, something is
// guilty. What LLVM calls opt-bisect-limit, for the steps between a graph and its kernels.
#pragma once

#include <map>
#include <set>
#include <span>
#include <string>
#include <string_view>

#include "graph/backend.h"

namespace whittle::program {

struct Pass {
    std::string_view name;
    std::string_view doc;  ///< what one application is
};
/// In the order in which they are suspected: the last to have touched a kernel first.
std::span<const Pass> passes();

class PassLimits {
  public:
    PassLimits() = default;
    /// The options pass-limit=PASS=K;PASS=K… (only the first K applications), and disable=… as far as it names passes
    /// (none). Throws Error for what is no pass or no number.
    explicit PassLimits(const BackendOptions& options);

    /// Counts an application; false when it must not happen.
    bool apply(std::string_view pass);
    /// Applications so far, and those that were not allowed.
    int applications(std::string_view pass) const;

  private:
    struct Count {
        int asked = 0;
        int most = -1;  ///< negative: no limit
    };
    std::map<std::string, Count, std::less<>> counts_;
};

/// What the option disable=PASS;DIRECTIVE;… names beside passes: texts of directives.
std::set<std::string> disabled_directives(const BackendOptions& options);

}  // namespace whittle::program
