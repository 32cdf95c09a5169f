// write_repro(): a standalone program that shows a failure, see repro/repro.h; here from what the programs have.
#pragma once

#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "debug/frame.h"
#include "repro/repro.h"
#include "run/suspect.h"

namespace whittle::debug {

/// How the frame fails on the suspect, asked once; nothing where it does not. Throws Error when the reference cannot
/// run it or the suspect says that it does not support it.
std::optional<Failure> failure_of(const LoadedFrame& frame, const Suspect& suspect);

/// What the programs print of a repro. `failure` is the one it shows.
std::string to_text(const repro::Report& report, const Failure& failure, const repro::Options& options);
nlohmann::json to_json(const repro::Report& report);

}  // namespace whittle::debug
