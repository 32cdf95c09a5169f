// `trace cc -- COMPILER ARGS…`: one compilation with capture probes, for use as CMAKE_CXX_COMPILER_LAUNCHER.
#pragma once

#include <span>
#include <string>

namespace whittle::cpp {

/// Compiles as the command says, with probes in the one C++ file that it compiles. Output file, depfile, diagnostics
/// and exit status are those of the compiler; a command that compiles no single C++ file is run as it is. When the file
/// cannot be probed (Clang cannot parse it or crashes, or the compiler refuses the result) it is compiled plain, and
/// one line on stderr says "trace cc: compiled plain: REASON". Returns the exit status. Throws Error when the compiler
/// cannot be started.
int compile_with_probes(std::span<const std::string> words);

}  // namespace whittle::cpp
