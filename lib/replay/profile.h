// Profile of one graph on a backend: compiled and run in a child process, with what is seen of both.
#pragma once

#include <span>

#include "judge/outcome.h"
#include "trace/profile.h"

namespace whittle {

struct ProfileOptions {
    bool code = false;  ///< with the texts of kernels, for which a compiler may compile each once more
    Limits limits = {};
};

/// Spans of the compilation, the graph's time, its kernels where the backend has some, and its memory: measured where
/// the backend runs calls or kernels one by one, else from liveness. Where an output requires a gradient it is the
/// forward graph that is measured, as if none were wanted. What fails is told in the GraphProfile; then memory is from
/// liveness and nothing else is there.
Profile profile(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const BackendOptions& options,
                const ProfileOptions& how = {});

/// Of a graph that nobody runs.
MemoryProfile memory_by_liveness(const Graph& graph);

}  // namespace whittle
