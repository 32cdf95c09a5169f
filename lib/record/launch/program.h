// Programs as what is debugged: run under capture, with what comes out of it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "record/ran_program.h"
#include "trace/folder.h"

namespace whittle {

/// How a program is captured.
struct ProgramRequest {
    std::filesystem::path program = {};
    /// `program` is a TorchScript module, whose forward() is called with these: by name, or "#0", "#1" … by place.
    std::optional<std::map<std::string, Tensor>> inputs = {};
    std::vector<std::string> arguments = {};
    std::vector<std::string> functions = {};  ///< whose executions are captured; none: those that main calls
    bool composite = false;                   ///< ops of LibTorch as the program calls them, else as those are made of
    std::optional<std::int64_t> cache_size_limit = {};  ///< specializations; none: the program's environment says
    std::int64_t limit_mb = 2048, limit_seconds = 600;  ///< of the capture, which is cut then
    bool with_data = false;                             ///< with the values of inputs, weights and results
    bool with_times = false;                            ///< of compilations, and of LibTorch's operations
    bool hashes = false;     ///< of results, in the place of graphs: their files go to `folder`
    std::size_t last = 0;    ///< so many operations are captured, the last ones, in memory of limit_mb; 0: all are
    bool until_nan = false;  ///< up to the first operation whose result has a NaN
    std::uint64_t only = 0;  ///< the number of the one operation that is captured; 0: all are
    bool stdout_to_stderr = false;
    double save_every = 10;  ///< seconds, while it runs: see so_far
    /// Writes a trace of what a program of LibTorch, which still runs, did so far into a folder. In a copy of this
    /// process; what is there then becomes the trace in `folder`.
    std::function<void(const RanProgram& so_far, const std::filesystem::path& into)> so_far = {};

    // What a program that is written against our own API is asked to do.
    std::optional<std::filesystem::path> folder = {};  ///< for its trace; else it is read and removed
    RecordPolicy records = RecordPolicy::never;
    std::string backend = {};  ///< instead of the program's own
    /// A folder for what a program that uses Halide records of its schedule (frontends/halide/recording.h); empty:
    /// nothing.
    std::filesystem::path halide = {};
    bool halide_runs = false;                    ///< each run of a pipeline is recorded there, else what pipelines are
    std::set<std::string> halide_left_out = {};  ///< keys of directives that the program runs without
    std::vector<std::pair<std::string, std::string>> environment = {};  ///< more variables
    /// Options of compile() as environment variables (base/variables.h), with their values.
    std::vector<std::pair<std::string, std::string>> compile_options = {};
};

/// Runs it; its output goes where ours goes. Throws Error when it cannot be started, when the folder cannot be made,
/// for a module that cannot be called with these inputs, and for a damaged event file.
RanProgram run_program(const ProgramRequest& request);

}  // namespace whittle
