// What the recorder knows of its process: what it was asked to do, and its file.
#pragma once

#include <Halide.h>

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/halide/capture/lines.h"

namespace whittle::halide_capture {

/// Calls of Halide's functions that are running: what happens inside one is not the program's own directive.
inline thread_local int depth = 0;
struct InsideScope {
    InsideScope() { ++depth; }
    ~InsideScope() { --depth; }
    InsideScope(const InsideScope&) = delete;
    InsideScope& operator=(const InsideScope&) = delete;
};

struct State {
    std::set<std::string> left_out;  ///< keys of directives
    bool reference = false;          ///< everything but bounds is left out
    bool pipelines = false;          ///< are described
    bool times = false;              ///< of runs are without compiling
    std::string results;             ///< folder; empty: none are kept
    std::string captured;            ///< folder for inputs; empty: pipelines are not captured
    bool runs = false;               ///< are recorded, with inputs and results in that folder
    std::size_t run_bytes = 0;       ///< that these may still take

    int directives = 0;
    std::map<std::string, int> seen;  ///< directives by their key without its count

    /// A variable that was never made, as "func.variable": what it would have been made from, and the directive that
    /// would have made it.
    struct Unmade {
        Halide::VarOrRVar from;
        int by;
    };
    std::map<std::string, Unmade> unmade;
    /// Where a Func was placed by a directive that is in force.
    struct Placed {
        int by;
        std::string_view name;  ///< "compute_at", "store_at", "hoist_storage"
        Halide::Func func, target;
        Halide::VarOrRVar variable;
    };
    std::vector<Placed> placed;
    std::map<std::string, int> computed;  ///< Funcs whose compute_at is in force, by the number of that
    std::map<std::string, int> rooted;    ///< Funcs whose compute_at was left out, by the number of that

    /// Something is left out, so that what depends on it has to be repaired.
    bool leaves_out() const { return reference || !left_out.empty(); }
};
State& state();

/// Halide's own function. Ends the process where it has none: nobody could call it.
void* real_function(const char* symbol);

/// "f" of "f.update(0)".
std::string func_of(const std::string& stage);

}  // namespace whittle::halide_capture
