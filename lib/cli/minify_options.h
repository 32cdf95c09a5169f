// What minify is asked, as options: who judges a candidate, and how the search goes about it.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/model.h"
#include "cli/run_options.h"
#include "reduce/request.h"

namespace whittle::cli {

class Tool;

/// A backend judges a candidate, or a script or command.
struct MinifyOptions : RunOptions {
    std::filesystem::path model = {}, output = {};
    bool unnamed_output = false;              ///< the output's name is the default
    std::vector<std::string> arguments = {};  ///< of a MODEL that is a program
    PaceChoice pace = {};
    std::filesystem::path test = {};
    std::vector<std::string> check = {};
    bool test_must_fail = false;              ///< of the old spelling
    reduce::CommandOracleOptions which = {};  ///< how candidates are written, and which answers are the failure
    std::string launcher = {};
    // What of the model is searched, and how.
    std::string after = "capture";
    reduce::Strategy search = {};
    std::vector<std::string> delta_passes = {};
    std::optional<std::chrono::seconds> time_limit = {};
    // Of a folder of models (minify_models()).
    std::string shard = {};  ///< "I/N", from 1
    std::optional<std::filesystem::path> html = {};

    void declare(Tool& tool);
    /// Throws Error for several of --backend, --test and --check, for options that would do nothing, and for numbers
    /// out of range.
    void check_usage() const;
    /// --test or --check was given.
    bool command() const { return !test.empty() || !check.empty(); }
};

/// The script that --test names: a file here, or a program in PATH.
std::string script_path(const std::filesystem::path& script);

/// The frames of the model as the options ask for them: folded or not, decomposed or not. What does not decompose
/// stays. A command may know ops that Whittle does not. Throws Error where there are none.
std::vector<LoadedFrame> frames_of(const MinifyOptions& options);

/// What is searched for in the frames, the first of which says what it was recorded with or fails with; where the
/// options name nothing else, that is asked.
reduce::Request request_of(MinifyOptions options, const LoadedFrame& first);

}  // namespace whittle::cli
