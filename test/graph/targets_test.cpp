#include "graph/graph.h"

#include <catch2/catch.hpp>

using namespace whittle;

TEST_CASE("a call that runs an op that writes is named by this op") {
    Graph graph;
    const ValueMeta three = ValueMeta::contiguous(DType::f32, {3});
    const NodeRef x = graph.placeholder("x", three);
    for (const char* op :
         {"torch.ops.mylib.bump.default", "torch.ops.mylib.shift.default", "torch.ops.mylib.bump.default"})
        graph.add({.target = "higher_order.auto_functionalized", .args = {Arg(op), Arg(x)}, .results = {{}, three}});
    graph.output({x});
    CHECK(op_names(graph, {"aten.foo.default", "higher_order.auto_functionalized"}) ==
          std::vector<std::string>{"aten.foo.default", "mylib.bump.default", "mylib.shift.default"});
}
