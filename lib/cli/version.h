// What --version says: the version, the compiler, the libraries built in, and what was left out.
#pragma once

#include <string>

namespace whittle::cli {

/// Several lines, for one program.
std::string version_text(const std::string& program);

}  // namespace whittle::cli
