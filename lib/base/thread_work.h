// What a thread works for. Threads that do a part of its work take it over, so that what they make and how long it took
// is told of the same compilation.
#pragma once

#include <cstddef>
#include <functional>
#include <string>

#include "base/exchanged.h"

namespace whittle {

class SpanList;

struct ThreadWork {
    std::string section = {};         ///< of the debug folder: DebugSection, base/log.h
    bool makes_no_artifacts = false;  ///< ArtifactPause, base/log.h
    std::string graph = {};           ///< that spans are of: SpansOf, base/timeline.h
    SpanList* spans = nullptr;        ///< takes this thread's spans: ThreadSpans, base/timeline.h; may be null
};

/// This thread's.
ThreadWork& thread_work();

/// While it lives, this thread does another one's work.
struct WorksFor : Exchanged<ThreadWork> {
    explicit WorksFor(ThreadWork other) : Exchanged(thread_work(), std::move(other)) {}
};

/// Calls f(0) … f(count - 1), each once, on as many threads as there are processors, this one among them; the others do
/// its work. What f throws first is thrown here, on this thread, when all threads are done; what has not begun by then
/// is left out.
void for_each_on_threads(std::size_t count, const std::function<void(std::size_t)>& f);

/// Returns $HL_NUM_THREADS, at most 256 as Halide has it, else one per processor; at least one. Throws Error where the
/// variable is no such number.
int kernel_threads();

}  // namespace whittle
