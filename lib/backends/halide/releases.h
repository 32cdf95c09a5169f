// Releases of Halide besides the one that Whittle was built with. Each is this library, built for that release by
// share/backends/halide/install. A process has one of them; the others answer in worker processes
// (tools/halide_worker.cpp), or take this one's place in a process that is started with LD_PRELOAD.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "graph/backend.h"

namespace whittle::halide {

/// All that are installed and fit this process, oldest first: "14", "19". That of Whittle's own build is one of them.
std::vector<std::string> installed_releases();
/// The command that installs the release.
std::string release_installer(const std::string& release);
/// The one that `options` choose; Whittle's own, where they do not. Throws Error for one that is not installed.
std::string chosen_release(const BackendOptions& options);
/// Its library, where this process is another release; else empty. Throws as chosen_release().
std::filesystem::path library_for(const BackendOptions& options);
/// What follows "g++ -std=c++17 -O1 repro.cpp -o repro" for this release, which is installed. Throws Error where its
/// installation does not say it.
std::vector<std::string> compile_flags_of(const std::string& release);
BackendOptions without_release(BackendOptions options);

/// Those that other processes run. Safe to ask from several threads.
class ReleaseWorkers {
  public:
    /// The backend that runs the release that `options` choose, with options that do not choose one; null where this
    /// process is that release. Throws as chosen_release().
    Backend* of(const BackendOptions& options);

  private:
    std::mutex mutex_;
    std::map<std::filesystem::path, std::unique_ptr<Backend>> workers_;  ///< by their libraries
};

}  // namespace whittle::halide
