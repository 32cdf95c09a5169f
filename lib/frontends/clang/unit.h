// Reading one C++ source file with Clang: analyze() and add_probes(). Nothing outside this folder includes
// Clang's headers.
#pragma once

#include <string>
#include <vector>

#include "frontends/cpp/analysis.h"

namespace whittle::cpp {

/// Whether this build has Clang. Without it the functions below throw Error saying what to install.
bool clang_available();

/// A source file and the flags that Clang needs to read it (see clang_flags in command.h).
struct Unit {
    std::string file = {};
    std::vector<std::string> flags = {};
};

/// What is to be found in the main file. Throws Error with the compiler's first error when Clang cannot parse it.
Analysis analyze(const Unit& unit);

/// The main file with probes. Bodies of functions in system headers are not read. Throws Error as analyze does, and for
/// a language standard before C++14, which the probes need.
Probed add_probes(const Unit& unit);

}  // namespace whittle::cpp
