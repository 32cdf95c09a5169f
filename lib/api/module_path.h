// Which module's forward() the calling thread is in.
#pragma once

#include <string>

namespace whittle::api {

/// Empty outside of any.
const std::string& current_module_path();

}  // namespace whittle::api
