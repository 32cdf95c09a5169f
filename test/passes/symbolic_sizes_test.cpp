#include "passes/symbolic_sizes.h"

#include <catch2/catch.hpp>

#include "graph/text.h"
#include "ops/core/registry.h"

using namespace whittle;

namespace {

/// Formulas of the outputs, then relations, then fixed symbols; every dimension of every input named after '?' varies.
std::string sizes_of(const std::string& text, const std::vector<std::pair<std::size_t, std::size_t>>& varying) {
    Graph graph = parse(text);
    infer_all(graph);
    std::vector<SizeSymbol> symbols;
    for (const auto& [input, dim] : varying)
        symbols.push_back({"s" + std::to_string(symbols.size()), graph.placeholders().at(input), dim});
    const SymbolicSizes found = symbolic_sizes(graph, symbols);
    std::string result;
    for (const NodeId id : graph.outputs()) {
        result += "[";
        for (const std::string& dim : found.sizes.at(static_cast<std::size_t>(id)))
            result += (result.ends_with('[') ? "" : ", ") + dim;
        result += "]";
    }
    for (const SizeRelation& relation : found.relations) result += " " + print(relation, symbols);
    for (const SymbolicSizes::Range& range : found.ranges) {
        const auto by = [&](const SymbolicSizes::Refusal& refusal) { return graph.node({refusal.node}).target; };
        const std::string& name = symbols[range.symbol].name;
        if (range.least) result += " " + name + " >= " + std::to_string(*range.least) + " by " + by(range.below);
        if (range.most) result += " " + name + " <= " + std::to_string(*range.most) + " by " + by(range.beyond);
    }
    for (std::size_t i = 0; i < symbols.size(); ++i)
        if (found.fixed[i]) result += " fixed:" + symbols[i].name;
    return result;
}

}  // namespace

TEST_CASE("sizes follow from the inputs' sizes", "[symbolic_sizes]") {
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[5, 3]
  %w = placeholder["w"] : f32[3, 7]
  %m = aten.matmul.default(%x, %w) : f32[5, 7]
  %c = aten.cat.default([%m, %m], 0) : f32[10, 7]
  %p = aten.constant_pad_nd.default(%c, [0, 0, 1, 2]) : f32[13, 7]
  %s = aten.slice.Tensor(%x, 0, 0, 9223372036854775807, 2) : f32[3, 3]
  %f = aten.flatten.using_ints(%x, 0, -1) : f32[15]
  return (%m, %c, %p, %s, %f)
}
)",
                   {{0, 0}}) == "[s0, 7][2*s0, 7][2*s0 + 3, 7][(s0 + 1)//2, 3][3*s0]");
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[5, 4]
  %f = aten.flatten.using_ints(%x, 0, -1) : f32[20]
  %t = aten.t.default(%x) : f32[4, 5]
  return (%f, %t)
}
)",
                   {{0, 0}, {0, 1}}) == "[s0*s1][s1, s0]");
}

TEST_CASE("the sizes that operations take are found, with who refuses others", "[symbolic_sizes]") {
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[9, 3]
  %n = aten.narrow.default(%x, 0, 2, 5) : f32[5, 3]
  %u = aten.unfold.default(%x, 0, 4, 1) : f32[6, 3, 4]
  return (%n, %u)
}
)",
                   {{0, 0}}) == "[5, 3][s0 - 3, 3, 4] s0 >= 7 by aten.narrow.default");
    // In steps, and with one that follows.
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[16]
  %y = placeholder["y"] : f32[4]
  %v = aten.view.default(%x, [-1, 4]) : f32[4, 4]
  %u = aten.unfold.default(%v, 0, 3, 1) : f32[2, 4, 3]
  %z = aten.add.Tensor(%v, %y) : f32[4, 4]
  return (%u, %z)
}
)",
                   {{0, 0}}) == "[(s0 - 5)//4, 4, 3][s0//4, 4] s0 % 4 == 0 s0 >= 12 by aten.unfold.default");
}

TEST_CASE("nested graphs have the sizes of what they are given", "[symbolic_sizes]") {
    CHECK(sizes_of(R"(graph g {
  @yes = graph yes {
    %a = placeholder["a"] : f32[6, 2]
    %b = placeholder["b"] : f32[6]
    %v = aten.view.default(%a, [12]) : f32[12]
    return (%v)
  }
  @no = graph no {
    %a = placeholder["a"] : f32[6, 2]
    %b = placeholder["b"] : f32[6]
    %c = aten.cat.default([%b, %b], 0) : f32[12]
    return (%c)
  }
  %p = placeholder["p"] : bool[]
  %x = placeholder["x"] : f32[6, 2]
  %y = placeholder["y"] : f32[6]
  %r = higher_order.cond(%p, @yes, @no, [%x, %y]) : f32[12]
  return (%r)
}
)",
                   {{1, 0}, {2, 0}}) == "[2*s0] s1 == s0");
    CHECK(sizes_of(R"(graph g {
  @body = graph body {
    %a = placeholder["a"] : f32[5]
    %w = placeholder["w"] : f32[5]
    %m = aten.mul.Tensor(%a, %w) : f32[5]
    %n = aten.narrow.default(%m, 0, 1, 3) : f32[3]
    return (%m, %n)
  }
  %x = placeholder["x"] : f32[4, 5]
  %w = placeholder["w"] : f32[5]
  %r = higher_order.map(@body, [%x], [%w]) : (f32[4, 5], f32[4, 3])
  %m = getitem(%r, 0) : f32[4, 5]
  %n = getitem(%r, 1) : f32[4, 3]
  return (%m, %n)
}
)",
                   {{0, 0}, {0, 1}, {1, 0}}) == "[s0, s1][s0, 3] s2 == s1 s1 >= 4 by higher_order.map");
}

TEST_CASE("what operations rely on is found", "[symbolic_sizes]") {
    const std::string add = R"(graph g {
  %x = placeholder["x"] : f32[6]
  %y = placeholder["y"] : f32[6]
  %z = aten.add.Tensor(%x, %y) : f32[6]
  return (%z)
}
)";
    CHECK(sizes_of(add, {{0, 0}, {1, 0}}) == "[s0] s1 == s0");
    CHECK(sizes_of(add, {{0, 0}}) == "[6] fixed:s0");
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[6]
  %y = placeholder["y"] : f32[2, 5]
  %v = aten.view.default(%x, [-1, 3]) : f32[2, 3]
  %z = aten.cat.default([%v, %y], 1) : f32[2, 8]
  return (%z)
}
)",
                   {{0, 0}, {1, 0}}) == "[s1, 8] s0 == 3*s1");
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[6]
  %v = aten.view.default(%x, [-1, 3]) : f32[2, 3]
  return (%v)
}
)",
                   {{0, 0}}) == "[s0//3, 3] s0 % 3 == 0");
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[6]
  %y = placeholder["y"] : f32[6]
  %u = placeholder["u"] : f32[6]
  %z = aten.add.Tensor(%x, %y) : f32[6]
  %w = aten.add.Tensor(%z, %u) : f32[6]
  return (%w)
}
)",
                   {{0, 0}, {1, 0}, {2, 0}}) == "[s0] s1 == s0 s2 == s0");
}

TEST_CASE("sizes that the program read and passed on move with their symbol", "[symbolic_sizes]") {
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[5, 4]
  %v = aten.view.default(%x, [2, 5, 2]) : f32[2, 5, 2]
  return (%v)
}
)",
                   {{0, 0}}) == "[2, s0, 2]");
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[5, 4]
  %v = aten.view.default(%x, [20]) : f32[20]
  return (%v)
}
)",
                   {{0, 0}}) == "[4*s0]");  // as it may be
    CHECK(sizes_of(R"(graph g {
  %x = placeholder["x"] : f32[6, 4]
  %v = aten.view.default(%x, [8, 3]) : f32[8, 3]
  return (%v)
}
)",
                   {{0, 0}}) == "[8, 3] fixed:s0");
}
