#include "report/graph_diff.h"

#include <algorithm>
#include <catch2/catch.hpp>

#include "graph/text.h"
#include "ops/core/registry.h"
#include "ops/samples/table.h"

using namespace whittle;
using whittle::report::diff;
using whittle::report::GraphDiff;

namespace {

const char* const kMlp = R"(graph mlp {
  %x = placeholder["x"] : f32[2, 4]
  %w = get_attr["fc.weight"] : f32[4, 4]
  %mm = aten.mm.default(%x, %w) : f32[2, 4]
  %relu = aten.relu.default(%mm) : f32[2, 4]
  %sum = aten.sum.dim_IntList(%relu, [1], true) : f32[2, 1]
  %div = aten.div.Tensor(%relu, %sum) : f32[2, 4]
  return (%div)
})";

/// kMlp with one text in another's place.
Graph mlp_with(const std::string& from, const std::string& to) {
    std::string text = kMlp;
    const std::size_t at = text.find(from);
    REQUIRE(at != std::string::npos);
    return parse(text.replace(at, from.size(), to));
}

}  // namespace

TEST_CASE("a graph does not differ from itself, renamed or in another order") {
    const Graph graph = parse(kMlp);
    CHECK(diff(graph, graph).same());
    const Graph other = parse(R"(graph other {
  %input = placeholder["x"] : f32[2, 4]
  %p0 = get_attr["fc.weight"] : f32[4, 4]
  %unary = aten.relu.default(%input) : f32[2, 4]
  %a = aten.mm.default(%input, %p0) : f32[2, 4]
  return (%unary, %a)
})");
    const Graph moved = parse(R"(graph other {
  %w = get_attr["fc.weight"] : f32[4, 4]
  %x = placeholder["x"] : f32[2, 4]
  %mm = aten.mm.default(%x, %w) : f32[2, 4]
  %relu = aten.relu.default(%x) : f32[2, 4]
  return (%relu, %mm)
})");
    CHECK(diff(other, moved).same());
    CHECK(report::shape_hash(other) == report::shape_hash(moved));
    CHECK(report::shape_hash(other) != report::shape_hash(graph));
}

TEST_CASE("a call that was put in between is new, and its reader reads it") {
    const GraphDiff found = diff(parse(kMlp), parse(R"(graph mlp {
  %x = placeholder["x"] : f32[2, 4]
  %w = get_attr["fc.weight"] : f32[4, 4]
  %mm = aten.mm.default(%x, %w) : f32[2, 4]
  %neg = aten.neg.default(%mm) : f32[2, 4]
  %act = aten.relu.default(%neg) : f32[2, 4]
  %total = aten.sum.dim_IntList(%act, [1], true) : f32[2, 1]
  %out = aten.div.Tensor(%act, %total) : f32[2, 4]
  return (%out)
})"));
    REQUIRE(found.nodes.size() == 2);
    CHECK(found.nodes[0].before.empty());
    CHECK(found.nodes[0].after == "%neg = aten.neg.default(%mm) : f32[2, 4]");
    CHECK(found.nodes[1].changes == std::vector<std::string>{"argument 'self': %neg, was %mm"});
}

TEST_CASE("an argument, an op in another's place and a call that is gone are each one difference") {
    const Graph graph = parse(kMlp);
    const GraphDiff argument = diff(graph, mlp_with("[1], true", "[0], true"));
    REQUIRE(argument.nodes.size() == 1);
    CHECK(argument.nodes[0].changes == std::vector<std::string>{"argument 'dim': [0], was [1]"});

    const GraphDiff op = diff(graph, mlp_with("aten.relu.default", "aten.tanh.default"));
    REQUIRE(op.nodes.size() == 1);
    CHECK(op.nodes[0].changes == std::vector<std::string>{"op: aten.tanh.default, was aten.relu.default"});

    const GraphDiff gone = diff(graph, parse(R"(graph mlp {
  %x = placeholder["x"] : f32[2, 4]
  %w = get_attr["fc.weight"] : f32[4, 4]
  %mm = aten.mm.default(%x, %w) : f32[2, 4]
  %sum = aten.sum.dim_IntList(%mm, [1], true) : f32[2, 1]
  %div = aten.div.Tensor(%mm, %sum) : f32[2, 4]
  return (%div)
})"));
    REQUIRE(gone.nodes.size() == 3);
    CHECK(gone.nodes[0].before == "%relu = aten.relu.default(%mm) : f32[2, 4]");
    CHECK(gone.nodes[0].after.empty());
    CHECK(gone.nodes[1].changes == std::vector<std::string>{"argument 'self': %mm, was %relu"});
}

TEST_CASE("other sizes are told where they begin; what follows from them is counted") {
    Graph wide = parse(kMlp);
    wide.nodes[0].results[0] = ValueMeta::contiguous(DType::f32, {8, 4});
    infer_all(wide);
    const GraphDiff found = diff(parse(kMlp), wide);
    REQUIRE(found.nodes.size() == 1);
    CHECK(found.nodes[0].changes == std::vector<std::string>{"result: f32[8, 4], was f32[2, 4]"});
    CHECK(found.resized == 4);
}

TEST_CASE("a parameter's elements are compared, and so is the order of calls where memory is written") {
    Graph trained = parse(kMlp);
    trained.attributes.at("fc.weight") = Tensor::of(std::vector<float>(16, 0.5F), {4, 4});
    const GraphDiff weights = diff(parse(kMlp), trained);
    REQUIRE(weights.nodes.size() == 1);
    CHECK(weights.nodes[0].changes == std::vector<std::string>{"elements: 16 of 16 differ, by 0.5 at most"});

    const auto writes = [](bool first) {
        const std::string write = "  %add_ = aten.add_.Tensor(%x, 1) : f32[2]\n";
        const std::string read = "  %neg = aten.neg.default(%x) : f32[2]\n";
        return parse("graph g {\n  %x = placeholder[\"x\"] : f32[2]\n" + (first ? write + read : read + write) +
                     "  return (%neg)\n}");
    };
    CHECK(diff(writes(true), writes(true)).same());
    CHECK_FALSE(diff(writes(true), writes(false)).same());
}

TEST_CASE("every sample's graph is found again in itself, and differs from that of another op") {
    Graph last;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (!(op.def->dtypes & set_of(DType::f32))) continue;
        const std::vector<Sample> samples = samples_of(op, DType::f32);
        if (samples.empty()) continue;
        const Graph graph = graph_of(op, samples.front());
        INFO(op.name);
        CHECK(diff(graph, graph).same());
        if (!last.nodes.empty()) CHECK_FALSE(diff(last, graph).same());
        last = graph;
    }
}
