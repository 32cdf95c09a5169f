#include "passes/partition.h"

#include <catch2/catch.hpp>

#include "graph/text.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "passes/min_cut.h"
#include "tensor/random.h"

using namespace whittle;
using Names = std::vector<std::string>;

namespace {

/// A joint graph whose last placeholder is the one tangent and whose first output is the forward's.
Joint joint_of(std::string_view text) {
    Joint joint{.graph = parse(text), .tangents = {0}, .outputs = 1};
    joint.inputs = joint.graph.placeholders().size() - 1;
    for (std::size_t i = 1; i < joint.graph.outputs().size(); ++i) joint.gradients.push_back("g" + std::to_string(i));
    return joint;
}

/// The two graphs, one after the other, compute what the joint graph does.
void check_same_as_joint(const Joint& joint, const Partition& parts) {
    Random random(3);
    std::vector<Tensor> inputs;
    for (const NodeId id : joint.graph.placeholders()) {
        const ValueMeta& meta = joint.graph.node({id}).meta();
        inputs.push_back(random_tensor(meta.dtype, meta.sizes, random));
    }
    const std::vector<Tensor> expected = evaluate(joint.graph, inputs);
    const std::vector<Tensor> forward = evaluate(parts.forward, std::span(inputs).first(joint.inputs));
    std::vector<Tensor> passed;
    for (const Saved& saved : parts.saved)
        passed.push_back(saved.is_output ? forward.at(saved.position) : inputs.at(saved.position));
    for (std::size_t i = joint.inputs; i < inputs.size(); ++i) passed.push_back(inputs[i]);
    const std::vector<Tensor> backward = evaluate(parts.backward, passed);
    REQUIRE(backward.size() == joint.gradients.size());
    for (std::size_t i = 0; i < joint.outputs; ++i) CHECK(same_bits(forward.at(i), expected.at(i)));
    for (std::size_t i = 0; i < backward.size(); ++i) CHECK(same_bits(backward[i], expected.at(joint.outputs + i)));
}

/// By default as slow as it may be: small graphs have no time to spare.
constexpr PartitionOptions kLeast{.slowdown = 10}, kAll{.partitioner = Partitioner::all};

Partition checked_partition(const Joint& joint, const PartitionOptions& options = kLeast) {
    Partition parts = partition(joint, options);
    verify(parts.forward, Stage::functional, Registry::instance());
    verify(parts.backward, Stage::functional, Registry::instance());
    CHECK(parts.forward_origins.size() == parts.forward.nodes.size());
    CHECK(parts.backward_origins.size() == parts.backward.nodes.size());
    return parts;
}

/// What the backward graph is given of the forward graph's calls.
Names saved_names(const Partition& parts) {
    Names names;
    for (const Saved& saved : parts.saved)
        if (saved.is_output) names.push_back(parts.forward.node({parts.forward.outputs().at(saved.position)}).name);
    return names;
}

}  // namespace

TEST_CASE("of a chain behind a matmul the partitions save all that is read, and its narrowest place", "[partition]") {
    const Joint joint = joint_of(R"(graph g {
  %x = placeholder["x"] : f32[8, 16]
  %w = placeholder["w"] : f32[16, 8]
  %t = placeholder["t"] : f32[8, 8]
  %h = aten.mm.default(%x, %w) : f32[8, 8]
  %a = aten.tanh.default(%h) : f32[8, 8]
  %b = aten.mul.Tensor(%a, %a) : f32[8, 8]
  %y = aten.sin.default(%b) : f32[8, 8]
  %slope = aten.cos.default(%b) : f32[8, 8]
  %gb = aten.mul.Tensor(%t, %slope) : f32[8, 8]
  %ga = aten.mul.Tensor(%gb, %a) : f32[8, 8]
  %wt = aten.t.default(%w) : f32[8, 16] strides[1, 8]
  %gx = aten.mm.default(%ga, %wt) : f32[8, 16]
  return (%y, %gx)
}
)");
    const Partition all = checked_partition(joint, kAll);
    check_same_as_joint(joint, all);
    CHECK(saved_names(all) == Names{"a", "b"});
    CHECK(all.saved == std::vector<Saved>{{false, 1}, {true, 1}, {true, 2}});
    CHECK(all.saved_bytes == 2 * 8 * 8 * 4);
    CHECK(all.recomputed.empty());

    const Partition least = checked_partition(joint);
    check_same_as_joint(joint, least);
    CHECK(saved_names(least) == Names{"a"});
    CHECK(least.saved_bytes == 8 * 8 * 4);
    CHECK(least.recomputed == Names{"b"});

    // A cut that is known is taken over, unless it is another graph's.
    Cut other = least.cut;
    REQUIRE(other.again.at(5));  // %b
    other.again[5] = false;
    CHECK(saved_names(checked_partition(joint, {.slowdown = 10, .known = &other})) == Names{"a", "b"});
    ++other.calls;
    CHECK(saved_names(checked_partition(joint, {.slowdown = 10, .known = &other})) == Names{"a"});
}

TEST_CASE("what is cheap is computed again from inputs, where it is first read", "[partition]") {
    const Joint joint = joint_of(R"(graph g {
  %x = placeholder["x"] : f32[64]
  %t = placeholder["t"] : f32[64]
  %a = aten.sin.default(%x) : f32[64]
  %b = aten.exp.default(%a) : f32[64]
  %y = aten.tanh.default(%b) : f32[64]
  %g1 = aten.mul.Tensor(%t, %y) : f32[64]
  %g2 = aten.mul.Tensor(%g1, %b) : f32[64]
  return (%y, %g2)
}
)");
    const Partition least = checked_partition(joint);
    check_same_as_joint(joint, least);
    CHECK(least.saved == std::vector<Saved>{{false, 0}});
    CHECK(least.saved_bytes == 0);
    CHECK(print(least.backward) == R"(graph g_backward {
  %x = placeholder["x"] : f32[64]
  %t = placeholder["t"] : f32[64]
  %a = aten.sin.default(%x) : f32[64]
  %b = aten.exp.default(%a) : f32[64]
  %y = aten.tanh.default(%b) : f32[64]
  %g1 = aten.mul.Tensor(%t, %y) : f32[64]
  %g2 = aten.mul.Tensor(%g1, %b) : f32[64]
  return (%g2)
}
)");
}

TEST_CASE("matmuls, convolutions and random values are not computed again", "[partition]") {
    const auto saved = [](const std::string& a, const std::string& b, const std::string& call,
                          const std::string& type) {
        const Joint joint =
            joint_of("graph g {\n  %a = placeholder[\"a\"] : " + a + "\n  %b = placeholder[\"b\"] : " + b +
                     "\n  %t = placeholder[\"t\"] : " + type + "\n  %h = " + call + " : " + type +
                     "\n  %g = aten.mul.Tensor(%t, %h) : " + type + "\n  return (%h, %g)\n}\n");
        const Partition least = checked_partition(joint);
        CHECK(least.recomputed.empty() == !saved_names(least).empty());
        return !saved_names(least).empty();
    };
    CHECK(saved("f32[64, 2]", "f32[2, 64]", "aten.mm.default(%a, %b)", "f32[64, 64]"));
    CHECK(saved("f32[1, 2, 32]", "f32[64, 2, 1]",
                "aten.convolution.default(%a, %b, none, [1], [0], [1], false, [0], 1)", "f32[1, 64, 32]"));
    CHECK(saved("f32[64]", "f32[64]", "aten.bernoulli.p(%a, 0.5)", "f32[64]"));
    CHECK_FALSE(saved("f32[64]", "f32[64]", "aten.mul.Tensor(%a, %b)", "f32[64]"));
}

TEST_CASE("a reduction is computed again only where it is over few elements", "[partition]") {
    const auto saved = [](const std::string& sizes) {
        return saved_names(checked_partition(joint_of("graph g {\n  %x = placeholder[\"x\"] : f32[" + sizes + R"(]
  %t = placeholder["t"] : f32[300]
  %s = aten.sum.dim_IntList(%x, [1]) : f32[300]
  %y = aten.exp.default(%s) : f32[300]
  %g = aten.mul.Tensor(%t, %y) : f32[300]
  return (%y, %g)
}
)")));
    };
    CHECK(saved("300, 8").empty());
    CHECK(saved("300, 1000") == Names{"y"});
}

TEST_CASE("statistics that the program keeps are computed once, others again", "[partition]") {
    const auto recomputed = [](const std::string& kept) {
        Joint joint = joint_of(R"(graph g {
  %x = placeholder["x"] : f32[4, 2]
  %t = placeholder["t"] : f32[4, 2]
  %norm = aten._native_batch_norm_legit.no_stats(%x, none, none, true, 0.1, 1e-05) : (f32[4, 2], f32[2], f32[2])
  %y = getitem(%norm, 0) : f32[4, 2]
  %mean = getitem(%norm, 1) : f32[2]
  %z = aten.relu.default(%y) : f32[4, 2]
  %g = aten.mul.Tensor(%t, %y) : f32[4, 2]
  return (%z, )" + kept + R"(, %g)
}
)");
        joint.outputs = 2;
        joint.gradients.resize(1);
        const Partition parts = checked_partition(joint);
        check_same_as_joint(joint, parts);
        return parts.recomputed;
    };
    CHECK(recomputed("%z") == Names{"norm"});
    CHECK(recomputed("%mean").empty());
}

TEST_CASE("views are not saved, and memory counts once", "[partition]") {
    const Joint joint = joint_of(R"(graph g {
  %x = placeholder["x"] : f32[4, 4]
  %w = placeholder["w"] : f32[4, 4]
  %t = placeholder["t"] : f32[4, 4]
  %wt = aten.t.default(%w) : f32[4, 4] strides[1, 4]
  %h = aten.mm.default(%x, %wt) : f32[4, 4]
  %flipped = aten.t.default(%h) : f32[4, 4] strides[1, 4]
  %y = aten.mm.default(%flipped, %h) : f32[4, 4]
  %g1 = aten.mm.default(%t, %flipped) : f32[4, 4]
  %g2 = aten.mul.Tensor(%g1, %h) : f32[4, 4]
  %g3 = aten.mm.default(%g2, %wt) : f32[4, 4]
  return (%y, %g3)
}
)");
    const Partition all = checked_partition(joint, kAll);
    check_same_as_joint(joint, all);
    CHECK(saved_names(all) == Names{"wt", "h", "flipped"});
    CHECK(all.saved_bytes == 4 * 4 * 4);
    const Partition least = checked_partition(joint);
    check_same_as_joint(joint, least);
    CHECK(saved_names(least) == Names{"h"});
    CHECK(least.saved_bytes == 4 * 4 * 4);
}

TEST_CASE("what is computed again takes no longer than the slowdown allows, and buys the most bytes", "[partition]") {
    // Two layers alike, and a cheaper one that is wider: each has a chain that can be saved or computed again.
    std::string text = "graph g {\n";
    const std::vector<std::string> sizes = {"64, 64", "64, 64", "64, 128"};
    for (std::size_t i = 0; i < 3; ++i)
        text += "  %w" + std::to_string(i) + " = placeholder[\"w\"] : f32[" + sizes[i] + "]\n";
    text += "  %t = placeholder[\"t\"] : f32[]\n";
    std::string sums, gradients;
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string n = std::to_string(i), type = " : f32[" + sizes[i] + "]\n";
        const char* slope = i < 2 ? "aten.sin.default" : "aten.neg.default";
        text += "  %a" + n + " = aten.mul.Tensor(%w" + n + ", %w" + n + ")" + type;
        text += "  %b" + n + " = " + slope + "(%a" + n + ")" + type;
        text += "  %s" + n + " = aten.sum.default(%b" + n + ") : f32[]\n";
    }
    text += "  %u = aten.add.Tensor(%s0, %s1) : f32[]\n  %y = aten.add.Tensor(%u, %s2) : f32[]\n";
    for (std::size_t i = 0; i < 3; ++i) {
        const std::string n = std::to_string(i), type = " : f32[" + sizes[i] + "]\n";
        text += "  %g" + n + " = aten.mul.Tensor(%b" + n + ", %t)" + type;
        gradients += ", %g" + n;
    }
    const Joint joint = joint_of(text + "  return (%y" + gradients + ")\n}\n");
    const auto saved = [&](double slowdown) {
        const Partition parts = checked_partition(joint, {.slowdown = slowdown});
        check_same_as_joint(joint, parts);
        return saved_names(parts);
    };
    CHECK(saved(1.0) == Names{"b0", "b1", "b2"});
    const Names one = saved(1.18);  // of two that are alike: the third does not fit
    CHECK(one.size() == 2);
    CHECK(one.back() == "b2");
    CHECK(saved(1.25) == Names{"b0", "b1"});
    CHECK(saved(1.4).size() == 1);
    CHECK(saved(2.0).empty());
}

TEST_CASE("a memory budget is met by computing again what otherwise is not, but nothing random", "[partition]") {
    const Joint joint = joint_of(R"(graph g {
  %x = placeholder["x"] : f32[8, 16]
  %w = placeholder["w"] : f32[16, 8]
  %t = placeholder["t"] : f32[8, 8]
  %h = aten.mm.default(%x, %w) : f32[8, 8]
  %m = aten.bernoulli.p(%h, 0.5) : f32[8, 8]
  %a = aten.tanh.default(%h) : f32[8, 8]
  %y = aten.mul.Tensor(%a, %m) : f32[8, 8]
  %ga = aten.mul.Tensor(%t, %m) : f32[8, 8]
  %gh = aten.mul.Tensor(%ga, %a) : f32[8, 8]
  return (%y, %gh)
}
)");
    const auto saved = [&](double budget) {
        const Partition parts = checked_partition(joint, {.memory_budget = budget});
        return saved_names(parts);
    };
    CHECK(saved(1) == Names{"m", "a"});
    CHECK(saved(0.9) == Names{"m"});
    CHECK(saved(0.5) == Names{"m"});
    CHECK(saved(0) == Names{"m"});
    CHECK(checked_partition(joint, {.memory_budget = 0.5}).recomputed == Names{"h", "a"});
}

TEST_CASE("the cheapest cut that is nearest to the sink", "[partition]") {
    FlowNetwork network(5);  // 0 -> 1 -> 2 -> 4, all equal, beside 0 -> 3 -> 4, cheap at its beginning
    network.add_edge(0, 1, 5);
    network.add_edge(1, 2, 5);
    network.add_edge(2, 4, 5);
    network.add_edge(0, 3, 1);
    network.add_edge(3, 4, FlowNetwork::kNever);
    CHECK(network.sink_side(0, 4) == std::vector<bool>{false, false, false, true, true});
}
