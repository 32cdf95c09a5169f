// The C++ program that shows what directives do to a captured pipeline: it runs the pipeline with its schedule, and
// compares with the pipeline without directives.
#pragma once

#include <filesystem>
#include <span>
#include <string>

#include "graph/emitter.h"
#include "graph/failure.h"
#include "repro/schedule/pipeline_code.h"
#include "tensor/compare.h"

namespace whittle::repro {

struct ScheduleProgramRequest {
    const Failure& failure;      ///< "mismatch", "exception", "crash" or "timeout"
    std::filesystem::path file;  ///< the program's name
    std::int64_t alarm = 60;     ///< seconds after which it counts as hung
};

/// `message`: what it prints, where that is known.
ReproProgram schedule_program(const PipelineCode& code, const ScheduleProgramRequest& request,
                              const std::string& message = {});

/// One program of several pipelines: run with "N", pipeline N ends as its own program would; with "N control" its
/// control.
std::string candidates_program(std::span<const PipelineCode> candidates, const ScheduleProgramRequest& request);

/// One program of several runs: run with "N", it writes the results of run N as 0.bin, 1.bin …, each its elements from
/// the innermost dimension on.
std::string runs_program(std::span<const PipelineCode> runs);

}  // namespace whittle::repro
