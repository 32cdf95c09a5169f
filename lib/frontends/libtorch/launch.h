// launch(): runs a program under capture. To the program everything is as without us: arguments, environment, streams,
// signals, exit status.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace whittle::libtorch {

struct CaptureLimits {
    std::uint64_t bytes = std::uint64_t{2} << 30;  ///< of the event file
    double seconds = 600;                          ///< after the start; then the program runs on uncaptured
};

struct LaunchOptions {
    std::filesystem::path program;
    std::vector<std::string> arguments = {};
    CaptureLimits limits = {};
    bool with_data = false;         ///< inputs, weights and results too, not only what they are
    bool with_times = false;        ///< how long each op took
    bool with_hashes = false;       ///< hashes in the place of the operations
    bool with_ring = false;         ///< of the operations the last alone, in `limits.bytes`
    bool until_nan = false;         ///< up to the first whose result has a NaN
    std::uint64_t only = 0;         ///< the one operation that is captured, see StartFunction; 0: all are
    bool stdout_to_stderr = false;  ///< the program's output goes to stderr
    std::vector<std::pair<std::string, std::string>> environment = {};  ///< added to ours
    std::filesystem::path preload = {};  ///< a library beside the stub, for the program's children, too; empty: none
};

struct LaunchResult {
    int exit_code = 0, signal = 0;              ///< signal 0: it exited
    double seconds = 0;                         ///< that it took
    std::vector<std::filesystem::path> events;  ///< a file for each process of which something was captured
    std::vector<std::string> notes;             ///< why nothing was
    std::string status_text() const;            ///< "exit status 3", "killed by SIGSEGV"
};

/// The first event file's name in the folder of launch().
inline constexpr char kEventFile[] = "events";
/// Those that are there, in the order in which their processes began; a process that asked for one, but whose recorder
/// could not start, leaves it empty.
std::vector<std::filesystem::path> event_files(const std::filesystem::path& folder);
/// A program writes to the event file now: it is there, and neither cut nor finished.
bool is_recording(const std::filesystem::path& events);

/// What to install where the capture library was not built.
inline constexpr char kHowToGetIt[] =
    "install libtorch-dev and libunwind-dev, and build Whittle again; or install the package whittle-libtorch";

/// The libtorch_cpu that the capture library was built for, "" when it was not built.
std::string built_for();

/// The program that runs a module of torch.jit.save(), see tools/torchscript.cpp. Throws Error naming the module where
/// it was not built.
std::filesystem::path torchscript_runner(const std::filesystem::path& module);
/// Whether the path is that program's: its main is not the user's code.
bool is_torchscript_runner(const std::filesystem::path& program);

/// libwhittle_capture.so, the stub, which is preloaded into programs.
std::filesystem::path stub_library();
/// LD_PRELOAD, and what the stub needs to give the program the user's one back: the stub, the library `more` (empty:
/// none) and what the user preloads. `folder` takes a link to the stub, where LD_PRELOAD cannot name it.
std::vector<std::pair<std::string, std::string>> preload_variables(const std::filesystem::path& more,
                                                                   const std::filesystem::path& folder);

/// `folder` takes the event files. Throws Error when the program cannot be started.
LaunchResult launch(const LaunchOptions& options, const std::filesystem::path& folder);

}  // namespace whittle::libtorch
