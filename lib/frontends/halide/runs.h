// Recorded runs of pipelines, as files of a trace: `trace` writes them, `replay` runs them again.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "frontends/halide/program.h"

namespace whittle::halide_program {

/// The runs of one pipeline.
struct RecordedRuns {
    std::string name = {};  ///< of its outputs: "blur"
    std::vector<CapturedRun> runs = {};
    std::filesystem::path folder = {};  ///< of the files of inputs and results
};

struct SavedRuns {
    struct Record {
        std::filesystem::path file = {};  ///< relative to the trace's folder
        std::string name = {};
        std::size_t runs = 0;
    };
    std::vector<Record> records = {};
    std::vector<std::filesystem::path> data = {};  ///< files beside the records, relative to the trace's folder
    std::vector<std::string> notes = {};           ///< which runs were not recorded, and why
};

/// Writes halide/NAME.json into the folder of a trace for each pipeline that ran, with the files of its inputs and
/// results, which lie in `data`, in halide/NAME. Throws Error where files cannot be written.
SavedRuns save_runs(const Program& program, const std::filesystem::path& data, const std::filesystem::path& folder);

/// Throws Error for a damaged file.
RecordedRuns load_runs(const std::filesystem::path& file);

}  // namespace whittle::halide_program
