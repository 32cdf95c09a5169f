// Where the exception that is being handled was thrown: the stack is gone when it arrives at the compiled function.
#pragma once

#include "api/frame_host.h"
#include "base/error.h"

namespace whittle::api {

/// While one lives, this thread does capture's own work: WHITTLE_CHECK throws, and the place of what is thrown is kept,
/// with `whole_stacks` as a whole.
class CaptureStep {
  public:
    explicit CaptureStep(bool whole_stacks);
    ~CaptureStep();
    CaptureStep(const CaptureStep&) = delete;
    CaptureStep& operator=(const CaptureStep&) = delete;

  private:
    const BugsAreThrown thrown_;
    const int before_;
};

/// In a handler: the exception, with the place of its throw where it was thrown while this thread recorded.
Thrown thrown_here();

/// Links the definition of __cxa_throw that takes note of places.
void link_throw_hook();

}  // namespace whittle::api
