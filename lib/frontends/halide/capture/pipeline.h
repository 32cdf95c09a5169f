// The pipeline when it is compiled or run: repaired where something was left out, described, and its results.
#pragma once

#include <Halide.h>

#include <map>
#include <string>

namespace whittle::halide_capture {

/// All that the outputs need, by name.
using Functions = std::map<std::string, Halide::Internal::Function>;
Functions functions_of(const Halide::Pipeline& pipeline);

/// What was placed at loops that were never made goes to the nearest loop that there is; of the reference every Func to
/// root. Before the pipeline is compiled or run.
void repair(Halide::Pipeline& pipeline);

/// Writes its definitions and loops, where that is asked for. `entry`: what the program called.
void describe_pipeline(Halide::Pipeline& pipeline, const std::string& entry);

/// With something left out, a Func may be computed where its consumer no longer is, which `error`, of Halide, says: it
/// goes to root. False where the error is another.
bool repaired(Halide::Pipeline& pipeline, const std::string& error);

/// "compile-error", "runtime-error", "internal-error", or "error" for those of a handler of the program's own.
void record_error(const std::exception& error);

/// The results of a realize().
struct Outputs {
    std::vector<halide_buffer_t*> buffers;
};
/// Those that are handed in, before the call, which may move them.
Outputs outputs_of(const Halide::Pipeline::RealizationArg& argument);
Outputs outputs_of(const Halide::Realization& results);
/// Writes them, as far as NumPy has their type, where that is asked for.
void record_results(const Outputs& outputs);

}  // namespace whittle::halide_capture
