// Whether the program's LibTorch is the one whose headers we were compiled with. Its file's name says so only where it
// has a version in it: official distributions call all of them libtorch_cpu.so.
#include <torch/version.h>

#include <cstdio>
#include <map>
#include <string>

namespace caffe2 {
/// Of libtorch_cpu, in every version; its header is not installed everywhere. "TORCH_VERSION" is "1.13.0".
const std::map<std::string, std::string>& GetBuildOptions();
}  // namespace caffe2

/// Null: it is; the same major and minor version have the same layouts. Otherwise "2.1.0 1.13.0": what it is, and what
/// it would have to be. Touches nothing else of LibTorch.
extern "C" __attribute__((visibility("default"))) const char* whittle_capture_other_version() {
    static char versions[128];
    const auto& options = caffe2::GetBuildOptions();
    const auto told = options.find("TORCH_VERSION");
    const std::string version = told == options.end() ? "unknown" : told->second;
    const std::string ours = std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR) + ".";
    if (version.compare(0, ours.size(), ours) == 0) return nullptr;
    std::snprintf(versions, sizeof versions, "%s %s", version.c_str(), TORCH_VERSION);
    return versions;
}
