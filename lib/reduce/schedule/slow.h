// slow_directives(): the scheduling directives that make a Halide program slow. Each is left out alone, with what
// depends on it, and the program is run with it and without it in turns.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "judge/ratio_test.h"
#include "reduce/schedule/minimize.h"

namespace whittle::reduce {

struct SlowDirective {
    NeededDirective needed = {};
    MedianInterval ratio = {};  ///< of the times with it to those without it
    std::string figures = {};   ///< "takes 2.01 times as long as without it (95 % confidence: …"
};

struct SlowDirectives {
    halide_program::Program program = {};  ///< as it was run first
    double factor = 1;
    std::string why = {};    ///< there is no answer; empty: there is
    double run_seconds = 0;  ///< that its pipelines run, without compiling: the median
    std::size_t candidates = 0, runs = 0;
    std::vector<SlowDirective> slow = {};  ///< the program takes more than `factor` times as long with each
    bool finished = true;                  ///< false: stopped by a limit
    double seconds = 0;
};

/// Of the request the inputs, answers, test and check do not count. Throws Error where the program cannot be run. A
/// program that does not call Halide has no directives and no steps.
SlowDirectives slow_directives(const ScheduleRequest& request, double factor);

std::string to_text(const SlowDirectives& done);
nlohmann::json to_json(const SlowDirectives& done);

}  // namespace whittle::reduce
