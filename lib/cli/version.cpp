#include "cli/version.h"

namespace whittle::cli {

// The macros are set for this file in lib/CMakeLists.txt.

std::string version_number() { return WHITTLE_VERSION; }

std::string version_text(const std::string& program) {
    const std::string without = WHITTLE_BUILT_WITHOUT;
    return program +
           " (Whittle " WHITTLE_VERSION ")\nbuilt by " WHITTLE_COMPILER ", " WHITTLE_BUILD_TYPE
           "\nwith " WHITTLE_BUILT_WITH "\n" +
           (without.empty() ? "" : "without " + without + "\n");
}

std::map<std::string, std::string> build_info() {
    return {{"whittle", WHITTLE_VERSION " (" WHITTLE_BUILD_TYPE ")"},
            {"compiler", WHITTLE_COMPILER},
            {"libraries", WHITTLE_BUILT_WITH}};
}

}  // namespace whittle::cli
