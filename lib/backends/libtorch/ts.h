// The backend ts: the whole graph through TorchScript, its optimizer and one of its fusers.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle {

/// It consumes what was captured, in-place writes included, as a module whose parameters are the graph's attributes.
/// The profiling executor specializes a graph by what it sees in a first run: of each run of ours the last of as many
/// as that takes counts. Options: fuser=none|nnc|onednn, here none; optimize_for_inference=off|on, here off: the module
/// is frozen, and prepared for inference; library as of libtorch.
std::unique_ptr<Backend> make_ts_backend();

}  // namespace whittle
