// The steps that every program goes through, as TorchDynamo's guide has them: 1 capture, 2 backend, 3 lowering. Each is
// logged at its begin and at its end, so that after a crash the last one without an end names the component.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "base/timeline.h"

namespace whittle {

class LogStep {
  public:
    enum class Kind : std::uint8_t { capture = 1, backend, lowering };

    /// Begins it. `what`: "toy_example", "halide: graph f_0 (3 ops)"; logged on the channel of the kind, as
    /// information. It is a span of the timeline, too, if there is one: of `graph`, where it is about one.
    LogStep(Kind kind, const std::string& what, const std::string& graph = {});
    /// Ends it; the log says so where that is by an exception.
    ~LogStep();
    LogStep(const LogStep&) = delete;
    LogStep& operator=(const LogStep&) = delete;

    /// Ends it here, before its scope does.
    void done() { end("done"); }
    /// The same where it failed, with no exception to tell.
    void failed() { end("failed"); }

  private:
    /// `event`: "done", "failed", "ended".
    void end(const char* event);

    Kind kind_;
    TimedSpan span_;
    std::string what_ = {};
    bool over_ = false;  ///< it has ended, or nobody wants to know
    int exceptions_;     ///< in flight when it began
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace whittle
