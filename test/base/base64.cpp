#include "base/base64.h"

#include <catch2/catch.hpp>

using namespace whittle;

TEST_CASE("base64 is that of RFC 4648, section 10", "[base64]") {
    CHECK(base64("").empty());
    CHECK(base64("f") == "Zg==\n");
    CHECK(base64("fo") == "Zm8=\n");
    CHECK(base64("foo") == "Zm9v\n");
    CHECK(base64("foobar") == "Zm9vYmFy\n");
    CHECK(base64(std::string("\xff\xfe\0", 3)) == "//4A\n");
}

TEST_CASE("base64 has lines of 76 characters", "[base64]") {
    const std::string zeros(58, '\0');  // 57 are a line
    CHECK(base64(zeros.substr(1)) == std::string(76, 'A') + "\n");
    CHECK(base64(zeros) == std::string(76, 'A') + "\nAA==\n");
}
