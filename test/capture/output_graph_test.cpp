#include <catch2/catch.hpp>

#include "capture/output_graph.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/registry.h"

using namespace whittle;
using namespace whittle::capture;

namespace {

ValueMeta f32(Sizes sizes) { return ValueMeta::contiguous(DType::f32, std::move(sizes)); }
Source x() { return Source::local("x"); }

NodeRef relu(OutputGraph& graph, NodeRef operand) {
    return graph.call({.target = "aten.relu.default", .args = {Arg(operand)}, .results = {f32({2, 3})}}).at(0);
}

}  // namespace

TEST_CASE("sources are spelled as the guide spells them") {
    const Source weight = Source::local("self").attribute("layers").item(2).attribute("weight");
    CHECK(weight.text() == "L['self'].layers[2].weight");
    CHECK(weight.placeholder_name() == "l_self_layers_2_weight");
    CHECK(weight.root() == Source::local("self"));
    CHECK(Source::live(1).text() == "___live[1]");
}

TEST_CASE("an input is one placeholder, by its source and by its identity") {
    OutputGraph graph("g");
    const NodeRef a = graph.input(x(), f32({2, 3}), 7);
    CHECK(graph.input(x(), f32({2, 3})) == a);
    CHECK(graph.input(Source::local("alias"), f32({2, 3}), 7) == a);
    CHECK_FALSE(graph.input(Source::local("y"), f32({2, 3}), 8) == a);
    CHECK(graph.guards().size() == 2);
    REQUIRE(graph.source_of(a));
    CHECK(*graph.source_of(a) == x());
}

TEST_CASE("tied weights are one get_attr") {
    OutputGraph graph("g");
    const Tensor weight(DType::f32, {2, 3});
    const NodeRef a = graph.parameter("encoder.weight", weight, 3);
    CHECK(graph.parameter("decoder.weight", weight, 3) == a);
    CHECK_FALSE(graph.parameter("decoder.weight", Tensor(DType::f32, {2, 3}), 4) == a);
}

TEST_CASE("a finished graph holds what its results need, and verifies") {
    OutputGraph graph("g");
    const NodeRef a = graph.input(x(), f32({2, 3}));
    graph.input(Source::local("unused"), f32({5}));
    graph.parameter("dead", Tensor(DType::f32, {1}));
    const NodeRef b = relu(graph, a);
    relu(graph, b);  // nobody wants it
    const auto captured = graph.finish({{b}}, GraphBreak{.kind = BreakKind::side_effect, .reason = "print"});
    REQUIRE(captured);
    verify(captured->graph, Stage::captured, Registry::instance());
    CHECK(print(captured->graph) ==
          "graph g {\n"
          "  %l_x = placeholder[\"L['x']\"] : f32[2, 3]\n"
          "  %relu = aten.relu.default(%l_x) : f32[2, 3]\n"
          "  return (%relu)\n"
          "}\n");
    CHECK(captured->sources.size() == 1);
    CHECK(captured->guards.size() == 2);  // the unused input was relied on all the same
    REQUIRE(captured->ended_by);
    CHECK(info(captured->ended_by->kind).id == "WB0001");
}

TEST_CASE("neither calls nor outputs: no graph") {
    OutputGraph graph("g");
    graph.input(x(), f32({2, 3}));
    CHECK_FALSE(graph.finish({}));
}

TEST_CASE("the last write to an input is an output after the results") {
    OutputGraph graph("g");
    const NodeRef a = graph.input(x(), f32({2, 3}));
    const NodeRef b = relu(graph, a), c = relu(graph, b);
    graph.update(x(), b);
    graph.update(x(), c);
    const auto captured = graph.finish({{b}});
    REQUIRE(captured);
    REQUIRE(captured->updates.size() == 1);
    CHECK(captured->updates[0].output == 1);
    CHECK(captured->graph.outputs().size() == 2);
}

TEST_CASE("rolling back restores the state, and diff names what differs") {
    OutputGraph graph("g");
    const NodeRef a = graph.input(x(), f32({2, 3}));
    const OutputGraph checkpoint = graph;
    relu(graph, a);
    CHECK(OutputGraph::diff(checkpoint, graph) == "nodes: 1 and 2");
    graph = checkpoint;
    CHECK(OutputGraph::diff(checkpoint, graph).empty());
    graph.guard(Guard::scalar(Source::local("n"), std::int64_t{3}));
    CHECK(OutputGraph::diff(checkpoint, graph) == "guards: 1 and 2");
}

TEST_CASE("guards tell what failed in the user's terms") {
    const auto one = [](const Guard& guard, const Found& found) {
        return guard.violated_by([&](const Source&) { return found; }).value_or("");
    };
    const Guard n = Guard::scalar(Source::local("n"), std::int64_t{3});
    CHECK(n.text() == "L['n'] == 3");
    CHECK(one(n, HostValue{std::int64_t{3}}).empty());
    CHECK(one(n, HostValue{std::int64_t{4}}) == "L['n'] == 3, now 4");
    CHECK(one(Guard::state("grad_mode", true), HostValue{false}) == "___grad_mode == true, now false");

    Guard tensor = Guard::tensor(x(), f32({4, 3}));
    CHECK(tensor.text() == "L['x']: f32[4, 3] strides=[3, 1]");
    CHECK(one(tensor, f32({5, 3})) == "L['x'] size 0 == 4, now 5");
    CHECK(one(tensor, f32({4, 3, 1})) == "L['x'] rank == 2, now 3");
    CHECK(one(tensor, ValueMeta::contiguous(DType::f64, {4, 3})) == "L['x'] dtype == f32, now f64");
    std::get<TensorMatch>(tensor.expected).sizes[0] = kDynamicSize;
    CHECK(one(tensor, f32({5, 3})).empty());
    CHECK(one(tensor, f32({1, 3})).empty());
    const SizeSymbol s0{"s0", x(), 0}, s1{"s1", x(), 1};
    const Guard above = Guard::relation({.left = s0});
    CHECK(above.text() == "s0 > 1");
    CHECK(one(above, f32({2, 3})).empty());
    CHECK(one(above, f32({1, 3})) == "s0 > 1, now L['x'].size(0) is 1");
    const Guard equal = Guard::relation({SizeCondition::Kind::equal, s0, 3, s1});
    CHECK(one(equal, f32({6, 2})).empty());
    CHECK(one(equal, f32({7, 2})) == "s0 == 3*s1, now L['x'].size(0) is 7 and L['x'].size(1) is 2");
    const Guard multiple = Guard::relation({SizeCondition::Kind::multiple, s1, 4, {}});
    CHECK(one(multiple, f32({7, 8})).empty());
    CHECK(one(multiple, f32({7, 6})) == "s1 % 4 == 0, now L['x'].size(1) is 6");

    const std::vector<Guard> guards = {tensor, n};
    const auto violation = first_violation(guards, [](const Source& source) -> Found {
        if (source == x()) return f32({9, 3});
        return HostValue{std::int64_t{8}};
    });
    REQUIRE(violation);
    CHECK(violation->reason == "L['n'] == 3, now 8");
}

TEST_CASE("every kind of break is in the catalogue once") {
    const auto catalogue = break_catalogue();
    for (std::size_t i = 0; i < catalogue.size(); ++i) {
        CHECK(static_cast<std::size_t>(catalogue[i].kind) == i);
        CHECK(&info(catalogue[i].kind) == &catalogue[i]);
        CHECK(find_break(catalogue[i].id) == &catalogue[i]);
        CHECK(catalogue[i].hint.back() != '.');
    }
    CHECK(find_break("WB9999") == nullptr);
}
