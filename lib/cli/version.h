// The version, the compiler, the libraries built in, and what was left out.
#pragma once

#include <map>
#include <string>

namespace whittle::cli {

/// "0.1.0".
std::string version_number();
/// What --version prints for one program: several lines.
std::string version_text(const std::string& program);

/// "whittle", "compiler", "libraries".
std::map<std::string, std::string> build_info();

}  // namespace whittle::cli
