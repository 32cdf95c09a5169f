// What a RecompileProfiler has seen. Any thread.
#pragma once

#include <whittle/api/recompiles.h>

#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "api/frame_host.h"
#include "capture/guard.h"

namespace whittle::api {

class RecompileProfile {
  public:
    /// Of a function that is observed: its own limit would hide what a higher one needs.
    static constexpr int kMostSpecializations = 64;

    /// A call of the function, which has so many specializations now. `unfit`: why the first does not fit the call.
    void called(const std::string& function, std::size_t specializations,
                const std::optional<capture::Violation>& unfit, const Addresses& stack);

    std::vector<RecompileCause> causes() const;
    std::string report() const;

  private:
    struct Cause {
        RecompileCause told;
        Addresses stack;
        bool can_be_grouped = false;  ///< values of what the guard is about
    };
    struct Function {
        std::int64_t calls = 0, unfit = 0;
        std::size_t specializations = 0;
        std::map<std::string, Cause> causes = {};  ///< by guard, advice and place
    };

    static std::vector<Cause> ranked(const Function& function);

    mutable std::mutex mutex_;
    std::map<std::string, Function> functions_;
};

/// The profile whose profiler is the backend of this name, or null.
std::shared_ptr<RecompileProfile> profile_called(const std::string& backend);

}  // namespace whittle::api
