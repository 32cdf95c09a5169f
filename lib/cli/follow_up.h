// What trace and explain do about a backend that fails: they say so, and offer to minimize the failure, make a repro of
// it and verify that, all in one command; with --minify they do it. The work is done by the programs minify and repro
// beside this one, whose reports appear in place.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/accuracy_choice.h"
#include "cli/backend_choice.h"
#include "cli/model.h"

namespace whittle::cli {

class Tool;

/// A frame that a backend fails on.
struct FailingFrame {
    std::string name, file;
    std::string failure;  ///< "exception at compile: ReluCompileError"
};

/// Those of the frames that the backend cannot compile or run, or that it computes wrong results for; not those with
/// ops that it says it does not support.
std::vector<FailingFrame> failing_frames(const std::vector<LoadedFrame>& frames, Backend& backend,
                                         const BackendOptions& options, const Accuracy& accuracy = {});

struct FollowUp {
    std::filesystem::path model = {};   ///< what to minify; a trace folder may hold several failures
    std::filesystem::path output = {};  ///< NAME.json; of several failures NAME-1.json …; repros are NAME.cpp
    BackendChoice backend = {};
    AccuracyChoice accuracy = {};
    InputOptions inputs = {};
};

/// Where minify writes the result of one of several failures, from 1 on: NAME-1.json of NAME.json.
std::filesystem::path numbered_result(std::filesystem::path output, std::size_t number);

/// The command that was typed, "trace" and its arguments, with --minify: ready to paste.
std::string with_minify(const Tool& tool, std::vector<std::string> arguments);

/// What became of it.
struct FollowedUp {
    bool failing = false;   ///< minify found a failure
    bool verified = false;  ///< every failure has a repro that shows it
    /// What minify --json and, for each result, repro --json print: {"minify": {…}, "repros": [{…}]}.
    nlohmann::json json = {};
};

/// Runs minify, and repro on each of its results. Their reports go to stdout as they are or, with `json`, into
/// FollowedUp::json; what they write to stderr goes to ours. Throws Error when a program is missing or is given
/// something that it cannot read.
FollowedUp follow_up(const FollowUp& wanted, std::ostream& report, bool json);

}  // namespace whittle::cli
