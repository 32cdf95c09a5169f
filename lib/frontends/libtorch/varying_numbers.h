// VaryingNumbers: the numbers in which graphs of one shape differ: what the program calls them, how often they were the
// cause of a recompile, and the guards that they are.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "frontends/libtorch/differences.h"

namespace whittle::libtorch {

class VaryingNumbers {
  public:
    /// A graph `now` was captured, so many times, since it has other numbers than `was` at these places.
    void add(const capture::CapturedGraph& was, const capture::CapturedGraph& now, std::vector<NumberPlace> places,
             std::int64_t times);

    /// Adds what the numbers are to the graphs of this shape, as guards and as what makes variants differ, and the
    /// recompiles to the frame. `graphs`: their positions in the frame.
    void finish(capture::CapturedFrame& frame, std::span<const std::size_t> graphs) const;

  private:
    /// A number in the first recompile that it caused, and the variables that had it, before and after, in all of them.
    struct Number {
        capture::HostValue was, now;
        std::vector<capture::Source> variables;
    };
    /// Recompiles with the same causes. `host`: what differs of the call, as probes told, and may decide the numbers.
    struct Recompiles {
        std::vector<NumberPlace> places;
        std::optional<Difference> host;
        std::int64_t times = 0;
    };
    /// What is one number of the program: a variable, or operands of one line that are always equal.
    struct Cause {
        NumberPlace place;  ///< the first
        capture::Source source;
        bool variable = false;
    };
    struct Causes {
        std::vector<Cause> all;
        std::map<NumberPlace, std::size_t> of;  ///< position in `all`
    };

    Causes causes(const capture::CapturedFrame& frame, std::span<const std::size_t> graphs) const;
    Difference difference(const Cause& cause, const capture::HostValue& was, const capture::HostValue& now,
                          const capture::CapturedGraph& graph) const;
    /// Of one recompile, each once.
    std::vector<Difference> differences(const Recompiles& recompiles, const Causes& causes,
                                        const capture::CapturedGraph& graph) const;
    std::string text(const capture::CapturedGraph& was, const capture::CapturedGraph& now, const Causes& causes) const;

    std::map<NumberPlace, Number> numbers_;
    std::vector<Recompiles> recompiles_;
};

/// Counts the recompiles for their causes: those of a call's values in one entry, those of an operation's number in one
/// for each place in the source.
void count_recompiles(capture::CapturedFrame& frame, std::span<const Difference> causes, std::int64_t times);

}  // namespace whittle::libtorch
