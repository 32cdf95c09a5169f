#include <catch2/catch.hpp>

#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "ops/samples/table.h"
#include "passes/cse.h"
#include "passes/dce.h"
#include "passes/fold_constants.h"
#include "passes/subgraph.h"
#include "tensor/random.h"

using namespace whittle;

namespace {

Graph checked(Graph graph) {
    verify(graph, Stage::captured, Registry::instance());
    return graph;
}

/// The graphs compute the same on one random input.
void check_same_values(const Graph& a, const Graph& b) {
    Random random(7);
    std::vector<Tensor> inputs;
    for (const NodeId id : a.placeholders())
        inputs.push_back(random_tensor(a.node({id}).meta().dtype, a.node({id}).meta().sizes, random));
    const std::vector<Tensor> from_a = evaluate(a, inputs), from_b = evaluate(b, inputs);
    REQUIRE(from_a.size() == from_b.size());
    for (std::size_t i = 0; i < from_a.size(); ++i) CHECK(same_bits(from_a[i], from_b[i]));
}

}  // namespace

TEST_CASE("dce drops what no output depends on", "[dce]") {
    const Graph graph = parse(R"(graph g {
  @used = graph used {
    %p = placeholder["p"] : f32[2]
    return (%p)
  }
  @unused = graph unused {
    %p = placeholder["p"] : f32[2]
    return (%p)
  }
  %x = placeholder["x"] : f32[2]
  %y = placeholder["y"] : f32[2]
  %w = get_attr["w"] : f32[2]
  %v = get_attr["v"] : f32[2]
  %a = aten.add.Tensor(%x, %w) : f32[2]
  %b = aten.add.Tensor(%a, %v) : f32[2]
  %c = user.branch(%a, @used) : f32[2]
  %d = user.branch(%b, [@unused]) : f32[2]
  return (%c)
}
)");
    CHECK(print(checked(dce(graph))) == R"(graph g {
  @used = graph used {
    %p = placeholder["p"] : f32[2]
    return (%p)
  }
  %x = placeholder["x"] : f32[2]
  %y = placeholder["y"] : f32[2]
  %w = get_attr["w"] : f32[2]
  %a = aten.add.Tensor(%x, %w) : f32[2]
  %c = user.branch(%a, @used) : f32[2]
  return (%c)
}
)");
}

TEST_CASE("constants are folded through chains and getitems", "[fold]") {
    Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %w = get_attr["w"] : f32[2, 3]
  %n = aten.neg.default(%w) : f32[2, 3]   # layer
  %t = aten.max.dim(%n, 1) : (f32[2], i64[2])
  %v = getitem(%t, 0) : f32[2]
  %i = getitem(%t, 1) : i64[2]
  %a = aten.add.Tensor(%x, %n) : f32[2, 3]
  %u = user.unknown(%w) : f32[2]
  return (%a, %v, %i, %u)
}
)");
    graph.attributes["w"] = Tensor::of<float>({1, -2, 3, 4, 5, -6}, {2, 3});
    const Graph folded = checked(fold_constants(graph));
    CHECK(print(folded) == R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %w = get_attr["w"] : f32[2, 3]
  %n = get_attr["n"] : f32[2, 3]   # layer
  %t = get_attr["t"] : f32[2]
  %t_1 = get_attr["t_1"] : i64[2]
  %a = aten.add.Tensor(%x, %n) : f32[2, 3]
  %u = user.unknown(%w) : f32[2]
  return (%a, %t, %t_1, %u)
}
)");
    CHECK(folded.attributes.at("t").values<float>() == std::vector<float>{2, 6});
    CHECK(folded.attributes.at("t_1").values<std::int64_t>() == std::vector<std::int64_t>{1, 2});
}

TEST_CASE("large results stay calls", "[fold]") {
    Graph graph = parse(R"(graph g {
  %w = get_attr["w"] : f32[4]
  %a = aten.neg.default(%w) : f32[4]
  return (%a)
}
)");
    CHECK(print(checked(fold_constants(graph, {.max_elements = 3}))) == print(graph));
    CHECK(checked(fold_constants(graph, {.max_elements = 4})).calls().empty());
    check_same_values(graph, fold_constants(graph));
}

TEST_CASE("equal calls are merged, unequal and unknown ones are not", "[cse]") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %w = get_attr["w"] : f32[2]
  %w_again = get_attr["w"] : f32[2]
  %a = aten.add.Tensor(%x, %w) : f32[2]   # first
  %b = aten.add.Tensor(%x, %w_again) : f32[2]   # second
  %c = aten.mul.Tensor(%a, 0.0) : f32[2]
  %d = aten.mul.Tensor(%b, -0.0) : f32[2]
  %e = aten.mul.Tensor(%b, 0.0) : f32[2]
  %f = user.unknown(%x) : f32[2]
  %g = user.unknown(%x) : f32[2]
  return (%c, %d, %e, %f, %g)
}
)");
    CHECK(print(checked(cse(graph))) == R"(graph g {
  %x = placeholder["x"] : f32[2]
  %w = get_attr["w"] : f32[2]
  %a = aten.add.Tensor(%x, %w) : f32[2]   # first
  %c = aten.mul.Tensor(%a, 0.0) : f32[2]
  %d = aten.mul.Tensor(%a, -0.0) : f32[2]
  %f = user.unknown(%x) : f32[2]
  %g = user.unknown(%x) : f32[2]
  return (%c, %d, %c, %f, %g)
}
)");
}

TEST_CASE("random ops are neither merged nor folded", "[cse][fold]") {
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!op.def->random) continue;
        const std::vector<Sample> samples = samples_of(op, DType::f32);
        if (samples.empty()) continue;
        Graph graph = graph_of(op, samples[0]);
        INFO(op.name);
        const std::size_t calls = graph.calls().size();
        CHECK(cse(graph).calls().size() == calls);
        CHECK(fold_constants(graph).calls().size() >= 1);
    }
}

TEST_CASE("what consists of random ops is neither merged nor folded", "[cse][fold]") {
    const Graph graph = parse(R"(graph g {
  %x = get_attr["x"] : f32[4]
  %a = aten.dropout.default(%x, 0.5, true) : f32[4]
  %b = aten.dropout.default(%x, 0.5, true) : f32[4]
  %c = aten.dropout.default(%x, 0.5, false) : f32[4]
  return (%a, %b, %c)
}
)");
    CHECK(cse(graph).calls().size() == 3);
    CHECK(fold_constants(graph).calls().size() == 2);
}

TEST_CASE("every value is exposed once", "[expose]") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %a = aten.neg.default(%x) : f32[2, 3]
  %t = aten.max.dim(%a, 1) : (f32[2], i64[2])
  %i = getitem(%t, 1) : i64[2]
  %b = aten.neg.default(%a) : f32[2, 3]
  return (%i, %b)
}
)");
    const ExposedGraph exposed = expose_all_values(graph);
    CHECK(print(checked(exposed.graph)) == R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %a = aten.neg.default(%x) : f32[2, 3]
  %t = aten.max.dim(%a, 1) : (f32[2], i64[2])
  %i = getitem(%t, 1) : i64[2]
  %b = aten.neg.default(%a) : f32[2, 3]
  %t_0 = getitem(%t, 0) : f32[2]
  return (%a, %t_0, %i, %b)
}
)");
    CHECK(exposed.outputs == std::vector<ValueRef>{{1, 0}, {2, 0}, {2, 1}, {4, 0}});
}
