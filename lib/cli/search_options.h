// What minify is asked, as options: who judges a candidate, and how the search goes about it.
#pragma once

#include <chrono>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/accuracy_choice.h"
#include "cli/backend_choice.h"
#include "cli/limits.h"
#include "cli/model.h"
#include "debug/search.h"

namespace whittle::cli {

class Tool;

/// --backend, --accuracy, --test, --check and what belongs to them: what fails.
struct JudgeOptions {
    BackendChoice backend = {};
    AccuracyChoice accuracy = {};
    std::filesystem::path test = {};
    std::vector<std::string> check = {};
    bool test_must_fail = false;  ///< of the old spelling
    std::string external_data = "auto";
    reduce::CommandOracleOptions which = {};  ///< the codes and words by which --check fails

    void declare(Tool& tool);
    /// Throws Error for several of --backend, --test and --check, and for options that would do nothing.
    void check_usage() const;
    /// --test or --check was given.
    bool command() const { return !test.empty() || !check.empty(); }
};

/// How the search is run.
struct SearchOptions {
    debug::Search search = {};  ///< how often, how many at a time, how long
    std::string mode = "auto", after = "capture", launcher = {};
    std::vector<std::string> delta_passes = {};
    LimitOptions limits = {};
    std::optional<std::chrono::seconds> time_limit = {};

    void declare(Tool& tool);
    void check_usage() const;
};

/// What is searched for in the frames of `model`, the first of which says what it was recorded with or fails with;
/// where the options name nothing else, that is asked. The result goes to `output`.
debug::Search search_of(const std::filesystem::path& model, const std::filesystem::path& output, JudgeOptions judge,
                        const SearchOptions& options, const InputOptions& inputs, const LoadedFrame& first);

/// The frames of a model as the options ask for them: folded or not, decomposed or not. What does not decompose stays.
/// `judge` is who is to be asked, as far as that was given: a command may know ops that Whittle does not.
std::vector<LoadedFrame> frames_of(const std::filesystem::path& model, const JudgeOptions& judge,
                                   const SearchOptions& options, const InputOptions& inputs);

/// Default: MODEL.min with MODEL's extension, in the working directory. Throws Error for a name that says no format.
std::filesystem::path minimized_file(const std::filesystem::path& model, const std::filesystem::path& given);

}  // namespace whittle::cli
