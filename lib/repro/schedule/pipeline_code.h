// A captured pipeline as statements of a C++ program that uses Halide.
#pragma once

#include <cstdint>
#include <filesystem>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/halide/captured.h"
#include "repro/schedule/expressions.h"

namespace whittle::repro {

/// The values of the pipeline's inputs.
enum class InputValues : std::uint8_t {
    made_up,   ///< small numbers that the program computes
    ones,      ///< nothing else
    recorded,  ///< in the program where they are few, else in files beside it
};

struct PipelineCode {
    std::string inputs;                   ///< statements: buffers and params
    bool has_images = false;              ///< some of them are buffers
    std::string algorithm;                ///< Vars, domains, Funcs, definitions
    std::string schedule;                 ///< under `scheduled` and `with_culprit`
    std::string realize;                  ///< "out.realize({8})"
    std::string result;                   ///< "Buffer<int>", "Realization"
    std::vector<std::string> outputs;     ///< what is realized, each value: "out", "out[1]"
    std::vector<std::string> types;       ///< of these: "int32"
    std::vector<std::size_t> dimensions;  ///< of these
    std::vector<std::string> culprits;    ///< "rows.update().vectorize(r.x, 8)"
    struct File {
        std::string name;            ///< beside the program
        std::filesystem::path from;  ///< the .npy
    };
    std::vector<File> files;
};

/// "made up by the program".
std::string_view words(InputValues values);

/// `folder`: where the files of the pipeline's inputs lie. Throws Error where a Func has no definition: an external
/// function computes it.
PipelineCode code_of(const halide_program::CapturedPipeline& pipeline, InputValues values,
                     const std::filesystem::path& folder, const std::string& stem);

struct InputFiles {
    std::filesystem::path folder;  ///< where the files of the inputs lie
    std::string stem;              ///< of the program: those beside it begin with it
};

/// Of the inputs `used`. What is too long for the program is read from `files`.
std::string inputs_code(const halide_program::CapturedPipeline& pipeline, const std::set<std::string>& used,
                        ProgramNames& names, InputValues values, const InputFiles& from,
                        std::vector<PipelineCode::File>& files);

}  // namespace whittle::repro
