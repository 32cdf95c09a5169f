// CallGuesser: where a call of a function ends and the next one begins, and where iterations of a loop do, as far as
// nothing that was recorded says so (an inlined function, a caller that is C code in a Python program, one whose memory
// changed although its registers did not). A call is taken for another one when the function's first operation comes
// again after its last one (the last of them all), with the same weights and without using a result of the frame. A
// loop is told by the period of the operations and their places; a long loop that is all that a function was seen to do
// is many calls of it. All that is found here is a guess: a caller may keep what it counts elsewhere.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <span>
#include <vector>

#include "frontends/libtorch/callers.h"
#include "frontends/libtorch/loops.h"
#include "frontends/libtorch/stack_reader.h"
#include "frontends/libtorch/values.h"

namespace whittle::libtorch {

/// What is known of the end of a thread's last execution.
enum class Ending {
    returned,
    inside,  ///< it was cut short
    unknown
};

/// Where the iterations of a loop begin among steps, and behind the last one where it ends.
using Iterations = std::vector<std::size_t>;

/// A loop that main, or a thread's function, runs itself.
struct RootLoop {
    Iterations iterations;
    bool calls = false;  ///< of a thread that does nothing else: it calls the function again and again
};

/// For the steps of one thread. A run is a list of steps, by their numbers.
class CallGuesser {
  public:
    using Run = std::vector<std::int32_t>;

    CallGuesser(const std::vector<Step>& steps, const Values& values, StackReader& stacks, const Callers& callers,
                std::span<const Gap> gaps)
        : steps_(steps), values_(values), stacks_(stacks), callers_(callers), gaps_(gaps) {}

    /// Something was left out between the beginning of the one step and the end of the other, of this thread: an
    /// execution that has both is put together of two.
    bool has_gap(std::int32_t from, std::int32_t to) const;
    /// Adds what the thread's ops tell of the caller from the one step to the other.
    void add(CallerMotion& motion, std::int32_t from, std::int32_t to) const;

    /// The stack of the step that the run's executions end with: of its last one, if that came to its end, else the
    /// one before the first step comes again.
    std::uint32_t last_stack(const Run& run, Ending ending) const;
    /// The step at `at` does what the execution's first op, at `first`, does, behind a step on the stack `end`.
    bool may_begin(const Run& run, std::size_t at, std::size_t first, std::uint32_t end) const;
    /// Such a step does begin another execution. `made`: by the execution that it else belongs to; `motion`: since that
    /// began.
    bool begins(const Run& run, std::size_t at, std::size_t first, const std::set<ValueId>& made,
                const CallerMotion& motion) const;

    /// Loops that no graph should be of.
    std::vector<Iterations> long_loops(const Run& steps) const;
    /// The iterations of the only loop are calls of the function.
    bool are_calls(const Run& steps, const std::vector<Iterations>& loops) const;
    std::vector<RootLoop> root_loops(const Run& steps) const;

  private:
    const FrameFunction& function_at(std::int32_t index) const;
    std::uint64_t code(std::int32_t index, bool with_weights) const;
    std::vector<Iterations> loops(const Run& steps, bool with_weights) const;
    std::int64_t times(const Run& steps, const Iterations& loop) const;
    CallerMotion between_iterations(const Run& steps, const Iterations& loop) const;
    bool computes(const Run& steps, const Iterations& loop) const;
    std::set<const TensorName*> weights(std::int32_t index) const;
    bool is_same_code(std::int32_t one, std::int32_t other) const;
    std::int32_t first_given(const Run& run, std::size_t begin) const;
    bool is_again(const Run& run, std::size_t at, std::size_t begin, const std::set<ValueId>& made) const;

    const std::vector<Step>& steps_;
    const Values& values_;
    StackReader& stacks_;
    const Callers& callers_;
    std::span<const Gap> gaps_;
};

}  // namespace whittle::libtorch
