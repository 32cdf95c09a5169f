// judge_kernels(): each kernel alone, with the code that the whole has, on what the reference computes.
#include "judge/kernels.h"

#include <catch2/catch.hpp>
#include <map>

#include "backends/halide/halide_backend.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "planted/bugs.h"
#include "planted_backend.h"

using namespace whittle;

namespace {

/// Two kernels: each product is an anchor.
const Graph kProducts = parse(R"(graph products {
  %x = placeholder["x"] : f32[4, 4]
  %a = aten.mm.default(%x, %x) : f32[4, 4]
  %b = aten.neg.default(%a) : f32[4, 4]
  %c = aten.mm.default(%b, %x) : f32[4, 4]
  %d = aten.tanh.default(%c) : f32[4, 4]
  return (%d)
}
)");

const Suspect kHalide = {.spec = "halide", .tier = Tier::computes};

Tensor ramp(const Sizes& sizes) {
    std::vector<float> values;
    for (std::int64_t i = 0; i < element_count(sizes); ++i) values.push_back(static_cast<float>(i % 7) / 8 - 0.25f);
    return Tensor::of(values, sizes);
}

struct JudgedKernels {
    Judgement whole;
    KernelJudgements kernels;
};

JudgedKernels judged_kernels(const Graph& graph, const std::vector<Tensor>& inputs) {
    const auto backend = halide::make_halide_backend();
    const FailingCase asked{.graph = graph, .inputs = inputs, .suspect = kHalide};
    CodeHashes codes;
    JudgedKernels result;
    {
        const program::Observing observing(&codes);
        result.whole = judge(asked, *backend);
    }
    result.kernels = judge_kernels(asked, result.whole, codes.all(), *backend);
    return result;
}

}  // namespace

TEST_CASE("each kernel is judged alone, by the code that the whole runs", "[kernels]") {
    const JudgedKernels found = judged_kernels(kProducts, {ramp({4, 4})});
    CHECK(found.whole.right());
    CHECK(found.kernels.none == "");
    CHECK(found.kernels.passes == "");
    CHECK_FALSE(found.kernels.first_wrong());
    REQUIRE(found.kernels.kernels.size() == 2);
    for (const KernelJudgement& kernel : found.kernels.kernels) {
        INFO(kernel.kernel << ": " << kernel.reason);
        CHECK(kernel.verdict == Verdict::right);
        CHECK(kernel.code.size() == 32);
        CHECK(kernel.same_code);
    }
    CHECK(found.kernels.kernels[0].code != found.kernels.kernels[1].code);
    CHECK(found.kernels.kernels[0].nodes == std::vector<std::string>{"a", "b"});
    CHECK(found.kernels.kernels[1].nodes == std::vector<std::string>{"c", "d"});
}

TEST_CASE("a wrong kernel is named, and the next one, which reads what is right, is right", "[kernels]") {
    const Planted bug("lower=aten.neg.default");
    const JudgedKernels found = judged_kernels(kProducts, {ramp({4, 4})});
    CHECK(found.whole.fails());
    REQUIRE(found.kernels.kernels.size() == 2);
    REQUIRE(found.kernels.first_wrong());
    CHECK(found.kernels.first_wrong()->kernel == "kernel_0");
    CHECK_THAT(found.kernels.kernels[0].reason, Catch::Contains("mismatch at run"));
    CHECK(found.kernels.kernels[1].verdict == Verdict::right);
    CHECK(found.kernels.passes == "");
}

TEST_CASE("where a pass is wrong, no kernel is, and that is said", "[kernels]") {
    const Graph graph = parse(
        "graph composite {\n  %x = placeholder[\"x\"] : f32[4]\n  %a = aten.hardtanh.default(%x) : f32[4]\n"
        "  %b = aten.neg.default(%a) : f32[4]\n  return (%b)\n}\n");
    const Planted bug("decompose=aten.hardtanh.default");
    const JudgedKernels found = judged_kernels(graph, {ramp({4})});
    CHECK(found.whole.fails());
    CHECK_FALSE(found.kernels.first_wrong());
    CHECK_THAT(found.kernels.passes, Catch::Contains("output 0"));
}

TEST_CASE("the kernels of a graph with gradients are those of forward and backward", "[kernels]") {
    const Graph graph = parse(
        "graph trained {\n  %x = placeholder[\"x\"] : f32[4] grad\n  %a = aten.neg.default(%x) : f32[4] grad\n"
        "  %y = aten.tanh.default(%a) : f32[4] grad\n  return (%y)\n}\n");
    const Planted bug("lower=aten.mul.Tensor");
    const JudgedKernels found = judged_kernels(graph, {ramp({4})});
    CHECK(found.whole.fails());
    REQUIRE(found.kernels.first_wrong());
    CHECK(found.kernels.first_wrong()->part == "backward");
    CHECK(found.kernels.kernels[0].part == "forward");
    for (const KernelJudgement& kernel : found.kernels.kernels) CHECK(kernel.same_code);
}

TEST_CASE("kernels are given views, several results and constants as in the whole", "[kernels]") {
    Graph graph = parse(R"(graph shapes {
  %x = placeholder["x"] : f32[4, 6]
  %w = get_attr["w"] : f32[6, 4]
  %i = placeholder["i"] : i64[2]
  %t = aten.t.default(%x) : f32[6, 4] strides[1, 6]
  %a = aten.mm.default(%x, %w) : f32[4, 4]
  %s = aten.index_select.default(%a, 0, %i) : f32[2, 4]
  %m = aten.max.dim(%s, 1) : (f32[2], i64[2])
  %v = getitem(%m, 0) : f32[2]
  %k = getitem(%m, 1) : i64[2]
  %b = aten.mm.default(%t, %a) : f32[6, 4]
  %r = aten.reshape.default(%b, [4, 6]) : f32[4, 6]
  %d = aten.mul.Tensor(%r, %x) : f32[4, 6]
  return (%d, %v, %k)
}
)");
    graph.attributes["w"] = ramp({6, 4});
    const JudgedKernels found = judged_kernels(graph, {ramp({4, 6}), Tensor::of(std::vector<std::int64_t>{3, 1}, {2})});
    INFO(found.whole.reason << found.kernels.none);
    CHECK(found.whole.right());
    CHECK(found.kernels.kernels.size() >= 3);
    for (const KernelJudgement& kernel : found.kernels.kernels) {
        INFO(kernel.kernel << ": " << kernel.reason);
        CHECK(kernel.verdict == Verdict::right);
        CHECK(kernel.same_code);
    }
}

TEST_CASE("a kernel whose code is not that of the whole is not judged", "[kernels]") {
    const auto backend = halide::make_halide_backend();
    const std::vector<Tensor> inputs = {ramp({4, 4})};
    const FailingCase asked{.graph = kProducts, .inputs = inputs, .suspect = kHalide};
    const Judgement whole = judge(asked, *backend);
    const std::vector<std::string> others = {"one", "another"};
    const KernelJudgements found = judge_kernels(asked, whole, others, *backend);
    REQUIRE(found.kernels.size() == 2);
    for (const KernelJudgement& kernel : found.kernels) {
        CHECK(kernel.verdict == Verdict::not_judged);
        CHECK_FALSE(kernel.same_code);
    }
    for (const KernelJudgement& kernel : judge_kernels(asked, whole, {}, *backend).kernels)
        CHECK(kernel.verdict == Verdict::right);  // nobody recorded what the whole runs
}

TEST_CASE("in ring arithmetic kernels are right, and one that races is not", "[kernels]") {
    const Graph graph = parse(R"(graph sums {
  %x = placeholder["x"] : f32[16, 16]
  %r = aten.relu.default(%x) : f32[16, 16]
  %a = aten.mm.default(%r, %x) : f32[16, 16]
  %m = aten.amax.default(%a, [1]) : f32[16]
  %t = aten.tanh.default(%m) : f32[16]
  return (%t)
}
)");
    const std::vector<Tensor> inputs = {ramp({16, 16})};
    const auto in_ring = [&] {
        const auto backend = halide::make_halide_backend();
        const FailingCase asked{.graph = graph, .inputs = inputs, .suspect = kHalide};
        return judge_kernels(asked, judge(asked, *backend), {}, *backend, KernelArithmetic::ring);
    };
    const KernelJudgements right = in_ring();
    CHECK(right.none == "");
    CHECK(right.kernels.size() >= 2);
    for (const KernelJudgement& kernel : right.kernels) {
        INFO(kernel.kernel << ": " << kernel.reason);
        CHECK(kernel.verdict == Verdict::right);
    }
    const Planted bug("schedule");
    const KernelJudgements wrong = in_ring();
    REQUIRE(wrong.first_wrong());
    CHECK_THAT(wrong.first_wrong()->reason, Catch::Contains("mismatch at run"));
}

TEST_CASE("why a graph has no kernels to be run alone is said", "[kernels]") {
    const Graph graph = parse(R"(graph chooses {
  @negated = graph negated {
    %a = placeholder["a"] : f32[3]
    %n = aten.neg.default(%a) : f32[3]
    return (%n)
  }
  %p = placeholder["p"] : bool[]
  %x = placeholder["x"] : f32[3]
  %y = higher_order.cond(%p, @negated, @negated, [%x]) : f32[3]
  return (%y)
}
)");
    const JudgedKernels found = judged_kernels(graph, {Tensor::of(Scalar(true), DType::boolean), ramp({3})});
    CHECK(found.kernels.kernels.empty());
    CHECK(found.kernels.none == "kernels cannot be run one by one: the graph has control flow");
}

TEST_CASE("a backend that does not run its kernels one by one is named", "[kernels]") {
    PlantedBackend backend;
    CHECK_FALSE(runs_kernels(backend, {}, KernelArithmetic::floats));
    CHECK(runs_kernels(*halide::make_halide_backend(), {}, KernelArithmetic::ring));
    const std::vector<Tensor> inputs = {ramp({4, 4})};
    const FailingCase asked{.graph = kProducts, .inputs = inputs, .suspect = {.tier = Tier::computes}};
    CHECK(judge_kernels(asked, judge(asked, backend), {}, backend).none ==
          "the backend planted does not run its kernels one by one");
}
