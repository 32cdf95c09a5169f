// The debug folder: the artifacts of the log as files, in the order in which they were made, with an index that is
// right at any moment. Each run has a folder of its own, DIR/run_1, run_2 …: what is there already is never touched.
//
//   DIR/run_1/index.md
//   DIR/run_1/0001_main.graph_code.txt
//   DIR/run_1/0002_main.functional.aot_graphs.txt
//   DIR/run_1/f_0.0-1/0003_f_0.0-1.times.md         of a section
#pragma once

#include <array>
#include <chrono>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <string_view>

#include "base/log.h"

namespace whittle {

/// Which artifacts are written: all but the expensive ones, or as LIST says: the names of those that are ("guards,ir"),
/// or, each with a sign, what is otherwise than by default ("+assembly,-ir"). Throws Error for other words, naming
/// `place`.
std::array<bool, std::size(kAllLogArtifacts)> debug_parts(std::string_view list, std::string_view place);

class DebugFolder {
  public:
    /// Makes DIR, if need be. Throws Error when that, or a file in it, cannot be made.
    explicit DebugFolder(std::filesystem::path dir);

    /// The file of the text, written unless its section, a folder in the run's, has one with the same title and text.
    /// Empty: it cannot be written.
    std::filesystem::path write(LogArtifact artifact, std::string_view title, std::string_view text,
                                std::string_view section = {});
    /// A folder of that name in the run's, for other files; empty: it cannot be made.
    std::filesystem::path make_folder(const std::string& name);
    /// The section's folder, the first time that somebody asks who could tell of it; empty where it has no file.
    std::filesystem::path untold_folder_of(std::string_view section);
    /// DIR/run_N; empty until the first file is written.
    const std::filesystem::path& run() const { return run_; }
    const std::filesystem::path& dir() const { return dir_; }

  private:
    bool begin();

    std::filesystem::path dir_, run_;
    std::set<std::string> sections_, told_;                 ///< that have files, and those that were told
    std::map<std::string, std::filesystem::path> written_;  ///< by hash of what is in it
    int count_ = 0;
    std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace whittle
