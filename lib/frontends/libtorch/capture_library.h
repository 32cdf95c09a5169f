// Capture libraries: one for each version and C++ ABI of LibTorch, built with Whittle or, later, by
// scripts/build-capture for a LibTorch that lies anywhere.
#pragma once

#include <filesystem>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "frontends/libtorch/capture/choice.h"

namespace whittle::libtorch {

struct CaptureLibrary {
    TorchFacts torch;  ///< that it was built against
    std::filesystem::path path;
};

/// The folder of the stub and of the capture library that was built with Whittle, seen from this program.
std::filesystem::path capture_folder();
/// All that are there: that of Whittle, those of folders in `capture` beside it, those of `whittle/capture` in
/// $XDG_DATA_HOME or ~/.local/share. Of another interface than this Whittle's: `outdated`.
struct CaptureLibraries {
    std::vector<CaptureLibrary> usable = {};
    std::vector<std::filesystem::path> outdated = {};
};
CaptureLibraries capture_libraries();
/// What a capture library says that it shares with the stub and this program: a hash of all that it is
/// compiled from.
std::string_view capture_interface();
/// As the stub reads it, see choice.h.
std::string list_of(const std::vector<CaptureLibrary>& libraries);

/// Reads the first four words of a line of that list.
bool parse(std::istream& words, TorchFacts& facts);

/// "LibTorch 2.6.0 (libtorch_cpu.so.2.6, C++11 ABI)"
std::string name_of(const TorchFacts& torch);
/// Why the LibTorch of the program, which lies in `file`, is not captured, with the command that helps.
std::string why_not_captured(const TorchFacts& torch, const std::filesystem::path& file,
                             const CaptureLibraries& libraries);
/// A note on a version that none of Whittle's tests ran; empty for one that they do.
std::string note_of_version(const std::string& version);

/// Where scripts/build-capture is, of an installation or of the sources around this program; for a shell.
std::string build_command();

}  // namespace whittle::libtorch
