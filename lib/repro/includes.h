// The headers that a generated program needs.
#pragma once

#include <string>

namespace whittle::repro {

/// "#include <cmath>\n…": the system's headers, then the standard library's, whose names occur in the code. Code that
/// names something of a header that is not in the table of includes.cpp brings the header itself.
std::string includes_of(const std::string& code);

}  // namespace whittle::repro
