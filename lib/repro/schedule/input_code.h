// The inputs of a captured pipeline as statements of a C++ program.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "repro/schedule/expressions.h"
#include "repro/schedule/pipeline_code.h"

namespace whittle::repro {

struct InputFiles {
    std::filesystem::path folder;  ///< where the files of the inputs lie
    std::string stem;              ///< of the program: those beside it begin with it
};

/// Of the inputs `used`. What is too long for the program is read from `files`.
std::string inputs_code(const halide_program::CapturedPipeline& pipeline, const std::set<std::string>& used,
                        ProgramNames& names, InputValues values, const InputFiles& from,
                        std::vector<PipelineCode::File>& files);

}  // namespace whittle::repro
