// Minimizing and writing repros as the programs print it. minify is the first half alone; trace --minify and explain
// --minify go on to the repros.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "cli/minify_options.h"
#include "repro/follow.h"

namespace whittle::cli {

class Tool;

/// Minimizes the model, or each model of a folder (minify_models()), and prints what is found. Returns the exit status.
int minify(const Tool& tool, const MinifyOptions& options);
/// The command that was typed, with --resume.
std::string resume_command(const Tool& tool, const reduce::Strategy& search);
/// Notes that the search replaces the result of an earlier one: models of the same name, in different folders, have the
/// same default output.
void tell_of_earlier(const Tool& tool, const MinifyOptions& options);
/// The reductions that --delta-passes takes, a line each.
std::string passes_text();

/// A failure that was seen, and what becomes of it.
struct FollowUp {
    bool minify = false;    ///< it is taken all the way; else the next command is printed:
    std::string next = {};  ///< this one; empty: the one that was typed, with --minify
    bool scratch = false;   ///< the model is gone when the report is read, which does not name it then
    /// A trace folder may hold several failures: of these, the output NAME.json is NAME-1.json …. Repros are NAME.cpp.
    MinifyOptions asked = {};
};

/// Of a model file that fails, unlike the graph that is read from it: a part of the file is looked for.
FollowUp of_file(bool minify, MinifyOptions asked);

/// With wanted.minify: repro::follow(), where wrong results are failures. Reports go to `report` unless the tool prints
/// JSON; its JSON is added to `json`. Else one line, "next: " and a command that is ready to paste.
repro::Followed follow_up(const Tool& tool, const FollowUp& wanted, std::ostream& report, nlohmann::json& json);

/// The command that makes a failure of `model` small, ready to paste. `wrong`: of wrong results.
std::string minify_command(const std::filesystem::path& model, bool wrong, const RunOptions& options);

/// minify DIR: runs minify for each model of options.model (models_in()), as a process of its own, several at a time
/// and on other machines, if wanted; prints the distinct bugs among them. Of each, options.output (a folder) gets the
/// minimized graph and, at the end, what minify said: with --resume that is not asked again, and a search that was
/// stopped goes on from its journal. Returns the exit status.
int minify_models(const Tool& tool, const MinifyOptions& options);

}  // namespace whittle::cli
