// Backends in shared libraries, through the C interface of whittle_backend.h.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "graph/backend.h"

namespace whittle {

/// One backend that a library exports.
struct PluginInfo {
    std::string name, description;
};

/// The backends of a library, in its order. Throws Error when it cannot be loaded, exports none, or was built for
/// another major version of the interface. A library stays loaded until the process ends.
std::vector<PluginInfo> plugin_backends(const std::filesystem::path& library);

/// The backend `name` of a library; an empty name is its only one. Throws Error as above, and for an unknown name.
/// Whatever the library does wrong after that (missing or malformed outputs, exceptions) is a BackendFailure.
std::unique_ptr<Backend> load_plugin(const std::filesystem::path& library, const std::string& name);

}  // namespace whittle
