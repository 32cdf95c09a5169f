// The text templates of share/templates, built into the library.
#pragma once

#include <map>
#include <string>
#include <string_view>

namespace whittle::repro {

/// The template share/templates/NAME.in with every @KEY@ replaced by its value. A key that is missing is a bug.
std::string expand(std::string_view name, const std::map<std::string, std::string>& values);

}  // namespace whittle::repro
