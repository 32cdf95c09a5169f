// find_culprits(): the directives that a failure of a Halide program needs, and which of them cause it. Knows nothing
// of processes: it asks what the program does without some directives.
//
// Directives are left out in stages: first those that change how a Func is computed, while each Func stays where the
// program places it; then those that place Funcs, which others are valid by, or without which another Func has to store
// more; and, where the failure depends on them, those that state sizes. A set that fails alone need not be why the
// whole program fails, so that each cause is checked in the whole program: without it, that passes. Where the whole
// program fails without all causes, too, the search goes in the other direction: for the fewest directives without
// which it passes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "frontends/halide/program.h"
#include "reduce/schedule/answers.h"
#include "reduce/search/search.h"

namespace whittle::reduce {

struct CulpritProblem {
    std::vector<halide_program::Directive> directives = {};
    /// What the program does without the directives of these keys. Each question comes once.
    std::function<ScheduleAnswer(const Keys& left_out)> answer = {};
    /// Told of what will probably be asked: see Problem::prefetch. May be empty.
    std::function<bool(const Keys& left_out)> prefetch = {};
    /// Told how many directives the smallest set has with which the program fails. May be empty.
    std::function<void(std::size_t smallest)> improved = {};
};

struct NeededDirective {
    halide_program::Directive directive = {};
    /// Numbers of those among the needed that fall away, or move, without it.
    std::vector<int> allows = {};
    bool context = false;  ///< the whole program fails without it, too
    bool open = false;     ///< the search was stopped before the whole program was run without it
    bool is_cause() const { return allows.empty() && !context && !open; }
};

struct Culprits {
    enum class Verdict : std::uint8_t {
        found,
        not_failing,
        not_the_schedule,  ///< it fails without any directive, too
        not_the_cause,     ///< the whole program fails without the causes, too, and nothing else is found
    };
    Verdict verdict = Verdict::found;
    std::vector<NeededDirective> needed = {};
    bool separate = false;       ///< each cause makes the program fail on its own
    std::size_t candidates = 0;  ///< directives that were asked about
    Keys left_out = {};          ///< the keys of all candidates that are not needed
    bool finished = true;        ///< false: stopped; `needed` is the best so far
    std::string reservation = {};
    std::vector<Keys> decisive = {};  ///< without these it does not fail in the same way, which the result relies on
};

/// Of the options without `improved`.
Culprits find_culprits(const CulpritProblem& problem, const Options& options);

}  // namespace whittle::reduce
