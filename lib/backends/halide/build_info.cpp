#include "backends/halide/build_info.h"

#include <sstream>

#include "backends/halide/definitions.h"

namespace whittle::halide {

std::string version() { return WHITTLE_HALIDE_VERSION; }

std::string description() { return WHITTLE_HALIDE_VERSION ", target " + default_target(); }

std::string host_description() { return WHITTLE_HALIDE_VERSION ", target " + host_target(); }

int major_version() { return WHITTLE_HALIDE_MAJOR; }

std::vector<std::string> compile_flags() {
    std::vector<std::string> flags;
    std::istringstream words(WHITTLE_HALIDE_FLAGS);
    for (std::string word; words >> word;) flags.push_back(word);
    return flags;
}

}  // namespace whittle::halide
