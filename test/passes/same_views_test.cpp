// Views that undo each other.
#include "passes/same_views.h"

#include <catch2/catch.hpp>

#include "graph/text.h"
#include "passes/dce.h"

using namespace whittle;

namespace {

std::string tidied(const std::string& text, const std::set<NodeId>& kept = {}) {
    Origins origins;
    const Graph graph = parse(text), same = same_views(graph, kept, &origins);
    CHECK(origins.size() == same.nodes.size());
    return print(dce(same));
}

}  // namespace

TEST_CASE("what is transposed twice is what it was, and so is an alias") {
    CHECK(tidied(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %a = aten.neg.default(%x) : f32[2, 3]
  %t = aten.t.default(%a) : f32[3, 2] strides[1, 3]
  %u = aten.t.default(%t) : f32[2, 3]
  %v = aten.alias.default(%u) : f32[2, 3]
  %y = aten.exp.default(%v) : f32[2, 3]
  return (%y)
}
)") == R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %a = aten.neg.default(%x) : f32[2, 3]
  %y = aten.exp.default(%a) : f32[2, 3]
  return (%y)
}
)");
}

TEST_CASE("views of the same sizes that show other elements stay") {
    const std::string slices = R"(graph g {
  %x = placeholder["x"] : f32[4]
  %a = aten.slice.Tensor(%x, 0, 0, 3) : f32[3]
  %b = aten.as_strided.default(%a, [2], [1], 0) : f32[2]
  %c = aten.as_strided.default(%b, [2], [0], 1) : f32[2] strides[0]
  %d = aten.as_strided.default(%b, [1], [1], 1) : f32[1]
  %e = aten.slice.Tensor(%a, 0, 0, 1) : f32[1]
  %y = aten.add.Tensor(%c, %d) : f32[2]
  %z = aten.add.Tensor(%y, %e) : f32[2]
  return (%z)
}
)";
    CHECK(tidied(slices) == slices);
    const std::string rows = R"(graph g {
  %x = placeholder["x"] : f32[2, 2]
  %t = aten.t.default(%x) : f32[2, 2] strides[1, 2]
  %y = aten.exp.default(%t) : f32[2, 2] strides[1, 2]
  return (%y)
}
)";
    CHECK(tidied(rows) == rows);
}

TEST_CASE("a view that is kept stays what it is") {
    const std::string text = R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %t = aten.t.default(%x) : f32[3, 2] strides[1, 3]
  %u = aten.t.default(%t) : f32[2, 3]
  return (%u)
}
)";
    CHECK(tidied(text, {2}) == text);
    CHECK(tidied(text) == "graph g {\n  %x = placeholder[\"x\"] : f32[2, 3]\n  return (%x)\n}\n");
}
