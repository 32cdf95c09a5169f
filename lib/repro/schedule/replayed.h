// Recorded runs of a pipeline of Halide, run again: each run becomes a function of one C++ program, which is built with
// the Halide that this process uses.
#pragma once

#include <filesystem>

#include "judge/outcome.h"
#include "replay/replay.h"
#include "tensor/compare.h"

namespace whittle::repro {

struct ReplayPipelineRequest {
    Limits limits = {};  ///< of each run
    Accuracy accuracy = {};
};

/// The first run that fails, or whose results differ from the recorded ones. $HL_JIT_TARGET and $HL_NUM_THREADS count,
/// the former also where the program had chosen a target itself. Throws Error for a damaged record, and where there is
/// no C++ compiler.
ReplayedPipeline replay_pipeline(const std::filesystem::path& record, const ReplayPipelineRequest& request);

}  // namespace whittle::repro
