// Exact data: what is exact on them, what is left out, and that a fault of one unit in the last place is found.
#include "judge/exact.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>
#include <functional>
#include <set>

#include "base/error.h"
#include "base/sanitizer.h"
#include "graph/text.h"
#include "judge/frames.h"
#include "judge/judge.h"
#include "ops/core/builder.h"
#include "ops/core/interpreter.h"
#include "ops/samples/table.h"
#include "planted_backend.h"
#include "tensor/random.h"

using namespace whittle;
using Catch::Contains;

namespace {

const Accuracy kExact{.mode = Accuracy::Mode::exact};

/// A convolution, its activation, means of four and a product; then what rounds.
Graph network() {
    Random random(7);
    Graph graph = parse(R"(graph g {
        %x = placeholder["x"] : f32[2, 6, 8, 8]
        %w = get_attr["w"] : f32[5, 6, 3, 3]
        %b = get_attr["b"] : f32[5]
        %l = get_attr["l"] : f32[80, 12]
        %c = aten.convolution.default(%x, %w, %b, [1, 1], [1, 1], [1, 1], false, [0, 0], 1) : f32[2, 5, 8, 8]
        %r = aten.relu.default(%c) : f32[2, 5, 8, 8]
        %p = aten.avg_pool2d.default(%r, [2, 2], [2, 2]) : f32[2, 5, 4, 4]
        %f = aten.view.default(%p, [2, 80]) : f32[2, 80]
        %m = aten.mm.default(%f, %l) : f32[2, 12]
        %t = aten.tanh.default(%m) : f32[2, 12]
        %s = aten.add.Tensor(%t, %m) : f32[2, 12]
        return (%s)
    })");
    graph.attributes = {{"w", random_tensor(DType::f32, {5, 6, 3, 3}, random)},
                        {"b", random_tensor(DType::f32, {5}, random)},
                        {"l", random_tensor(DType::f32, {80, 12}, random)}};
    return graph;
}

std::vector<Tensor> network_inputs() {
    Random random(3);
    return {random_tensor(DType::f32, {2, 6, 8, 8}, random)};
}

/// The reason for one call on x, f32[4], without data being chosen.
std::string why(const std::string& calls, std::vector<float> x = {1, 2, 3, 4}) {
    const auto size = std::to_string(x.size());
    const Graph graph = parse("graph g {\n  %x = placeholder[\"x\"] : f32[" + size + "]\n  " + calls + "\n}\n");
    const std::vector<Tensor> inputs = {Tensor::of(x, {static_cast<std::int64_t>(x.size())})};
    return not_exact(graph, inputs, evaluate(graph, inputs));
}

/// Each result of the op is wrong as `wrong` has it.
PlantedBackend wrong_at(const std::string& op, const std::function<void(std::vector<float>&)>& wrong) {
    PlantedBackend backend;
    backend.on_result = [=](const Node& call, const Tensor& value) {
        if (call.target != op) return value;
        std::vector<float> values = value.values<float>();
        wrong(values);
        return Tensor::of(values, value.sizes());
    };
    return backend;
}

/// The first element that is not 0, by one unit in the last place.
void one_ulp_off(std::vector<float>& values) {
    const auto first = std::ranges::find_if(values, [](float x) { return x != 0; });
    if (first != values.end()) *first = std::nextafter(*first, 2 * *first);
}

/// By less than the tolerance.
void slightly_larger(std::vector<float>& values) {
    for (float& x : values) x += x * 0x1p-18f;
}

Judgement judged(const LoadedFrame& frame, Backend& backend, const Accuracy& accuracy) {
    return judge(case_of(frame, {.spec = BackendSpec("planted"), .accuracy = accuracy, .tier = Tier::computes}),
                 backend);
}

}  // namespace

TEST_CASE("data are chosen so that the operations before the first one that rounds are exact", "[exact]") {
    const ExactCase made = exact_case(network(), network_inputs(), 0);
    REQUIRE(made.chosen);
    CHECK(made.all == 7);
    CHECK(made.kept == 5);
    CHECK(made.left_out == std::vector<std::string>{"aten.tanh.default is not exact"});
    CHECK(made.scope() == "5 of 7 operations: aten.tanh.default is not exact");
    const std::vector<Tensor> values = evaluate(made.graph, made.inputs);
    CHECK(not_exact(made.graph, made.inputs, values).empty());
    REQUIRE(values.size() == 1);
    const std::vector<double> logits = values[0].values<double>();
    CHECK(std::ranges::count_if(logits, [](double x) { return x != 0; }) > 12);  // they show something
    // The same seed, the same data; and exact data stay as they are.
    const ExactCase again = exact_case(network(), network_inputs(), 0);
    CHECK(same_bits(again.inputs[0], made.inputs[0]));
    CHECK(same_bits(again.graph.attributes.at("w"), made.graph.attributes.at("w")));
    CHECK_FALSE(exact_case(made.graph, made.inputs, 5).chosen);
}

TEST_CASE("random data are not exact", "[exact]") {
    const std::vector<Tensor> inputs = network_inputs();
    CHECK_THAT(not_exact(network(), inputs, {}),
               Contains("aten.convolution.default computes sums that need more digits"));
}

TEST_CASE("faults below the tolerance are found on exact data, one unit in the last place too", "[exact]") {
    const std::vector<PlantedBackend> faults = {wrong_at("aten.mm.default", one_ulp_off),
                                                wrong_at("aten.convolution.default", slightly_larger),
                                                wrong_at("aten.avg_pool2d.default", slightly_larger)};
    LoadedFrame frame{.graph = network(), .inputs = network_inputs()};
    for (PlantedBackend wrong : faults) CHECK(judged(frame, wrong, {}).right());
    make_exact(frame, 0);
    for (PlantedBackend wrong : faults) {
        CHECK(judged(frame, wrong, {}).right());
        const Judgement said = judged(frame, wrong, kExact);
        CHECK(said.fails());
        CHECK_THAT(said.reason, Contains("mismatch"));
    }
    PlantedBackend right;
    const Judgement good = judged(frame, right, kExact);
    CHECK(good.right());
    CHECK(text_of(good) == "right: matches eager, judged 5 of 7 operations: aten.tanh.default is not exact");
}

TEST_CASE("a mean of numbers whose sum takes more digits than its result is not exact", "[exact]") {
    CHECK_THAT(why("%y = aten.mean.default(%x) : f32[]\n  return (%y)", {16777216, 1, -16777216, 1}),
               Contains("more digits"));
}

TEST_CASE("without exact data there is no verdict, by name of the operation", "[exact]") {
    PlantedBackend right;
    const LoadedFrame frame{.graph = network(), .inputs = network_inputs()};
    const Judgement said = judged(frame, right, kExact);
    CHECK(said.verdict == Verdict::not_judged);
    CHECK_THAT(said.reason, Contains("aten.convolution.default"));
    LoadedFrame none{.graph = parse("graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.exp.default(%x) : "
                                    "f32[2]\n  return (%y)\n}\n"),
                     .inputs = {Tensor::of<float>({0.5f, 0.3f})}};
    make_exact(none, 0);
    CHECK(text_of(judged(none, right, kExact)) == "not judged: aten.exp.default is not exact");
}

TEST_CASE("which calls are exact depends on their operands", "[exact]") {
    CHECK(why("%y = aten.div.Scalar(%x, 4.0) : f32[4]\n  return (%y)").empty());
    CHECK_THAT(why("%y = aten.div.Scalar(%x, 3.0) : f32[4]\n  return (%y)"), Contains("not powers of two"));
    CHECK(why("%y = aten.mean.default(%x) : f32[]\n  return (%y)").empty());
    CHECK_THAT(why("%y = aten.mean.default(%x) : f32[]\n  return (%y)", {3, 3, 3}),
               Contains("aten.mean.default divides by a number that is not a power of two"));
    CHECK(why("%y = aten.sum.default(%x) : f32[]\n  return (%y)", {16777215, 1}).empty());
    CHECK_THAT(why("%y = aten.sum.default(%x) : f32[]\n  return (%y)", {16777216, 2}), Contains("more digits"));
    // The result is small, but another order of the sum is not.
    CHECK_THAT(why("%y = aten.sum.default(%x) : f32[]\n  return (%y)", {16777216, 1, -16777216}), Contains("digits"));
    CHECK_THAT(why("%y = aten.add.Tensor(%x, %x) : f32[2]\n  return (%y)", {16777216, 1.5}), Contains("digits"));
    CHECK_THAT(why("%y = aten.mul.Tensor(%x, %x) : f32[2]\n  return (%y)", {4097, 0.5}), Contains("digits"));
    CHECK(why("%y = aten.mul.Tensor(%x, %x) : f32[2]\n  return (%y)", {2048, 0.5}).empty());
    CHECK_THAT(why("%y = aten.prod.default(%x) : f32[]\n  return (%y)"), Contains("is not exact"));
    CHECK_THAT(why("%y = aten.argmax.default(%x) : i64[]\n  return (%y)"), Contains("not unique among equal elements"));
    CHECK(why("%y = aten.gt.Scalar(%x, 2) : bool[4]\n  return (%y)").empty());
    CHECK(why("%y = aten.amax.default(%x) : f32[]\n  return (%y)").empty());
    CHECK(why("%y = aten._to_copy.default(%x, dtype=f16) : f16[4]\n  return (%y)").empty());
    CHECK_THAT(why("%y = aten._to_copy.default(%x, dtype=f16) : f16[2]\n  return (%y)", {2049, 1}),
               Contains("computes numbers that f16 cannot represent"));
}

TEST_CASE("expected values that are not the exact ones are no measure", "[exact]") {
    const Graph graph = parse(
        "graph g {\n  %x = placeholder[\"x\"] : f32[2]\n  %y = aten.neg.default(%x) : f32[2]\n  return (%y)\n}\n");
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, 2})};
    CHECK(not_exact(graph, inputs, std::vector{Tensor::of<float>({-1, -2})}).empty());
    CHECK_THAT(not_exact(graph, inputs, std::vector{Tensor::of<float>({-1, -3})}),
               Contains("differ from the values of a run in f64"));
}

TEST_CASE("deep chains of sums leave digits for the sums behind them", "[exact]") {
    Random random(1);
    Graph graph{.name = "deep"};
    NodeRef value = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {1, 64}));
    GraphBuilder builder(graph);
    for (int i = 0; i < 16; i++) {
        const NodeRef weight = graph.get_attr("w" + std::to_string(i), random_tensor(DType::f32, {64, 64}, random));
        const V turned = builder.call("aten.t.default", {weight});
        value = builder.call("aten.mm.default", {value, turned}).ref;
        value = builder.call("aten.relu.default", {value}).ref;
    }
    graph.output({value});
    const ExactCase made = exact_case(graph, std::vector{random_tensor(DType::f32, {1, 64}, random)}, 0);
    CHECK(made.left_out.empty());
    CHECK(made.kept == 48);
    const std::vector<Tensor> values = evaluate(made.graph, made.inputs);
    CHECK(not_exact(made.graph, made.inputs, values).empty());
    const std::vector<double> last = values[0].values<double>();
    CHECK(std::ranges::any_of(last, [](double x) { return x != 0; }));
}

TEST_CASE("what ops state of exact operands is true of the reference's kernels", "[exact]") {
    if (kAddressSanitizer) return;  // every op runs elsewhere
    std::set<std::string> wrong;
    std::size_t exact = 0;
    for (const std::string_view name : sampled_ops()) {
        const RegisteredOp& op = Registry::instance().require(name);
        for (const DType dtype : {DType::f32, DType::f16, DType::bf16})
            for (const Sample& sample : op.def->dtypes& set_of(dtype) ? samples_of(op, dtype) : Samples()) {
                try {
                    const ExactCase made = exact_case(graph_of(op, sample), sample.inputs(), 1);
                    const std::string why = not_exact(made.graph, made.inputs, evaluate(made.graph, made.inputs));
                    exact += why.empty() ? 1 : 0;
                    if (why.starts_with("the expected values"))
                        wrong.insert(sample.label + " of " + op.name + ": " + why);
                } catch (const Error&) {  // the op refuses the chosen operands
                }
            }
    }
    CHECK(exact > 500);
    CHECK(wrong == std::set<std::string>());
}
