// Environment variables as they are told to others.
#pragma once

#include <map>
#include <string>

namespace whittle::cli {

/// "$NAME" of those that change what is captured or compiled, or where a compiler and its parts are found; "(set)" in
/// the place of a value whose name says that it is a secret.
std::map<std::string, std::string> told_variables();

/// The user's and the machine's names and the home folder as USER, HOST and ~, and no passwords in addresses.
std::string without_private(const std::string& text);

}  // namespace whittle::cli
