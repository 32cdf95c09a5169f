// Minimizing and writing repros as the programs do it: a search's frames, what is printed on the way, and what becomes
// of it. minify is the first half alone; trace --minify and explain --minify go on to the repros.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "cli/search_options.h"
#include "debug/minimize.h"
#include "debug/search.h"
#include "repro/repro.h"

namespace whittle::cli {

class Tool;

struct Minified {
    bool good = false;                                ///< every graph that was to be minimized fails, and there is one
    nlohmann::json json = {};                         ///< what minify --json prints
    std::vector<Graph> graphs = {};                   ///< the minimized ones, each with its failure …
    std::vector<std::filesystem::path> files = {};    ///< … and where it is
    std::vector<std::filesystem::path> drifted = {};  ///< where other failures are that were met
};

/// Minimizes the frame, or of several the smallest for each distinct failure: OUT for one, else OUT-1, OUT-2, ….
/// Reports as text go to `report` as they come, unless the tool prints JSON.
Minified minify(const Tool& tool, const debug::Search& search, const std::vector<LoadedFrame>& frames,
                std::ostream& report);

/// The repro of a minimized graph, or why there is none.
struct ReproOf {
    std::optional<repro::Report> report = {};
    std::string text = {};  ///< the report, as repro prints it
    std::string none = {};

    bool verified() const { return report && report->verified; }
};
/// Writes it to `output` and verifies it; `file` is where the graph is.
ReproOf write_repro_of(const Graph& graph, const std::filesystem::path& file, const std::filesystem::path& output);

/// A failure that was seen, and what becomes of it.
struct FollowUp {
    bool minify = false;                ///< it is taken all the way; else the next command is printed:
    std::string next = {};              ///< this one; empty: the one that was typed, with --minify
    std::filesystem::path model = {};   ///< what to minify; a trace folder may hold several failures
    bool scratch = false;               ///< it is gone when the report is read, which does not name it then
    std::filesystem::path output = {};  ///< NAME.json; of several failures NAME-1.json …; repros are NAME.cpp
    BackendChoice backend = {};
    AccuracyChoice accuracy = {};
    InputOptions inputs = {};
    int repeat = 2;  ///< runs of a candidate before it counts as passing
};

/// Of a model file that fails, unlike the graph that is read from it: a part of the file is looked for, `output`.
FollowUp of_file(const std::filesystem::path& model, const std::filesystem::path& output, bool minify,
                 const BackendChoice& backend, const AccuracyChoice& accuracy, const InputOptions& inputs);

/// What became of it.
struct Followed {
    Minified minified = {};
    std::vector<std::filesystem::path> repros = {};  ///< one for each minimized graph …
    bool verified = false;                           ///< … and all of them show its failure
    std::string no_repro = {};                       ///< why there are none
};

/// With wanted.minify: minimizes (wrong results are failures), writes a repro of each result beside it and verifies
/// that. Reports go to `report` unless the tool prints JSON; into `json` goes what minify --json and, for each result,
/// repro --json print, and whether there is a failure and every one has a repro that shows it: {"minify": {…},
/// "repros": [{…}], "verified": true}. Else one line, "next: " and a command that is ready to paste.
/// A backend that has no part of a repro leaves it at the minimized graphs.
Followed follow_up(const Tool& tool, const FollowUp& wanted, std::ostream& report, nlohmann::json& json);

/// Where inputs come from, as it is typed.
std::vector<std::string> input_words(const InputOptions& inputs);

/// The command that makes a failure of `model` small, ready to paste. `wrong`: of wrong results.
std::string minify_command(const std::filesystem::path& model, bool wrong, const BackendChoice& backend,
                           const AccuracyChoice& accuracy = {}, const InputOptions& inputs = {},
                           const LimitOptions& limits = {});

}  // namespace whittle::cli
