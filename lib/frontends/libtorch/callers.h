// Callers: whether what called a function has gone on between two steps, as the recorder saw it: then the function was
// called anew. Two calls from one place look alike otherwise.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "frontends/libtorch/stack_reader.h"

namespace whittle::libtorch {

/// What is known of the caller since some step.
struct CallerMotion {
    std::uint8_t untouched = 0xff, unmoved = 0xff;  ///< see Event

    /// It has gone on, or what called it in its turn: only they could have changed what did. That proves it for a
    /// function that was inlined, too, or that others may call again: all of those around it waited.
    /// A coroutine that others enter again goes on when they do.
    bool moved(const FrameFunction& of) const {
        const std::optional<std::size_t>& around = of.resumable ? of.callers : of.position;
        return around && unmoved < *around;
    }
    /// Everything is as it was, and so with what called it in its turn.
    bool waits(const FrameFunction& of) const { return of.callers && untouched >= *of.callers; }
    /// So is the function itself: what happened since is part of what it called.
    bool stands(const FrameFunction& of) const { return of.callers && untouched > *of.callers; }
    /// Something is not as it was; it may have been somebody else.
    bool touched(const FrameFunction& of) const { return of.callers && untouched < *of.callers; }
};

class Callers {
  public:
    explicit Callers(const EventFile& file);
    /// Adds what the thread's ops tell that began after `from`, up to `to`, itself included.
    void add(CallerMotion& motion, std::uint32_t thread, std::uint64_t from, std::uint64_t to) const;
    /// What others may change are the variables of Python's modules: a loop there changes them each time. Else it is
    /// all memory of a function, in which what it called may have left results.
    bool tells_loops() const { return python_; }

  private:
    bool python_;
    std::map<std::uint32_t, std::vector<const Event*>> ops_;  ///< of each thread, ascending
};

}  // namespace whittle::libtorch
