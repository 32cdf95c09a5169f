// How a repro is written and verified, as options of repro, and of repro report, which writes a bug report, too.
#pragma once

#include <span>
#include <utility>

#include "repro/repro.h"

namespace whittle::cli {

class Tool;
struct UsedFiles;

/// -o.
void declare_output(Tool& tool, repro::Options& options);
/// --python.
void declare_python(Tool& tool, repro::Options& options);
/// What is written, and how it is verified.
void declare_repro(Tool& tool, repro::Options& options);
/// What a bug report says, and where it goes.
void declare_report(Tool& tool, repro::Options& options);

/// Those that are written.
void add_to(UsedFiles& files, const repro::Options& options);

/// An option, and whether it was given.
using GivenOption = std::pair<const char*, bool>;
/// Throws Error for one of `others` and for what only a repro has where --python is given, for numbers out of range,
/// for a name that no compiler would take for C++, for a folder that is no bundle of ours, and for a backend that is
/// not there.
void check_usage(const repro::Options& options, std::span<const GivenOption> others);

/// What nobody types: the command line, which is the tool's, and the environment in which `backend` fails.
void add_circumstances(repro::Options& options, const Tool& tool, const std::string& backend);

}  // namespace whittle::cli
