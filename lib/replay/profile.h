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

/// Of as many threads as kernels have: $HL_NUM_THREADS, else one per processor. Measured once in a process.
const MachineSpeed& machine_speed();

/// The seconds that the machine needs at the least for so much arithmetic on so much memory (Williams, Waterman and
/// Patterson 2009, Roofline).
double least_seconds(const MachineSpeed& machine, std::int64_t flops, std::int64_t bytes);

}  // namespace whittle
