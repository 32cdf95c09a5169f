// CallerStates: which of the functions on a thread's stack have gone on since its last op. What they call was called
// anew then, although its stack looks the same: the next iteration of a loop around the call, and not of one inside it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "frontends/libtorch/capture/python.h"

namespace whittle::libtorch {

/// A function that waits for what it called: where its part of the stack is, and where those that it called keep the
/// registers that they give back to it (null: nobody does, or it is not known).
struct NativeFrame {
    const std::uintptr_t *low = nullptr, *high = nullptr;
    std::array<const std::uintptr_t*, 6> registers = {};
};

/// Of the functions on a stack, counted from the outermost one, without those of an interpreter where it runs Python:
/// then Python's are counted.
struct Stillness {
    static constexpr std::uint8_t kAll = 0xff;
    std::uint8_t untouched = 0;   ///< so many have everything as it was
    std::uint8_t unmoved = kAll;  ///< no more than so many are where they were: the next one has gone on
};

/// The memory of a thread's own stack; a coroutine's may be elsewhere, and gone.
struct StackMemory {
    std::uintptr_t low = 0, high = 0;
    bool has(const void* address) const {
        const auto at = reinterpret_cast<std::uintptr_t>(address);
        return at >= low && at < high;
    }
};
StackMemory stack_memory();

/// Of the functions that look() saw last, counted likewise: so many were looked at, and so many of those still wait for
/// what they had called.
struct Waiting {
    std::uint8_t looked_at = 0, still = 0;
};

class CallerStates {
  public:
    static constexpr std::size_t kMost = 12;  ///< that are looked at

    /// `frames`: of Python, innermost first.
    Stillness look(const std::vector<python::Frame>& frames);
    /// Outermost first.
    Stillness look(const std::vector<NativeFrame>& frames);

    /// `frames`: of Python, as they are now; `stack`: of the thread that calls this.
    Waiting waiting(const std::vector<python::Frame>& frames, const StackMemory& stack) const;

  private:
    struct State {
        std::uint64_t place;                  ///< where it waits
        std::uint64_t locals;                 ///< what only it changes itself
        std::uint64_t all;                    ///< what others may change, too
        const std::uintptr_t* low = nullptr;  ///< NativeFrame::low; null: it is Python's
    };
    Stillness compare();

    std::vector<State> last_, now_;
    std::uint64_t unlike_ = 0;  ///< for what cannot be compared
};

}  // namespace whittle::libtorch
