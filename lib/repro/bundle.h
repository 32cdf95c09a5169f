// A bundle: a repro with everything that it takes to show, replay or go on minimizing the failure on another machine.
#pragma once

#include <filesystem>
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
/// and the emission's companions (a plug-in library, a command's scripts).
/// Throws Error when something cannot be written.
void write_bundle(const std::filesystem::path& folder, const Graph& graph, const std::vector<Tensor>& expected,
                  const Emission& emission, const Report& report, const Options& options);

}  // namespace whittle::repro
