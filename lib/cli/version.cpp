#include "cli/version.h"

namespace whittle::cli {

// The macros are set for this file in lib/CMakeLists.txt.
std::string version_text(const std::string& program) {
    return program + " (Whittle " WHITTLE_VERSION ")\n" +
           "built by " WHITTLE_COMPILER ", " WHITTLE_BUILD_TYPE
           "\n"
           "with " WHITTLE_BUILT_WITH
           "\n"
           "without " WHITTLE_BUILT_WITHOUT "\n";
}

}  // namespace whittle::cli
