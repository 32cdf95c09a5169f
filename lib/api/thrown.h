// Where the exception that is being handled was thrown: the stack is gone when it arrives at the compiled function.
#pragma once

#include "api/frame_host.h"

namespace whittle::api {

/// In a handler: the exception, with the place of its throw where it was thrown while this thread recorded.
Thrown thrown_here();

/// Links the definition of __cxa_throw that takes note of places.
void link_throw_hook();

}  // namespace whittle::api
