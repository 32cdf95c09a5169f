#include "graph/placement.h"

#include <catch2/catch.hpp>
#include <map>

#include "graph/json.h"
#include "graph/text.h"

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
