// Makes a captured pipeline smaller as long as it fails in the same way, and passes without the culprits.
#pragma once

#include <chrono>
#include <cstddef>
#include <filesystem>

#include "repro/schedule/program_text.h"

namespace whittle::repro {

struct ShrinkRequest {
    ScheduleProgramRequest program;
    InputValues values = InputValues::made_up;
    std::filesystem::path inputs = {};  ///< where the files of the pipeline's inputs lie
    std::size_t culprits = 0;           ///< so many are named
    std::string message = {};           ///< of an exception: what the failing program printed
    std::chrono::steady_clock::time_point end = {};
};

/// Candidates are built and run several at a time: outputs, sizes, definitions, and directives are tried in turns.
/// Counts those that were tried.
halide_program::CapturedPipeline shrink(halide_program::CapturedPipeline pipeline, const ShrinkRequest& request,
                                        std::size_t& tried);

}  // namespace whittle::repro
