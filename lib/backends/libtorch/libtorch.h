// The backends libtorch, which runs any graph through the dispatcher, call by call, the reference that is not ours; and
// ts, the whole graph through TorchScript, its optimizer and one of its fusers.
#pragma once

#include <memory>

#include "graph/backend.h"

namespace whittle {

/// An op that LibTorch has not (another dialect's, a later PyTorch's) runs as its decomposition; one without is
/// unsupported. Nested graphs are run as eager runs them, their calls by LibTorch. Ops that the registry does not
/// know run when LibTorch has them.
std::unique_ptr<Backend> make_libtorch_backend();

/// It consumes what was captured, in-place writes included, as a module whose parameters are the graph's attributes.
/// The profiling executor specializes a graph by what it sees in a first run: of each run of ours the last of as many
/// as that takes counts. Options: fuser=none|nnc|onednn, here none; optimize_for_inference=off|on, here off: the module
/// is frozen, and prepared for inference; library as of libtorch.
std::unique_ptr<Backend> make_ts_backend();

}  // namespace whittle
