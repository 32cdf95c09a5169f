// RecompileProfiler: why compiled functions are compiled again and again.
//
//   whittle::RecompileProfiler profiler;
//   auto observed = whittle::compile(f, {.backend = profiler});
//   … calls, for as long as the trouble took to come …
//   std::cerr << profiler.report();
//
// It is a backend that only observes: graphs run eagerly. What it counts is what a cache limit of 1 would meet: calls
// that the first specialization of a function does not fit. Numbers that make no other graphs do not count.
#ifndef WHITTLE_API_RECOMPILES_H
#define WHITTLE_API_RECOMPILES_H

#include <whittle/api/backends.h>

WHITTLE_API_BEGIN

/// A guard that failed, of calls from one place.
struct RecompileCause {
    std::string function = {};
    /// "L['n'] == 3, now 4": of the first calls with different values.
    std::vector<std::string> reasons = {};
    std::string advice = {};             ///< what would stop it
    std::vector<std::string> call = {};  ///< where the calls came from, innermost first: "train.cpp:22 in main"
    std::int64_t calls = 0;              ///< that it failed in
};

/// Accumulates over functions, calls and threads as long as it, a copy or a function that it observes lives.
class RecompileProfiler {
  public:
    RecompileProfiler();

    /// For CompileOptions.backend.
    operator BackendName() const { return backend_; }
    /// Most frequent first.
    std::vector<RecompileCause> causes() const;
    /// Of each function its calls, causes, and what to do about them.
    std::string report() const;

  private:
    std::string backend_;
    std::shared_ptr<class RecompileProfile> profile_;
};

WHITTLE_API_END

#endif
