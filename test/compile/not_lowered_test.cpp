#include <catch2/catch.hpp>

#include "compile/planned.h"
#include "graph/text.h"
#include "ops/core/registry.h"

namespace whittle {

TEST_CASE("a call that nothing uses needs no kernel") {
    const auto missing = [](const std::string& result) {
        return program::not_lowered(parse(R"(graph g {
  %x = placeholder["x"] : f32[4]
  %r = aten.rand.default([4]) : f32[4]
  %y = aten.relu.default(%x) : f32[4]
  return (%)" + result + ")\n}\n"));
    };
    CHECK(missing("y").empty());
    CHECK(missing("r") == std::vector<std::string>{"aten.rand.default"});
}

}  // namespace whittle
