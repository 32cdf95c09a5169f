#include "graph/verify.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "graph/example.h"
#include "graph/text.h"

using namespace whittle;
using Catch::Contains;

namespace {

const TestSchemas kSchemas({{"aten.add.Tensor", "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor"},
                            {"aten.relu_.default", "relu_(Tensor(a!) self) -> Tensor(a!)"},
                            {"aten.split", "split(Tensor self) -> Tensor[]"},
                            {"aten.sort", "sort(Tensor self) -> (Tensor values, Tensor indices)"}});

std::string complaint(const Graph& graph, Stage stage = Stage::captured) {
    return thrown<Error>([&] { verify(graph, stage, kSchemas); });
}

std::string complaint_after(const std::function<void(Graph&)>& change, Stage stage = Stage::captured) {
    Graph graph = small_graph();
    change(graph);
    return complaint(graph, stage);
}

}  // namespace

TEST_CASE("legal graphs pass") {
    CHECK(complaint(small_graph(), Stage::functional).empty());
    CHECK(complaint(full_graph()).empty());
    CHECK(complaint(parse("graph g {\n%x = placeholder : f32[2]\n%s = aten.sort(%x) : (f32[2], i64[2])\n"
                          "%v = getitem(%s, 0) : f32[2]\nreturn (%v, %x)\n}"),
                    Stage::functional)
              .empty());
    CHECK(complaint(parse("graph g {\n%x = placeholder : f32[2]\n%s = aten.split(%x) : (f32[1], f32[1], f32[0])\n"
                          "return ()\n}"),
                    Stage::functional)
              .empty());
}

TEST_CASE("each rule is named with its graph and node") {
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[1].name = "input_1"; }),
               Contains("graph graph, node 1 %input_1: breaks the rule \"names are unique\""));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[0].name = "in put"; }),
               Contains("\"names are identifiers\": found \"in put\", expected \"in_put\""));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[0].name = ""; }), Contains("names are identifiers"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[2].args[0] = NodeRef{2}; }),
               Contains("node 2 %add = aten.add.Tensor: breaks the rule \"arguments are earlier nodes\": found node 2, "
                        "expected a node from 0 to 1"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[2].args[0] = NodeRef{-1}; }), Contains("are earlier nodes"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[2].kwargs[0].second = ArgList{NodeRef{77}}; }),
               Contains("are earlier nodes"));
    CHECK_THAT(complaint_after([](Graph& g) { std::swap(g.nodes[2], g.nodes[3]); }), Contains("output node is last"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes.pop_back(); }), Contains("exactly one output node"));
    CHECK_THAT(complaint_after([](Graph& g) { g.output({}); }), Contains("exactly one output node"));
    CHECK_THAT(complaint(Graph{}), Contains("exactly one output node"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[3].args[0] = 1; }), Contains("outputs are nodes"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[2].results.clear(); }), Contains("arguments are single values"));
    CHECK_THAT(complaint_after([](Graph& g) { g.attributes.clear(); }), Contains("attributes exist"));
    CHECK_THAT(complaint_after([](Graph& g) { g.attributes.begin()->second = Tensor(DType::f32, {4}); }),
               Contains("attributes fit their nodes\": found a tensor of f32[4]"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[0].results[0].sizes = {-2, 3}; }), Contains("well formed"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[0].results[0].strides = {1}; }), Contains("well formed"));
    CHECK_THAT(complaint_after([](Graph& g) {
                   g.nodes[0].results[0].sizes = {1LL << 40, 1LL << 40};
               }),
               Contains("fewer than"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[0].results.clear(); }), Contains("have one value"));
    CHECK_THAT(complaint_after([](Graph& g) {
                   g.nodes[2].kwargs.push_back({"alpha", 3});
               }),
               Contains("keyword arguments are unique"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[2].args[1] = GraphRef{"body"}; }),
               Contains("nested graphs exist"));
    CHECK_THAT(complaint_after([](Graph& g) { g.subgraphs["body"] = std::make_shared<const Graph>(); }),
               Contains("graph graph/body: breaks the rule \"exactly one output node\""));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[2].target = ""; }), Contains("calls name their op"));
    CHECK_THAT(complaint_after([](Graph& g) { g.failure.emplace().inputs = {Tensor(DType::f32, {9})}; }),
               Contains("recorded inputs fit the placeholders"));
    CHECK_THAT(complaint(parse("graph g {\n%x = placeholder : f32[2]\n%y = op(%x) : f32[2]\n"
                               "%z = placeholder : f32[2]\nreturn ()\n}")),
               Contains("placeholders come first"));
}

TEST_CASE("getitem has rules of its own") {
    const auto with = [](const std::string& line) {
        return complaint(parse("graph g {\n%x = placeholder : f32[2]\n%s = aten.sort(%x) : (f32[2], i64[2])\n" + line +
                               "\nreturn ()\n}"));
    };
    CHECK(with("%v = getitem(%s, 1) : i64[2]").empty());
    CHECK_THAT(with("%v = getitem(%s, 2) : i64[2]"),
               Contains("getitem is in range\": found index 2, expected an index from 0 to 1"));
    CHECK_THAT(with("%v = getitem(%s, -1) : i64[2]"), Contains("getitem is in range"));
    CHECK_THAT(with("%v = getitem(%s, 0) : i64[2]"), Contains("getitem has the type of the result it reads"));
    CHECK_THAT(with("%v = getitem(%x, 0) : f32[2]"), Contains("getitem reads one result"));
    CHECK_THAT(with("%v = getitem(%s) : f32[2]"), Contains("getitem reads one result"));
}

TEST_CASE("later stages ask for more") {
    const auto unknown = [](Graph& g) { g.nodes[2].target = "aten.unheard"; };
    CHECK(complaint_after(unknown).empty());
    CHECK_THAT(complaint_after(unknown, Stage::registered),
               Contains("every op is registered\": found the op aten.unheard"));
    CHECK_THAT(complaint_after([](Graph& g) { g.nodes[2].args.pop_back(); }, Stage::registered),
               Contains("arguments fit the schema\": aten.add.Tensor: parameter other: found nothing"));
    CHECK_THAT(complaint_after(
                   [](Graph& g) {
                       g.nodes[2].results.resize(2);
                       g.nodes[3].args.clear();
                   },
                   Stage::registered),
               Contains("results fit the schema"));
    const Graph mutating = parse(
        "graph g {\n%x = placeholder : f32[2]\n%y = aten.relu_.default(%x) : f32[2]\n"
        "return (%y)\n}");
    CHECK(complaint(mutating, Stage::registered).empty());
    CHECK_THAT(complaint(mutating, Stage::functional), Contains("functional graphs do not mutate"));
}
