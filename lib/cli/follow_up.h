// --minify of trace and explain: a failure that was met is minimized, made a repro and verified, all in one command.
// The work is done by the programs minify and repro beside this one, whose reports appear in place.
#pragma once

#include <filesystem>
#include <ostream>
#include <string>
#include <vector>

#include "cli/backend_choice.h"
#include "cli/model.h"

namespace whittle::cli {

class Tool;

struct FollowUp {
    std::filesystem::path model = {};   ///< what to minify; a trace folder may hold several failures
    std::filesystem::path output = {};  ///< NAME.json; of several failures NAME-1.json …; repros are NAME.cpp
    BackendChoice backend = {};
    InputOptions inputs = {};
};

/// Where minify writes the result of one of several failures, from 1 on: NAME-1.json of NAME.json.
std::filesystem::path numbered_result(std::filesystem::path output, std::size_t number);

/// "minify MODEL --backend B --accuracy …", ready to paste.
std::string minify_command(const FollowUp& wanted);

/// What became of it.
struct FollowedUp {
    bool failing = false;                             ///< minify found a failure
    bool verified = false;                            ///< every failure has a repro that shows it
    std::vector<std::filesystem::path> results = {};  ///< minimized graphs
    std::vector<std::filesystem::path> repros = {};
};

/// Runs minify, and repro on each of its results; their reports go to `report`, what they write to stderr to ours.
/// Throws Error when a program is missing or is given something that it cannot read.
FollowedUp follow_up(const FollowUp& wanted, std::ostream& report);

}  // namespace whittle::cli
