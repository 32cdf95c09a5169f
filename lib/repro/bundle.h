// A bundle: a repro with everything that it takes to show, replay or go on minimizing the failure on another machine.
#pragma once

#include <filesystem>
#include <set>
#include <vector>

#include "repro/emit.h"
#include "repro/repro.h"

namespace whittle::repro {

/// Adds to a folder that holds repro.cpp and its sidecars:
///   run.sh                    the exact commands: builds and runs it; `sh run.sh control` runs the control
///   candidate.json            the graph with its failure, for minify, repro and explain
///   candidate.onnx, test_data_set_0/   the same for other tools, when the graph is in the ONNX dialect
///   record/                   for replay
///   environment.txt, README.txt
///   contents.txt              the names of all these; see note_contents()
/// and the emission's companions (a plug-in library, a command's scripts).
/// Throws Error when something cannot be written.
void write_bundle(const std::filesystem::path& folder, const Graph& graph, const std::vector<Tensor>& expected,
                  const Emission& emission, const Report& report, const Options& options);

/// The files below `folder`, relative to it.
std::set<std::filesystem::path> files_below(const std::filesystem::path& folder);

/// Notes in contents.txt what the bundle in `folder` consists of, after removing what an older one consisted of and
/// this one does not; files that are nobody's bundle stay.
void note_contents(const std::filesystem::path& folder, const std::set<std::filesystem::path>& files);

}  // namespace whittle::repro
