#include "graph/graph.h"

#include <catch2/catch.hpp>
#include <limits>

#include "graph/example.h"

using namespace whittle;

TEST_CASE("arguments compare as data, not as numbers") {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    CHECK(Arg(nan) == Arg(nan));
    CHECK_FALSE(Arg(0.0) == Arg(-0.0));
    CHECK_FALSE(Arg(1.0) == Arg(1));
    CHECK_FALSE(Arg(1) == Arg(true));
    CHECK(Arg(ArgList{1, nan}) == Arg(ArgList{1, nan}));
    CHECK(Arg::ints({1, 2}) == Arg(ArgList{1, 2}));
    CHECK(Arg(Scalar(2.5)) == Arg(2.5));
    CHECK(Arg(Scalar(true)) == Arg(true));
}

TEST_CASE("names become unique identifiers") {
    Graph graph;
    const ValueMeta meta = ValueMeta::contiguous(DType::f32, {1});
    graph.placeholder("input.1", meta);
    graph.placeholder("input 1", meta);
    graph.placeholder("1", meta);
    for (int i = 0; i < 3; ++i) graph.add({.target = "aten.relu.default", .results = {meta}});
    graph.add({.name = "relu_7", .target = "aten.relu.default", .results = {meta}});
    graph.add({.target = "onnx.Relu", .results = {meta}});
    graph.add({.target = "aten.relu.default", .results = {meta}});
    std::vector<std::string> names;
    for (const Node& node : graph.nodes) names.push_back(node.name);
    CHECK(names == std::vector<std::string>{"input_1", "input_1_1", "_1", "relu", "relu_1", "relu_2", "relu_7", "Relu",
                                            "relu_8"});
    CHECK(graph.nodes[1].target == "input 1");
    CHECK(graph.find("relu_7") == &graph.nodes[6]);
    CHECK(graph.find("nobody") == nullptr);
}

TEST_CASE("an attribute's name belongs to one tensor") {
    Graph graph;
    const NodeRef a = graph.get_attr("w", Tensor::of<float>({1, 2}));
    const NodeRef b = graph.get_attr("w", Tensor::of<float>({1, 2}));
    const NodeRef c = graph.get_attr("w", Tensor::of<float>({1, 3}));
    CHECK(graph.node(a).target == "w");
    CHECK(graph.node(b).target == "w");
    CHECK(graph.node(c).target == "w_1");
    CHECK(graph.attributes.size() == 2);
    CHECK(graph.attributes.at("w").values<float>() == std::vector<float>{1, 2});
}

TEST_CASE("inputs are visited and mapped through lists and keywords") {
    const Graph graph = full_graph();
    const Node& many = *graph.find("many");
    std::vector<NodeId> seen;
    for_each_input(many, [&](NodeRef ref) { seen.push_back(ref.id); });
    CHECK(seen == std::vector<NodeId>{0, 0, 1, 2, 3});
    const Node shifted = map_inputs(many, [](NodeRef ref) { return Arg(NodeRef{ref.id + 10}); });
    seen.clear();
    for_each_input(shifted, [&](NodeRef ref) { seen.push_back(ref.id); });
    CHECK(seen == std::vector<NodeId>{10, 10, 11, 12, 13});
    CHECK(shifted.kwargs == many.kwargs);
}

TEST_CASE("users lists each reader once, in order") {
    const Graph graph = full_graph();
    const auto readers = users(graph);
    CHECK(readers[0] == std::vector<NodeId>{4, 7});
    CHECK(readers[4] == std::vector<NodeId>{5});
    CHECK(readers[5] == std::vector<NodeId>{6, 7});
    CHECK(graph.outputs() == std::vector<NodeId>{5, 6, 0});
    CHECK(graph.placeholders() == std::vector<NodeId>{0});
    CHECK(graph.calls() == std::vector<NodeId>{4, 5, 6});
}

TEST_CASE("same_structure sees every difference but data, stacks and the failure") {
    const Graph graph = full_graph();
    Graph other = full_graph();
    other.attributes["big"] = Tensor(DType::f32, {4, 5});
    other.nodes[4].stack.clear();
    other.failure = Failure{};
    CHECK(same_structure(graph, other));

    const auto differs = [&](auto&& change) {
        Graph changed = full_graph();
        change(changed);
        return !same_structure(graph, changed);
    };
    CHECK(differs([](Graph& g) { g.name = "x"; }));
    CHECK(differs([](Graph& g) { g.dialect = "aten"; }));
    CHECK(differs([](Graph& g) { g.opset_imports[""] = 17; }));
    CHECK(differs([](Graph& g) { g.attributes["big"] = Tensor(DType::f32, {5, 4}); }));
    CHECK(differs([](Graph& g) { g.attributes["more"] = Tensor(); }));
    CHECK(differs([](Graph& g) { g.nodes[4].kwargs[3].second = false; }));
    CHECK(differs([](Graph& g) { g.nodes[4].args[2] = 4; }));
    CHECK(differs([](Graph& g) { g.nodes[4].module_path = "y"; }));
    CHECK(differs([](Graph& g) { g.nodes[0].results[0].strides = {3, 1}; }));
    CHECK(differs([](Graph& g) { g.nodes[0].results[0].requires_grad = false; }));
    CHECK(differs([](Graph& g) {
        Graph body = *g.subgraphs["then"];
        body.nodes[0].target = "z";
        g.subgraphs["then"] = std::make_shared<const Graph>(body);
    }));
}

TEST_CASE("a signature is one line") {
    CHECK(Signature{"mismatch", "run", "nan_or_inf"}.text() == "mismatch (nan_or_inf) at run");
    CHECK(Signature{"check", "", ""}.text() == "check");
    CHECK(Signature{"exception", "run", "no kernel for #"}.text() == "exception (no kernel for #) at run");
    CHECK(Signature{"exception", "run", "no kernel for #"}.heading() == "exception at run");
    const Failure failure{.signature = {"exception", "run", "no kernel for #"}, .message = "no kernel\nfor 7.\n"};
    CHECK(failure.text() == "exception at run: no kernel for 7");
    CHECK(Failure{.signature = {"crash", "run", "SIGSEGV"}, .message = "killed"}.text() == "crash (SIGSEGV) at run");
    CHECK(Signature{"mismatch", "run", "nan_or_inf"}.heading() == "mismatch (nan_or_inf) at run");
    Signature flaky{"mismatch", "run", "value", "backward"};
    flaky.rate = {12, 40};
    CHECK(flaky.text() == "mismatch (value) at run of backward, in 12 of 40 runs");
    flaky.rate = {40, 40};
    CHECK(flaky.text() == "mismatch (value) at run of backward");
}

TEST_CASE("failures are alike at whatever rate they were seen") {
    Signature seen{"mismatch", "run", "value"}, again = seen;
    seen.rate = {12, 40}, again.rate = {7, 30};
    CHECK(seen == again);
    again.detail = "sizes";
    CHECK_FALSE(seen == again);
}

TEST_CASE("a pass is told with its partner, and with the options that show it") {
    Culprit pair{
        .component = "pass", .together = {"pass-limit=fuse=0", "pass-limit=fuse=1"}, .op = "fuse", .partner = "cse"};
    CHECK(pair.text() ==
          "pass fuse together with cse (last good: --backend-option pass-limit=fuse=0, first bad: --backend-option "
          "pass-limit=fuse=1)");
    pair.component = "compiler", pair.together = {}, pair.partner = {};
    CHECK(pair.text() == "compiler");
}

TEST_CASE("below a culprit a report explains what is listed, names what goes with it, and the options") {
    Failure failure{.backend = "halide"};
    CHECK(culprit_notes(failure).empty());
    failure.culprit = Culprit{.component = "schedule", .directive = "f.split(x, x_o, x_i, 8)"};
    CHECK(culprit_notes(failure).empty());
    failure.culprit->together = {"f.compute_root()"};
    failure.culprit->dependents = {"f.vectorize(x_i)", "f.parallel(x_o)"};
    failure.options = {{"rules", "plain"}};
    const std::vector<std::string> notes = {"the failure occurs only with all of these together",
                                            "disable=f.split(x, x_o, x_i, 8) also switches off the directives that "
                                            "depend on this directive: f.vectorize(x_i), f.parallel(x_o)",
                                            "found in the minimized graph with --backend-option rules=plain"};
    CHECK(culprit_notes(failure) == notes);
    failure.culprit->dependents = {"a", "b", "c", "d", "e", "f"};
    CHECK(culprit_notes(failure).at(1).ends_with(": a, b, c, d, and 2 more"));
    // What the two options of a pass are is in its text.
    failure.culprit =
        Culprit{.component = "pass", .together = {"pass-limit=fuse=0", "pass-limit=fuse=1"}, .op = "fuse"};
    failure.options = {};
    CHECK(culprit_notes(failure).empty());
}

TEST_CASE("names stay unique when nodes change behind add's back") {
    Graph graph = small_graph();
    const ValueMeta meta = ValueMeta::contiguous(DType::f32, {1});
    graph.nodes.pop_back();
    graph.nodes.push_back({.name = "add_1", .target = "aten.add.Tensor", .results = {meta}});
    Graph copy = graph;
    CHECK(graph.node(graph.add({.name = "add", .target = "x", .results = {meta}})).name == "add_2");
    CHECK(copy.node(copy.add({.name = "add", .target = "x", .results = {meta}})).name == "add_2");
    graph.nodes.resize(3);
    CHECK(graph.node(graph.add({.name = "add", .target = "x", .results = {meta}})).name == "add_1");
    CHECK(graph.node(graph.add({.name = "add_01", .target = "x", .results = {meta}})).name == "add_01");
}
