#include "passes/joint.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "base/error.h"
#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "passes/functionalize.h"
#include "tensor/random.h"

using namespace whittle;
using Catch::Contains;

namespace {

/// The graph with random elements in its attributes, which parse() leaves zero.
Graph parsed(std::string_view text) {
    Graph graph = parse(text);
    Random random(11);
    for (auto& [name, value] : graph.attributes)
        value = random_tensor(value.dtype(), value.sizes(), random).with_requires_grad(value.requires_grad());
    return graph;
}

std::vector<Tensor> random_inputs(const Graph& graph) {
    Random random(7);
    std::vector<Tensor> inputs;
    for (const NodeId id : graph.placeholders())
        inputs.push_back(random_tensor(graph.node({id}).meta().dtype, graph.node({id}).meta().sizes, random));
    return inputs;
}

/// sum(output * tangent) over the outputs that have tangents, which are the inputs behind the forward's.
double weighted_sum(const Graph& forward, const Joint& joint, const std::vector<Tensor>& inputs) {
    const std::vector<Tensor> outputs = evaluate(forward, std::span(inputs).first(joint.inputs));
    double sum = 0;
    for (std::size_t i = 0; i < joint.tangents.size(); ++i) {
        const auto value = outputs.at(joint.tangents[i]).values<double>();
        const auto tangent = inputs.at(joint.inputs + i).values<double>();
        for (std::size_t e = 0; e < value.size(); ++e) sum += value[e] * tangent[e];
    }
    return sum;
}

/// The tensor that a gradient is of, in the graph or the inputs.
Tensor& primal(Graph& graph, std::vector<Tensor>& inputs, const std::string& name) {
    const std::vector<NodeId> placeholders = graph.placeholders();
    for (std::size_t i = 0; i < placeholders.size(); ++i)
        if (graph.node({placeholders[i]}).name == name) return inputs.at(i);
    return graph.attributes.at(name);
}

/// The joint graph, whose forward outputs are those of the graph and whose gradients are those of finite differences.
/// All is f64.
Joint checked_joint(const Graph& forward, const JointOptions& options = {}) {
    Origins origins;
    Joint joint = whittle::joint(forward, options, &origins);
    INFO(print(joint.graph));
    verify(joint.graph, Stage::functional, Registry::instance());
    CHECK(origins.size() == joint.graph.nodes.size());
    for (std::size_t i = 0; i < origins.size(); ++i) CHECK_FALSE(origins[i].empty());

    std::vector<Tensor> inputs = random_inputs(joint.graph);
    const std::vector<Tensor> results = evaluate(joint.graph, inputs);
    REQUIRE(results.size() == joint.outputs + joint.gradients.size());
    const std::vector<Tensor> outputs = evaluate(forward, std::span(inputs).first(joint.inputs));
    REQUIRE(outputs.size() == joint.outputs);
    for (std::size_t i = 0; i < outputs.size(); ++i) CHECK(same_bits(results[i], outputs[i]));

    Graph moved = forward;
    for (std::size_t g = 0; g < joint.gradients.size(); ++g) {
        INFO("the gradient of " << joint.gradients[g]);
        Tensor& of = primal(moved, inputs, joint.gradients[g]);
        const Tensor original = of;
        const auto gradient = results[joint.outputs + g].values<double>();
        REQUIRE(gradient.size() == static_cast<std::size_t>(original.numel()));
        for (std::size_t e = 0; e < gradient.size(); ++e) {
            constexpr double kStep = 1e-6;
            const auto sum_at = [&](double step) {
                of = original.clone();
                of.mutable_data<double>()[e] += step;
                return weighted_sum(moved, joint, inputs);
            };
            CHECK((sum_at(kStep) - sum_at(-kStep)) / (2 * kStep) == Approx(gradient[e]).epsilon(1e-6).margin(1e-8));
        }
        of = original;
    }
    return joint;
}

std::vector<std::string> names(const Graph& graph, const std::vector<NodeId>& ids) {
    std::vector<std::string> names;
    for (const NodeId id : ids) names.push_back(graph.node({id}).name);
    return names;
}

}  // namespace

TEST_CASE("a joint graph takes tangents behind the inputs and returns gradients behind the outputs", "[joint]") {
    const Joint joint = checked_joint(parsed(R"(graph g {
  %x = placeholder["x"] : f64[3, 4] grad
  %n = placeholder["n"] : f64[3, 4]
  %w = get_attr["fc.weight"] : f64[4, 2] grad
  %scaled = aten.mul.Tensor(%x, %n) : f64[3, 4]
  %hidden = aten.mm.default(%scaled, %w) : f64[3, 2]
  %y = aten.tanh.default(%hidden) : f64[3, 2]
  %total = aten.sum.default(%y) : f64[]
  return (%y, %n, %total)
}
)"));
    CHECK(joint.inputs == 2);
    CHECK(joint.outputs == 3);
    CHECK(joint.tangents == std::vector<std::size_t>{0, 2});
    CHECK(joint.gradients == std::vector<std::string>{"x", "fc.weight"});
    CHECK(names(joint.graph, joint.graph.placeholders()) ==
          std::vector<std::string>{"x", "n", "tangent_y", "tangent_total"});
}

TEST_CASE("the gradients of all readers of a value are added", "[joint]") {
    const Joint joint = checked_joint(parsed(R"(graph g {
  %x = placeholder["x"] : f64[2, 3] grad
  %row = placeholder["row"] : f64[3] grad
  %a = aten.mul.Tensor(%x, %x) : f64[2, 3]
  %b = aten.tanh.default(%x) : f64[2, 3]
  %c = aten.add.Tensor(%a, %b) : f64[2, 3]
  %d = aten.mul.Tensor(%c, %row) : f64[2, 3]
  return (%d, %x, %d)
}
)"));
    CHECK(joint.tangents == std::vector<std::size_t>{0, 1, 2});
    CHECK(joint.gradients == std::vector<std::string>{"x", "row"});
}

TEST_CASE("an attribute that is read at two places has one gradient, their sum", "[joint]") {
    const Joint joint = checked_joint(parsed(R"(graph g {
  %x = placeholder["x"] : f64[2, 3]
  %w = get_attr["w"] : f64[3, 3] grad
  %again = get_attr["w"] : f64[3, 3] grad
  %a = aten.mm.default(%x, %w) : f64[2, 3]
  %b = aten.tanh.default(%a) : f64[2, 3]
  %c = aten.mm.default(%b, %again) : f64[2, 3]
  return (%c)
}
)"));
    CHECK(joint.gradients == std::vector<std::string>{"w"});
}

TEST_CASE("detached, integer and unread values get neither tangents nor gradients", "[joint]") {
    const Joint joint = checked_joint(parsed(R"(graph g {
  %x = placeholder["x"] : f64[3] grad
  %unread = placeholder["unread"] : f64[3] grad
  %positive = aten.gt.Scalar(%x, 0) : bool[3]
  %y = aten.mul.Tensor(%x, 3) : f64[3]
  %fixed = aten.detach.default(%y) : f64[3]
  %z = aten.mul.Tensor(%fixed, %fixed) : f64[3]
  return (%positive, %fixed, %z, %x)
}
)"));
    CHECK(joint.tangents == std::vector<std::size_t>{3});
    CHECK(joint.gradients == std::vector<std::string>{"x"});
    CHECK(joint.graph.outputs()[4] == joint.graph.placeholders()[2]);
}

TEST_CASE("a graph whose outputs need nothing that is wanted is its own joint graph", "[joint]") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[3]
  %y = aten.mul.Tensor(%x, %x) : f32[3]
  return (%y)
}
)");
    const Joint joint = whittle::joint(graph);
    CHECK(same_structure(joint.graph, graph));
    CHECK(joint.tangents.empty());
    CHECK(joint.gradients.empty());
}

TEST_CASE("new values of memory are outputs without tangents", "[joint]") {
    const Functionalized functional = functionalize(parsed(R"(graph g {
  %x = placeholder["x"] : f64[3] grad
  %average = get_attr["average"] : f64[3]
  %fixed = aten.detach.default(%x) : f64[3]
  %decayed = aten.mul_.Tensor(%average, 0.9) : f64[3]
  %moved = aten.add_.Tensor(%average, %fixed) : f64[3]
  %y = aten.mul.Tensor(%x, %average) : f64[3]
  return (%y)
}
)"));
    REQUIRE(functional.updates == std::vector<MemoryUpdate>{{"average", 1}});
    const Joint joint = whittle::joint(functional.graph, {.outputs = 1});
    CHECK(joint.outputs == 2);
    CHECK(joint.tangents == std::vector<std::size_t>{0});

    // y = x * average, where the average does not count as a function of x.
    const std::vector<Tensor> inputs = {Tensor::of<double>({1, 2, 3}, {3}), Tensor::of<double>({1, 1, 1}, {3})};
    const std::vector<Tensor> results = evaluate(joint.graph, inputs);
    CHECK(results.at(2).values<double>() == results.at(1).values<double>());
}

TEST_CASE("only ops without a rule are decomposed, and one without decomposition is named", "[joint]") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[3] grad
  %z = user.branch(%x) : f32[3]
  return (%z)
}
)");
    CHECK_THROWS_WITH(whittle::joint(graph), Contains("no gradient of user.branch"));
    CHECK_THROWS_AS(whittle::joint(graph, {.wanted = std::set<std::string>{"nothing"}}), Error);
}

TEST_CASE("the gradient of cond is a cond of the gradients of its branches", "[joint]") {
    for (const char* condition : {"gt", "lt"}) {
        const Joint joint = checked_joint(parsed(R"(graph g {
  @double = graph double {
    %a = placeholder["a"] : f64[3]
    %b = placeholder["b"] : f64[3]
    %n = placeholder["n"] : f64[3]
    %s = aten.mul.Tensor(%a, %b) : f64[3]
    %t = aten.tanh.default(%a) : f64[3]
    return (%s, %t)
  }
  @first = graph first {
    %a = placeholder["a"] : f64[3]
    %b = placeholder["b"] : f64[3]
    %n = placeholder["n"] : f64[3]
    %s = aten.mul.Tensor(%a, %n) : f64[3]
    %t = aten.exp.default(%n) : f64[3]
    return (%s, %t)
  }
  %x = placeholder["x"] : f64[3] grad
  %w = placeholder["w"] : f64[3] grad
  %n = placeholder["n"] : f64[3]
  %norm = aten.mul.Tensor(%n, %n) : f64[3]
  %sum = aten.sum.default(%norm) : f64[]
  %pred = aten.)" + std::string(condition) + R"(.Scalar(%sum, 0) : bool[]
  %both = higher_order.cond(%pred, @double, @first, [%x, %w, %n]) : (f64[3], f64[3])
  %y = getitem(%both, 0) : f64[3]
  %z = getitem(%both, 1) : f64[3]
  %r = aten.mul.Tensor(%y, %z) : f64[3]
  return (%r)
}
)"));
        CHECK(joint.gradients == std::vector<std::string>{"x", "w"});
        CHECK(std::ranges::count(joint.graph.nodes, "higher_order.cond", &Node::target) == 2);
        CHECK(joint.graph.subgraphs.size() == 4);
    }
}

TEST_CASE("the gradient of map is a map over slices and gradients, and a sum of what all slices read", "[joint]") {
    const Joint joint = checked_joint(parsed(R"(graph g {
  @row = graph row {
    %a = placeholder["a"] : f64[3]
    %n = placeholder["n"] : f64[3]
    %w = placeholder["w"] : f64[3]
    %v = placeholder["v"] : f64[3]
    %s = aten.mul.Tensor(%a, %w) : f64[3]
    %t = aten.tanh.default(%s) : f64[3]
    %u = aten.mul.Tensor(%t, %n) : f64[3]
    %q = aten.sum.default(%u) : f64[]
    return (%u, %q, %v)
  }
  %x = placeholder["x"] : f64[4, 3] grad
  %n = placeholder["n"] : f64[4, 3]
  %w = placeholder["w"] : f64[3] grad
  %v = placeholder["v"] : f64[3]
  %rows = higher_order.map(@row, [%x, %n], [%w, %v]) : (f64[4, 3], f64[4], f64[4, 3])
  %u = getitem(%rows, 0) : f64[4, 3]
  %q = getitem(%rows, 1) : f64[4]
  %p = getitem(%rows, 2) : f64[4, 3]
  return (%u, %q, %p)
}
)"));
    CHECK(joint.gradients == std::vector<std::string>{"x", "w"});
    CHECK(joint.tangents == std::vector<std::size_t>{0, 1, 2});  // which of them depend on x only the body knows
}

TEST_CASE("while_loop, random numbers and ops without a gradient are refused in their place", "[joint]") {
    const std::string loop = R"(graph g {
  @below = graph below {
    %a = placeholder["a"] : f64[]
    %c = aten.lt.Scalar(%a, 9) : bool[]
    return (%c)
  }
  @grow = graph grow {
    %a = placeholder["a"] : f64[]
    %b = aten.add.Tensor(%a, %a) : f64[]
    return (%b)
  }
  %x = placeholder["x"] : f64[] grad
  %y = higher_order.while_loop(@below, @grow, [%x]) : f64[]
  return (%y)
}
)";
    CHECK_THROWS_WITH(whittle::joint(parse(loop)), Contains("node %y") &&
                                                       Contains("no gradient of higher_order.while_loop") &&
                                                       Contains("detach()"));
    const auto mapped = [](const std::string& call) {
        return parse("graph g {\n  @row = graph row {\n    %a = placeholder[\"a\"] : f64[3]\n    %b = " + call +
                     " : f64[3]\n    return (%b)\n  }\n  %x = placeholder[\"x\"] : f64[2, 3] grad\n"
                     "  %y = higher_order.map(@row, [%x]) : f64[2, 3]\n  return (%y)\n}\n");
    };
    CHECK_THROWS_WITH(whittle::joint(mapped("aten.dropout.default(%a, 0.5, true)")),
                      Contains("nested graph body_graph_backward: found an op that draws random numbers"));
    CHECK_THROWS_WITH(whittle::joint(mapped("user.branch(%a)")), Contains("no gradient of user.branch"));
}
