// A bundle: a repro with everything that it takes to show, replay or go on minimizing the failure on another machine.
#pragma once

#include <filesystem>
#include <set>

#include "repro/repro.h"

namespace whittle::repro {

/// Adds to a folder that holds the program with its companions and all that it reads:
///   run.sh                    the exact commands: builds and runs it; `sh run.sh control` runs the control
///   candidate.json            the graph with its failure, for minify, repro and explain
///   candidate.onnx, test_data_set_0/   the same for other tools, when the graph is in the ONNX dialect
///   record/                   for replay
///   environment.txt, README.txt, ISSUE.md (issue.h)
///   contents.txt              the names of all these; see note_contents()
/// Throws Error when something cannot be written.
void write_bundle(const std::filesystem::path& folder, const Repro& repro, const Options& options);

/// The files below `folder`, relative to it.
std::set<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// Notes in contents.txt what the bundle in `folder` consists of, after removing what an older one consisted of and
/// this one does not; files that are nobody's bundle stay.
void note_contents(const std::filesystem::path& folder, const std::set<std::filesystem::path>& files);

}  // namespace whittle::repro
