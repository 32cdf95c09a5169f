// A program that uses Halide, run with the library that records its schedule (capture/): what the process is given, and
// what it wrote.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "frontends/halide/program.h"

namespace whittle::halide_program {

/// What a run is asked for.
struct RecordingOptions {
    std::set<std::string> left_out = {};  ///< keys of directives
    bool reference = false;               ///< every Func at compute_root, with no other directive but bounds
    bool results = false;                 ///< of each realize() are kept
    bool pipelines = false;               ///< are described
    bool captured = false;                ///< pipelines are, as far as a program of their own needs them
    std::int64_t runs_mb = 0;             ///< each run of a pipeline is recorded, with so many MB of data; 0: none is
};

class Recording {
  public:
    /// The libraries that record are there.
    static bool installed();

    /// `folder`, which is made where it is not there, takes what the program records.
    Recording(std::filesystem::path folder, const RecordingOptions& options);

    /// The library to preload, free of blanks and colons. Throws Error where it was not installed.
    std::filesystem::path preload() const;
    /// What the process needs beside LD_PRELOAD. The stub of frontends/libtorch, which is preloaded with it, takes it
    /// out of the environment.
    std::vector<std::pair<std::string, std::string>> environment() const;
    /// With that of preload_variables().
    std::vector<std::pair<std::string, std::string>> whole_environment() const;

    /// The files of inputs of the pipelines that were captured, and of results of runs.
    std::filesystem::path inputs_folder() const;
    /// The files of results, by name.
    std::set<std::string> results() const;
    std::filesystem::path results_folder() const;

  private:
    std::filesystem::path folder_;
    RecordingOptions options_;
};

/// What a Recording's `folder` holds after the run; nothing where the program has not called Halide. `program`: what
/// ran, whose file says whether it contains Halide.
Program read_recording(const std::filesystem::path& folder, const std::filesystem::path& program);

}  // namespace whittle::halide_program
