#include "graph/placement.h"

#include <catch2/catch.hpp>
#include <map>

#include "base/error.h"
#include "formats/json.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/registry.h"

using namespace whittle;

namespace {

/// A sparse tensor made of one that is not, and a number of eight bits on another device.
Graph misplaced_graph() {
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2}));
    ValueMeta rows = ValueMeta::contiguous(DType::f32, {2});
    rows.placement = placed({.layout = "SparseCsr"});
    ValueMeta small = rows;
    small.placement = placed({.device = "cuda:1", .elements = "quint8"});
    const NodeRef sparse = graph.add({.target = "aten.to_sparse_csr.default", .args = {Arg(x)}, .results = {rows}});
    const NodeRef quantized = graph.add({.target = "my.pack.default", .args = {Arg(sparse)}, .results = {small}});
    graph.add({.target = "aten.relu.default", .args = {Arg(x)}, .results = {graph.node(x).meta()}});
    graph.output({quantized});
    return graph;
}

}  // namespace

TEST_CASE("a placement says in words what a tensor is") {
    CHECK(Placement{}.text() == "a tensor");
    CHECK(Placement{.device = "cuda:0"}.text() == "a tensor on the device cuda:0");
    CHECK(Placement{.layout = "Sparse"}.text() == "a sparse tensor");
    CHECK(Placement{.device = "cuda:0", .layout = "SparseCsr"}.text() == "a sparse tensor (CSR) on the device cuda:0");
    CHECK(Placement{.layout = "Mkldnn"}.text() == "an MKL-DNN tensor");
    CHECK(Placement{.layout = "Jagged"}.text() == "a tensor of layout Jagged");
    CHECK(Placement{.elements = "quint8"}.text() == "a quint8 tensor");
}

TEST_CASE("equal placements are one object, and the usual one is none") {
    CHECK(placed({}) == nullptr);
    CHECK(placed({.device = "meta"}) == placed({.device = "meta"}));
    CHECK(placed({.device = "meta"}) != placed({.layout = "Sparse"}));
}

TEST_CASE("placements go through JSON, of a version that older readers refuse, and through text") {
    const Graph graph = misplaced_graph();
    std::map<std::string, Tensor> tensors;
    const std::string json = graph_to_json(graph, tensors);
    CHECK(json.find("\"placement\"") != std::string::npos);
    CHECK(json.find("\"1.3\"") != std::string::npos);
    CHECK(same_structure(graph_from_json(json, tensors, "graph"), graph));
    CHECK(print(parse(print(graph))) == print(graph));
    CHECK(same_structure(parse(print(graph)), graph));
    Graph plain = graph;
    for (Node& node : plain.nodes)
        for (ValueMeta& meta : node.results) meta.placement = nullptr;
    CHECK_FALSE(same_structure(plain, graph));
    CHECK(graph_to_json(plain, tensors).find("placement") == std::string::npos);
}

TEST_CASE("the values that no backend takes, and the calls on them, are found") {
    const Graph graph = misplaced_graph();
    CHECK(misplaced_value(graph).value() == "%to_sparse_csr, a sparse tensor (CSR)");
    std::vector<bool> touched;
    for (const NodeId id : graph.calls()) touched.push_back(touches_misplaced(graph, graph.node({id})));
    CHECK(touched == std::vector<bool>{true, true, false});
}

TEST_CASE("where an input begins and whether it is a leaf goes through files, and is not of its type") {
    Graph graph;
    ValueMeta meta = ValueMeta::contiguous(DType::f32, {2});
    meta.requires_grad = true;
    const ValueMeta leaf = meta;
    meta.storage_offset = 3;
    meta.leaf = false;
    CHECK(meta == leaf);
    const NodeRef x = graph.placeholder("x", meta);
    // What is inferred often starts from an operand's meta.
    const NodeRef y = graph.add({.target = "aten.relu.default", .args = {Arg(x)}, .results = {meta}});
    CHECK(graph.node(y).meta().storage_offset == 0);
    CHECK(graph.node(y).meta().leaf);
    graph.output({y});

    std::map<std::string, Tensor> tensors;
    const std::string json = graph_to_json(graph, tensors);
    CHECK(json.find("\"1.4\"") != std::string::npos);
    const Graph read = graph_from_json(json, tensors, "graph"), parsed = parse(print(graph));
    for (const Graph* other : {&read, &parsed}) {
        CHECK(other->node(x).meta().storage_offset == 3);
        CHECK_FALSE(other->node(x).meta().leaf);
    }
    graph.nodes[0].results = {leaf};
    CHECK(graph_to_json(graph, tensors).find("\"1.0\"") != std::string::npos);
}

TEST_CASE("types that are not known are printed, read and explained as such") {
    Graph graph;
    const NodeRef x = graph.placeholder("x", opaque_meta("string", {1}));
    const NodeRef list =
        graph.add({.target = "onnx.SplitToSequence", .args = {Arg(x)}, .results = {unknown_meta("sequence(f32)")}});
    const NodeRef r = graph.add({.target = "onnx.If", .args = {Arg(list)}, .results = {unknown_meta()}});
    graph.output({r});
    const std::string text = print(graph);
    CHECK(text.find("placeholder[\"x\"] : string[1]") != std::string::npos);
    CHECK(text.find(" : sequence(f32)") != std::string::npos);
    CHECK(text.find(" : unknown") != std::string::npos);
    CHECK(text.find("f32[") == std::string::npos);
    CHECK(same_structure(parse(text), graph));
    std::map<std::string, Tensor> tensors;
    CHECK(same_structure(graph_from_json(graph_to_json(graph, tensors), tensors, "graph"), graph));

    CHECK(unknown_value(graph).value() == "the input x holds strings");
    graph.nodes[0].results = {ValueMeta::contiguous(DType::f32, {1})};
    CHECK(unknown_value(graph).value() ==
          "%SplitToSequence, a result of onnx.SplitToSequence, is of type sequence(f32)");
    graph.nodes[1].results = {unknown_meta()};
    CHECK(unknown_value(graph).value() ==
          "the type of %SplitToSequence is unknown (the result of onnx.SplitToSequence)");
    graph.nodes[1].results = graph.nodes[2].results = graph.nodes[0].results;
    CHECK_FALSE(unknown_value(graph));
    CHECK_THROWS_AS(parse("graph g {\n  %x = placeholder[\"x\"] : sequence(f32\n  return (%x)\n}\n"), Error);
    CHECK_THROWS_AS(parse("graph g {\n  %x = placeholder[\"x\"] : strings[1]\n  return (%x)\n}\n"), Error);
}

TEST_CASE("a constant of strings holds the bytes of its file") {
    Graph graph;
    const NodeRef c =
        graph.add({.kind = NodeKind::get_attr, .name = "c", .target = "c", .results = {opaque_meta("i4", {3})}});
    graph.attributes["c"] = Tensor::of(std::vector<std::uint8_t>{1, 2}, {2});
    graph.output({c});
    verify(graph, Stage::captured, Registry::instance());
    std::map<std::string, Tensor> tensors;
    const Graph read = graph_from_json(graph_to_json(graph, tensors), tensors, "graph");
    CHECK(read.attributes.at("c").dtype() == DType::u8);
    CHECK(read.attributes.at("c").sizes() == Sizes{2});
    CHECK(unknown_value(read).value() == "the constant c holds i4 elements");
    CHECK(print(parse(print(graph))) == print(graph));
    graph.attributes["c"] = Tensor(DType::f32, {3});
    CHECK_THROWS_WITH(verify(graph, Stage::captured, Registry::instance()),
                      Catch::Contains("expected a tensor of bytes, u8[N]"));
}
