#include "graph/text.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "graph/example.h"

using namespace whittle;
using Catch::Contains;

TEST_CASE("a graph prints as documented") {
    CHECK(print(small_graph()) == R"(graph graph {
  %input_1 = placeholder["input.1"] : f32[2, 3]
  %layer_weight = get_attr["layer.weight"] : f32[3]
  %add = aten.add.Tensor(%input_1, %layer_weight, alpha=2) : f32[2, 3]
  return (%add)
}
)");
}

TEST_CASE("the places of a graph's first calls, each once, as lines") {
    Graph graph = small_graph();
    CHECK(first_places(graph, 3).empty());
    const StackFrame inner{.file = "train.py", .line = 24, .function = "Net.forward", .text = "h = x + y"},
        outer{.file = "train.py", .line = 40, .function = "main", .text = ""};
    const NodeRef first{graph.calls().at(0)};
    Node again = graph.node(first);
    again.name = "again";
    graph.nodes[static_cast<std::size_t>(first.id)].stack = again.stack = {inner, outer};
    Node other = again;
    other.name = "other";
    other.stack = {outer};
    graph.add(std::move(again));
    graph.add(std::move(other));
    CHECK(first_places(graph, 3) == std::vector<StackFrame>{inner, outer});
    CHECK(first_places(graph, 1) == std::vector<StackFrame>{inner});
    CHECK(place_line(inner) == "train.py:24  Net.forward  h = x + y");
    CHECK(place_line(outer) == "train.py:40  main");
}

TEST_CASE("strides and gradients print where they are not the usual") {
    CHECK(print(ValueMeta::contiguous(DType::i8, {})) == "i8[]");
    CHECK(print(ValueMeta{DType::f32, {2, 3}, {1, 2}, true}) == "f32[2, 3] strides[1, 2] grad");
    CHECK(print(ValueMeta{DType::f32, {2, 0}, {1, 1}, false}) == "f32[2, 0]");
    CHECK(print(ValueMeta{.dtype = DType::f32,
                          .sizes = {2},
                          .strides = {1},
                          .requires_grad = true,
                          .storage_offset = 4,
                          .leaf = false}) == "f32[2] offset 4 grad nonleaf");
}

TEST_CASE("printing round-trips") {
    const Graph graph = full_graph();
    const std::string text = print(graph);
    const Graph read = parse(text);
    CHECK(same_structure(read, graph));
    CHECK(print(read) == text);
    CHECK(read.attributes.at("transposed").strides() == Strides{1, 5});
    CHECK(read.find("many")->module_path == "features.0 # not a comment");
    CHECK(read.nodes[5].module_path == " \"quoted\"\n");
}

TEST_CASE("an output node of another name round-trips") {
    Graph graph;
    const NodeRef x = graph.placeholder("output", ValueMeta::contiguous(DType::f32, {}));
    graph.output({x});
    CHECK(graph.nodes[1].name == "output_1");
    CHECK(same_structure(parse(print(graph)), graph));
}

TEST_CASE("the dialect follows from the opsets unless it is said") {
    Graph graph = small_graph();
    graph.opset_imports[""] = 13;
    CHECK_THAT(print(graph), Contains("graph graph dialect(\"aten\") opset(\"\": 13) {"));
    CHECK(same_structure(parse(print(graph)), graph));
    CHECK(parse("graph g opset(\"\": 13) {\n return ()\n}").dialect == "onnx");
    CHECK(parse("graph g {\n return ()\n}").dialect == "aten");
}

TEST_CASE("printing survives a graph that is wrong") {
    Graph graph = small_graph();
    graph.nodes[2].args[0] = NodeRef{99};
    graph.nodes[2].results.clear();
    CHECK_THAT(print(graph), Contains("%add = aten.add.Tensor(%<99>, %layer_weight, alpha=2) : ()"));
}

TEST_CASE("malformed text is refused with line and column") {
    const auto [body, message] = GENERATE(table<std::string, std::string>({
        {"%x = placeholder : f32[2\n", "line 2, column 27: found the end of the line, expected ']'"},
        {"%x = placeholder : f33[2]\n", "line 2, column 22: found 'f33', expected a dtype"},
        {"%x = placeholder : f32[-2]\n", "found [-2], expected sizes of a tensor"},
        {"%x = placeholder : f32[9999999999, 9999999999]\n", "expected sizes of a tensor"},
        {"%x = placeholder : f32[2] strides[1, 2]\n", "expected as many strides as sizes"},
        {"%x = placeholder : f32[99999999999999999999]\n", "expected an integer that fits in 64 bits"},
        {"%x = placeholder : f32[2] %y\n", "found '%y', expected the end of the line"},
        {"%x = get_attr[\"w\"] : f32[1000000000000]\n", "found attributes of more than 128 MiB"},
        {"%x = get_attr[\"w\"] : f32[2] strides[4611686018427387904]\n", "found attributes of more than 128 MiB"},
        {"%x = get_attr[\"w] : f32[2]\n", "found a string without a closing quote"},
        {"%x = get_attr[\"\\q\"] : f32[2]\n", "expected an escape"},
        {"%x = get_attr[\"\\x4\"] : f32[2]\n", "expected two hexadecimal digits"},
        {"%x = op(%y) : f32[]\n", "line 2, column 11: found %y, expected a node defined on an earlier line"},
        {"%x = op(1.2.3) : f32[]\n", "found '1.2.3', expected an argument"},
        {"%x = op(99999999999999999999) : f32[]\n", "found '99999999999999999999', expected an argument"},
        {"%x = op(a=1, 2) : f32[]\n", "expected a keyword argument: positional arguments come first"},
        {"%x = op(1 : f32[]\n", "expected ')'"},
        {"%1x = op(1) : f32[]\n", "found %1x, expected %_1x"},
        {"%x = op() : f32[]\n%x = op() : f32[]\n", "found a second %x, expected another name"},
        {"@b = graph b {\n}\n@b = graph b {\n}\n", "found a second nested graph \"b\""},
        {"x = op()\n", "expected '%name = …'"},
        {"", "found the end, expected '%name = …'"},
    }));
    INFO(body);
    CHECK_THAT(thrown<Error>([body = body] { parse("graph g {\n  " + body); }), Contains(message));
}

TEST_CASE("nesting is bounded") {
    const std::string lists(100000, '[');
    CHECK_THAT(thrown<Error>([&] { parse("graph g {\n%x = op(" + lists); }), Contains("at most 256 nested lists"));
    std::string graphs;
    for (int i = 0; i < 100000; ++i) graphs += "graph g {\n@g = ";
    CHECK_THAT(thrown<Error>([&] { parse(graphs); }), Contains("at most 256 nested graphs"));
    CHECK_THAT(thrown<Error>([&] { parse("graph g {\n return ()\n}\nmore"); }), Contains("nothing after"));
}
