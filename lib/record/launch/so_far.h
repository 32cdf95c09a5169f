// write_so_far(): what a program that still runs has done, written now and then, so that who kills it and us finds
// that.
#pragma once

#include <functional>
#include <thread>

namespace whittle {

/// What is to be written, and when.
struct SoFarWork {
    double every = 10;  ///< seconds; longer where writing takes long: it has a fifth of the time
    /// Whether there is something new: asked here, before each time.
    std::function<bool()> wanted;
    /// Makes the trace, in a copy of this process at the lowest priority, which may fail.
    std::function<void()> write;
    /// Takes what the copy made. Here: it is never interrupted, and should be quick.
    std::function<void()> take;
};

/// Works until it is told to stop, which ends what is being written.
std::jthread write_so_far(SoFarWork work);

}  // namespace whittle
