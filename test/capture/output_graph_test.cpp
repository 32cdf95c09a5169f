#include <catch2/catch.hpp>
#include <cmath>

#include "capture/output_graph.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/registry.h"

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

TEST_CASE("sources are equal by their parts, and so are their hashes") {
    const Source weight = Source::local("self").attribute("layers").item(2);
    CHECK(weight == Source::local("self").attribute("layers").item(2));
    CHECK(weight.hash() == Source::local("self").attribute("layers").item(2).hash());
    CHECK_FALSE(weight == Source::local("self").attribute("layers").item(3));
    CHECK_FALSE(weight == Source::local("self").attribute("layers").attribute("2"));
    CHECK_FALSE(weight == Source::global("self").attribute("layers").item(2));
    CHECK_FALSE(Source::live(1) == Source::random(1));
    CHECK(Source::local("a").attribute("x").with_root("b") == Source::local("b").attribute("x"));
    CHECK(Source::parse("L['self'].layers[2]") == weight);
}

TEST_CASE("an input is one placeholder, by its source and by its identity") {
    OutputGraph graph("g");
    const NodeRef a = graph.input(x(), f32({2, 3}), 7);
    CHECK(graph.input(x(), f32({2, 3})) == a);
    CHECK(graph.input(Source::local("alias"), f32({2, 3}), 7) == a);
    CHECK_FALSE(graph.input(Source::local("y"), f32({2, 3}), 8) == a);
    REQUIRE(graph.guards().size() == 3);
    CHECK(graph.guards()[1].text() == "L['alias'] is L['x']");  // or it would be an input of its own
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

TEST_CASE("rolling back restores the graph, what it relies on and its names") {
    OutputGraph graph("g"), other("g");
    const Tensor weight(DType::f32, {2, 3});
    const auto begin = [&](OutputGraph& to) {
        const NodeRef a = to.input(x(), f32({2, 3}), 1);
        to.parameter("w", weight, 2);
        return relu(to, a);
    };
    const auto go_on = [&](OutputGraph& to, NodeRef b) {
        const NodeRef y = to.input(Source::local("y"), f32({2, 3}), 3);
        to.input(Source::local("alias"), f32({2, 3}), 3);
        to.parameter("v", weight, 4);
        to.nest("body", std::make_shared<const Graph>());
        to.guard(Guard::scalar(Source::local("n"), std::int64_t{3}));
        to.call({.target = "aten.add_.Tensor", .args = {Arg(y), Arg(b)}, .results = {f32({2, 3})}}, true);
        return relu(to, b);
    };
    const NodeRef b = begin(graph), c = begin(other);
    const OutputGraph::Checkpoint before = graph.checkpoint();
    go_on(graph, b);
    CHECK(graph.guards().size() == 4);
    graph.roll_back(before);
    CHECK(graph.checkpoint() == before);
    CHECK(print(graph.graph()) == print(other.graph()));
    CHECK(graph.graph().attributes.size() == 1);
    CHECK(graph.graph().subgraphs.empty());
    // What comes next is what would have come.
    const NodeRef results[] = {go_on(graph, b)}, expected[] = {go_on(other, c)};
    const auto captured = graph.finish(results), wanted = other.finish(expected);
    REQUIRE(captured);
    REQUIRE(wanted);
    CHECK(print(captured->graph) == print(wanted->graph));
    CHECK(captured->guards == wanted->guards);
    CHECK(captured->sources == wanted->sources);
    graph.roll_back(graph.checkpoint());
    CHECK(print(graph.graph()) == print(other.graph()));
}

TEST_CASE("a guard on a host value is of the kind that its source says") {
    const Source items = Source::local("items");
    CHECK(Guard::scalar(items, std::int64_t{3}).kind() == "scalar_equal");
    CHECK(Guard::scalar(items.attribute("size"), std::int64_t{3}).kind() == "scalar_equal");
    CHECK(Guard::scalar(items.attribute(std::string(kLength)), std::int64_t{3}).kind() == "length");
    CHECK(Guard::scalar(items.attribute(std::string(kPresent)), true).kind() == "length");
    CHECK(Guard::state("grad_mode", true).kind() == "global_state");
    CHECK(Guard::scalar(Source::state("grad_mode"), true) == Guard::state("grad_mode", true));
    CHECK_FALSE(Guard::scalar(items, 0.0) == Guard::scalar(items, -0.0));
    CHECK(Guard::scalar(items, std::nan("")) == Guard::scalar(items, std::nan("")));
}

TEST_CASE("guards tell what failed in the user's terms") {
    const auto one = [](const Guard& guard, const Found& found) {
        const auto failure = guard.violated_by([&](const Source&) { return &found; });
        return failure ? failure->text() : "";
    };
    const Guard n = Guard::scalar(Source::local("n"), std::int64_t{3});
    CHECK(n.text() == "L['n'] == 3");
    CHECK(one(n, HostValue{std::int64_t{3}}).empty());
    CHECK(one(n, HostValue{std::int64_t{4}}) == "L['n'] == 3, now 4");
    CHECK(one(Guard::state("grad_mode", true), HostValue{false}) == "___grad_mode == true, now false");

    const Guard fixed = Guard::tensor(x(), f32({4, 3}));
    CHECK(fixed.text() == "L['x']: f32[4, 3] strides=[3, 1]");
    CHECK(one(fixed, f32({5, 3})) == "L['x'] size 0 == 4, now 5");
    CHECK(one(fixed, f32({4, 3, 1})) == "L['x'] rank == 2, now 3");
    CHECK(one(fixed, ValueMeta::contiguous(DType::f64, {4, 3})) == "L['x'] dtype == f32, now f64");
    CHECK(one(fixed, SameTensor{Source::local("y")}) ==
          "L['x']: f32[4, 3] strides=[3, 1], now the same tensor as L['y']");
    TensorMatch any_size = TensorMatch::of(f32({4, 3}));
    any_size.sizes[0] = kDynamicSize;
    const Guard tensor(x(), any_size);
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

    const Guard same(Source::local("y"), SameTensor{x()});
    CHECK(same.text() == "L['y'] is L['x']");
    CHECK(one(same, SameTensor{x()}).empty());
    CHECK(one(same, SameTensor{Source::local("z")}) == "L['y'] is L['x'], now a different tensor");
    CHECK(one(same, f32({2})) == "L['y'] is L['x'], now a different tensor");

    const Guard branch(Source::condition("n > 2", 12), Outcomes{{1, 1, 0}});
    CHECK(branch.text() == "(n > 2) is true 2 times, then false");
    CHECK(one(branch, Outcomes{{1, 1, 0}}).empty());
    CHECK(one(branch, Outcomes{{0}}) == "(n > 2) is true 2 times, then false, now false");
    CHECK(Guard(Source::condition("n", 3), Outcomes{{7}, true}).text() == "(n) is 7");
    CHECK_FALSE(branch == Guard(Source::condition("n > 2", 13), Outcomes{{1, 1, 0}}));

    const std::vector<Guard> guards = {tensor, n};
    const Found matrix = f32({9, 3}), eight = HostValue{std::int64_t{8}};
    const auto violation =
        first_violation(guards, [&](const Source& source) { return source == x() ? &matrix : &eight; });
    REQUIRE(violation);
    CHECK(violation->reason.text() == "L['n'] == 3, now 8");
}

TEST_CASE("guards are equal by their trees, numbers by their bits") {
    const auto value = [](HostValue v) { return Guard::scalar(Source::local("n"), std::move(v)); };
    CHECK(value(0.5) == Guard::scalar(Source::local("n"), 0.5, {{"app.cpp", 3, 1, "f", ""}}));
    CHECK(value(0.5).hash() == value(0.5).hash());
    CHECK(value(std::nan("")) == value(std::nan("")));
    CHECK_FALSE(value(0.0) == value(-0.0));
    CHECK_FALSE(value(1.0) == value(std::int64_t{1}));
    CHECK_FALSE(value(true) == value(std::int64_t{1}));
    CHECK_FALSE(value(std::string("true")) == value(true));
    const Guard same(Source::local("y"), SameTensor{x()});
    CHECK(same.renamed("x", "a").text() == "L['y'] is L['a']");
    CHECK(same.renamed("y", "b").text() == "L['b'] is L['x']");
    CHECK(same.renamed("z", "b") == same);
}

TEST_CASE("a hint is for the program at hand, and for code that the user writes") {
    const std::vector<StackFrame> python = {{.file = "train.py", .line = 1, .function = "train", .text = ""}};
    for (const BreakInfo& known : break_catalogue()) {
        const auto has = [](const std::string& text, std::string_view part) {
            return !part.empty() && text.find(part) != std::string::npos;
        };
        // Nothing of Whittle's API to users of LibTorch, whatever options are set.
        for (const bool more : {false, true}) {
            CHECK_FALSE(has(hint(known.kind, {}, {.more = more}), known.api_hint));
            CHECK_FALSE(has(hint(known.kind, python, {.more = more}), known.api_hint));
        }
        CHECK_FALSE(has(hint(known.kind, {}, {.tensor_api = true, .more = true}), known.option_hint));
        CHECK(hint(known.kind, {}, {.tensor_api = true}) == known.hint);
        CHECK(hint(known.kind, python, {.library = true}).empty() != keeps_op_out(known.kind));
    }
    CHECK(hint(BreakKind::side_effect, {}, {.tensor_api = true, .more = true}).find(".defer_output") !=
          std::string::npos);
    CHECK(hint(BreakKind::dynamic_shape, python, {.more = true}).find("--compile") != std::string::npos);
    CHECK(hint(BreakKind::dynamic_shape, python).find("--compile") == std::string::npos);
    CHECK(hint(BreakKind::item, python, {.compares = true}) == info(BreakKind::item).branch_hint);
    CHECK(hint(BreakKind::branch, python, {.compares = true}) == info(BreakKind::branch).python_hint);
    for (const BreakKind kind : {BreakKind::branch, BreakKind::item})
        CHECK(hint(kind, python, {.compares = true, .asserts = true}) == info(kind).assert_hint);
}

TEST_CASE("every kind of break is in the catalogue once") {
    const auto catalogue = break_catalogue();
    for (std::size_t i = 0; i < catalogue.size(); ++i) {
        CHECK(static_cast<std::size_t>(catalogue[i].kind) == i);
        CHECK(&info(catalogue[i].kind) == &catalogue[i]);
        CHECK(find_break(catalogue[i].id) == &catalogue[i]);
        for (const std::string_view hint :
             {catalogue[i].hint, catalogue[i].python_hint, catalogue[i].api_hint, catalogue[i].option_hint,
              catalogue[i].branch_hint, catalogue[i].assert_hint})
            CHECK_FALSE(hint.ends_with('.'));
        CHECK_FALSE(catalogue[i].hint.empty());
    }
    CHECK(find_break("WB9999") == nullptr);
}
