// check(): which of several graphs fail, and how.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "debug/search.h"
#include "run/trial.h"

namespace whittle::debug {

/// The smallest graph of each distinct failure.
struct Findings {
    std::string judge = {};                                      ///< who was asked
    std::vector<const LoadedFrame*> failing = {};                ///< in the order in which their failures were met
    std::map<std::filesystem::path, std::string> declined = {};  ///< by file: graphs that get no answer, and why
};

/// Asks the judge once of each distinct graph and its inputs; up to `repeat` times until it fails. A graph that the
/// reference cannot run is left out with a warning in the log.
Findings check(const std::vector<LoadedFrame>& frames, const Search& search);

/// Graphs with what the backend cannot compile of each, as far as its runs have told.
using KnownSupport = std::vector<std::pair<Graph, std::vector<std::string>>>;

/// A frame that a backend fails on.
struct FailingFrame {
    std::string name, file;
    std::string failure;    ///< "exception at compile: ReluCompileError"
    bool wrong = false;     ///< it computes something else than is expected
    bool rounding = false;  ///< but within what rounding explains
};

/// A frame that a backend says it does not support.
struct DeclinedFrame {
    std::string name, file;
    std::string why;  ///< "halide does not implement my.op.default"

    bool operator==(const DeclinedFrame&) const = default;
};

/// What runs on a backend showed.
struct TriedFrames {
    std::vector<FailingFrame> failing = {};
    std::vector<DeclinedFrame> declined = {};  ///< of several runs of a frame for one reason the first
    bool judged = false;                       ///< some frame was: it is fine, or fails
    KnownSupport support = {};

    void decline(DeclinedFrame frame);
};

/// The frames that the suspect cannot compile or run, or that it computes wrong results for, and those that it does not
/// support. What a frame's record expects is what is right, else what the reference computes.
TriedFrames try_frames(const std::vector<LoadedFrame>& frames, Backend& backend, const Suspect& suspect);

nlohmann::json to_json(const FailingFrame& frame);
nlohmann::json to_json(const DeclinedFrame& frame);

/// "not failing: with halide it compiles …", of who counts `tier` as failures.
std::string not_failing_text(const std::string& backend, Tier tier);
/// "not failing", "unsupported" …: what is said where there is nothing to minimize. `seen` are the judge's words.
std::string not_failing_text(const Search& search, const std::string& judge, const std::string& seen);
/// Where a frame is not failing, but its record expects something else than the reference computes, which is what a
/// search goes by: "hint: …", a line. Else empty.
std::string expects_otherwise(const Search& search, const LoadedFrame& frame);
std::string declined_text(const Search& search, const std::string& judge, const std::string& seen);
/// "unsupported: halide does not support layer (layer_0.json): halide does not implement my.op.default".
std::string declined_text(const std::string& backend, const DeclinedFrame& frame);

}  // namespace whittle::debug
