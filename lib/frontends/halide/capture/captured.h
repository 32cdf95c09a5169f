// The pipeline as a program of its own needs it: definitions as they were before any directive, inputs, and where each
// Func is computed.
#pragma once

#include <Halide.h>

#include <functional>
#include <string>
#include <vector>

#include "frontends/halide/capture/nodes.h"
#include "frontends/halide/capture/pipeline.h"

namespace whittle::halide_capture {

/// What is realized: the extents, or for the caller's own buffers these.
struct Asked {
    using Shape = std::vector<std::pair<int, int>>;  ///< minimum and extent, from the innermost dimension
    std::vector<Shape> shapes;
    std::string target;  ///< empty: the default
    /// What the call takes in the place of a param's own value; empty: it takes none.
    std::function<Parameter(const Parameter&)> value;
};

/// Writes it, where that is asked for, once for each set of outputs, and again after a repair.
void capture_pipeline(const Halide::Pipeline& pipeline, const std::string& entry, const Asked& asked, bool again);

/// A run of the pipeline, before it runs: writes it with the values of its inputs. Returns its number; 0: runs are not
/// recorded, or this one is too many.
int capture_run(const Halide::Pipeline& pipeline, const std::string& entry, const Asked& asked);
/// What the run computed.
void capture_results(int run, const Outputs& outputs);

/// rfactor() changes the definitions of the stage's Func: remembers them as they are.
void remember_definitions(const Halide::Stage& stage);

/// The Func of a directive that returns one.
void write_returned(int directive, const std::string& func);

/// The stage that specialize() has returned has the name of the Func's.
void remember_specialization(const Halide::Stage& specialized, int directive);
/// The directive that made it; 0: it is none.
int specialization_of(const Halide::Stage& stage);

std::string json_list(const std::vector<std::string>& entries);

}  // namespace whittle::halide_capture
