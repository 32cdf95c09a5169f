// RecompileProfiler: reports why functions are recompiled.
//
//   whittle::RecompileProfiler profiler;
//   auto observed = whittle::compile(f, {.backend = profiler});
//   … the calls that cause recompiles …
//   std::cerr << profiler.report();
//
// It is a backend that only observes: graphs run eagerly. It counts the calls that the first specialization of a
// function does not fit, as if the cache limit were 1. Numbers that do not change the graphs do not count.
#ifndef WHITTLE_API_RECOMPILES_H
#define WHITTLE_API_RECOMPILES_H

#include <whittle/api/backends.h>

WHITTLE_API_BEGIN

/// A guard that failed, of calls from one place.
struct RecompileCause {
    std::string function = {};
    /// "L['n'] == 3, now 4", for the first calls with different values.
    std::vector<std::string> reasons = {};
    std::string advice = {};             ///< what would avoid it
    std::vector<std::string> call = {};  ///< where the calls came from, innermost first: "train.cpp:22 in main"
    std::int64_t calls = 0;              ///< in which it failed
};

/// Accumulates over functions, calls and threads, as long as it, a copy of it, or a function that it observes lives.
class RecompileProfiler {
  public:
    RecompileProfiler();

    /// For CompileOptions.backend.
    operator BackendName() const { return backend_; }
    /// Most frequent first.
    std::vector<RecompileCause> causes() const;
    /// Returns, for each function, its calls, the causes of recompiles, and what to do about them.
    std::string report() const;

  private:
    std::string backend_;
    std::shared_ptr<class RecompileProfile> profile_;
};

WHITTLE_API_END

#endif
