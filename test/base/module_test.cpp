#include "base/module.h"

#include <catch2/catch.hpp>
#include <string>

#include "base/error.h"

using namespace whittle;

namespace {
const std::string kFolder = WHITTLE_TEST_MODULES;
}

TEST_CASE("modules lie beside the library that loads them") {
    CHECK(std::filesystem::exists(library_folder() / "libwhittle.so"));
}

TEST_CASE("a function of a module of this build is found") {
    auto* const answer = reinterpret_cast<int (*)()>(module_symbol_in(kFolder + "/module_same.so", "answer"));
    CHECK(answer() == 42);
    CHECK_THROWS_WITH(module_symbol_in(kFolder + "/module_same.so", "question"),
                      Catch::Contains("module_same.so") && Catch::Contains("found no symbol 'question'"));
}

TEST_CASE("a module of another build, of nobody's, or none at all is refused by name") {
    CHECK_THROWS_WITH(module_symbol_in(kFolder + "/module_other.so", "answer"),
                      Catch::Contains("module_other.so") && Catch::Contains("another build"));
    CHECK_THROWS_WITH(module_symbol_in(kFolder + "/module_none.so", "answer"), Catch::Contains("found no build id"));
    CHECK_THROWS_WITH(module_symbol("no-such-module", "answer"),
                      Catch::Contains("libwhittle-no-such-module.so") && Catch::Contains("no such file"));
    CHECK_THROWS_AS(module_symbol_in(WHITTLE_SOURCE_DIR "/README.md", "answer"), Error);
}
