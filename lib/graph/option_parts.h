// Options of backends that hold several names: "disable=fuse;cse".
#pragma once

#include <string>
#include <vector>

#include "graph/backend.h"

namespace whittle {

/// What stands between ';' in the option `key`; empty parts are none, as is an option that is not there.
std::vector<std::string> option_parts(const BackendOptions& options, const std::string& key);

}  // namespace whittle
