// Texts that are held against files of the source tree.
#pragma once

#include <catch2/catch.hpp>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/files.h"

namespace whittle::test {

/// `file` is below test/. WHITTLE_UPDATE_GOLDENS=1 in the environment rewrites it.
inline void check_golden(const std::string& file, const std::string& got) {
    const std::filesystem::path path = std::filesystem::path(WHITTLE_SOURCE_DIR) / "test" / file;
    if (std::getenv("WHITTLE_UPDATE_GOLDENS")) write_file(path, got);
    INFO("the text has changed; WHITTLE_UPDATE_GOLDENS=1 rewrites " << path);
    CHECK(got == read_file(path));
}

}  // namespace whittle::test
