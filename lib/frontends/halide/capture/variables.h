// What Whittle's programs say to the preloaded library, and to the recorder: environment variables, which the stub of
// frontends/libtorch takes out of the environment. The library asks for them by setting(), never by getenv().
#pragma once

namespace whittle::halide_capture {

/// Prefix of the files that the processes of the program write, "PREFIX.PID": a line of JSON for each thing that
/// happens.
inline constexpr char kLogVariable[] = "WHITTLE_HALIDE_LOG";
/// A file with the keys of the directives to leave out, a line each.
inline constexpr char kLeftOutVariable[] = "WHITTLE_HALIDE_LEFT_OUT";
/// Set: every Func at compute_root, without any directive but bounds.
inline constexpr char kReferenceVariable[] = "WHITTLE_HALIDE_REFERENCE";
/// A folder for the results of each realize(), "PROCESS-RUN-OUTPUT.npy", where PROCESS counts from 0.
inline constexpr char kResultsVariable[] = "WHITTLE_HALIDE_RESULTS";
/// Set: pipelines are described, with their loops.
inline constexpr char kPipelinesVariable[] = "WHITTLE_HALIDE_PIPELINES";
/// A folder: pipelines are captured as far as a program of their own needs them, with their inputs as files in it.
inline constexpr char kCapturedVariable[] = "WHITTLE_HALIDE_CAPTURED";
/// Set: realize() compiles before its time is taken, so that it is the time of the run alone.
inline constexpr char kTimesVariable[] = "WHITTLE_HALIDE_TIMES";
/// With kCapturedVariable: each run of a pipeline is recorded, with the values of its inputs and its results; all of
/// them take no more than so many MB.
inline constexpr char kRunsVariable[] = "WHITTLE_HALIDE_RUNS";
/// The library that records, which the stub loads.
inline constexpr char kRecorderVariable[] = "WHITTLE_HALIDE_RECORDER";

}  // namespace whittle::halide_capture
