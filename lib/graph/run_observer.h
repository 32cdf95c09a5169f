// Who wants to see a run go on: after each call that is interpreted, or each kernel, how long it took and what the run
// holds then. Of one thread, as long as an ObservingRuns lives; executables that are one piece tell nothing.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace whittle {

class RunObserver {
  public:
    struct Held {
        std::string_view value;  ///< the node that computed it
        std::int64_t bytes;      ///< of its memory; 0 where another value that is held has the same
    };
    virtual ~RunObserver() = default;
    /// `step`: a call by its node's name, or a kernel by its own. `held`: before what it read for the last time is
    /// freed; without parameters.
    virtual void ran(std::string_view step, double seconds, std::span<const Held> held) = 0;
};

class ObservingRuns {
  public:
    /// Null: nobody, inside of a step that is told as one.
    explicit ObservingRuns(RunObserver* observer);
    ~ObservingRuns();
    ObservingRuns(const ObservingRuns&) = delete;
    ObservingRuns& operator=(const ObservingRuns&) = delete;

    /// This thread's before it, or null.
    RunObserver* before() const { return before_; }

  private:
    RunObserver* const before_;
};

/// This thread's, or null.
RunObserver* run_observer();

}  // namespace whittle
