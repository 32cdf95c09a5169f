// The procedure, and what is written about it.
#include "debug/components.h"

#include <catch2/catch.hpp>

#include "base/files.h"

using namespace whittle;

TEST_CASE("the manual lists the backends in the order in which a diagnosis asks them") {
    const std::string manual = read_file(WHITTLE_SOURCE_DIR "/share/doc/backends.md");
    std::size_t last = 0;
    for (const debug::Component& component : debug::components()) {
        if (component.backend.empty()) continue;  // the suspect
        CAPTURE(component.backend);
        const std::size_t row = manual.find("\n| `" + std::string(component.backend) + "` |");
        REQUIRE(row != std::string::npos);
        CHECK(row > last);
        last = row;
    }
}
