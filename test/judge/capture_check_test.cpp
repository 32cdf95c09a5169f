#include "judge/capture_check.h"

#include <catch2/catch.hpp>

#include "backends/eager/eager.h"
#include "backends/registry.h"
#include "base/files.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "record/trace_folder.h"
#include "relu_frame.h"
#include "replay/replay.h"

using namespace whittle;
using namespace whittle::test;
using Kind = CaptureCheck::Finding::Kind;

namespace {

NodeRef call(Graph& graph, const char* target, ArgList args, std::vector<std::pair<std::string, Arg>> kwargs = {}) {
    Node node{.target = target, .args = std::move(args), .kwargs = std::move(kwargs)};
    node.results = infer(graph, node);
    return graph.add(std::move(node));
}

/// relu(x) * 2.
Graph doubled_relu() {
    Graph graph{.name = "f"};
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {3}));
    graph.output({call(graph, "aten.mul.Tensor", {call(graph, "aten.relu.default", {x}), 2.0})});
    return graph;
}

}  // namespace

TEST_CASE("a graph that computes what was observed is good, another one a fault") {
    const Graph graph = doubled_relu();
    const std::vector<Tensor> inputs{Tensor::of({-1.F, 2.F, 3.F})}, right{Tensor::of({0.F, 4.F, 6.F})},
        wrong{Tensor::of({0.F, 4.F, 7.F})};
    CaptureCheck check(CheckPolicy::always);
    CHECK(check.check(graph, inputs, right).kind == Kind::good);
    const CaptureCheck::Finding verdict = check.check(graph, inputs, wrong);
    CHECK(verdict.kind == Kind::fault);
    CHECK_THAT(verdict.text, Catch::Contains("output %mul") && Catch::Contains("[2]: got 7, expected 6"));
}

TEST_CASE("checks end when their time is spent, and other runs of a graph are left out") {
    const Graph graph = doubled_relu();
    const std::vector<Tensor> inputs{Tensor::of({-1.F, 2.F, 3.F})}, wrong{Tensor::of({0.F, 4.F, 7.F})};
    CaptureCheck limited(CheckPolicy::budget, 60), spent(CheckPolicy::budget, 0), none(CheckPolicy::never);
    CHECK(limited.check(graph, inputs, wrong, true).kind == Kind::unchecked);
    CHECK(limited.check(graph, inputs, wrong).kind == Kind::fault);
    CHECK(spent.check(graph, inputs, wrong).kind == Kind::unchecked);
    CHECK(none.check(graph, inputs, wrong).kind == Kind::unchecked);
    CHECK(CaptureCheck(CheckPolicy::always).check(graph, inputs, wrong, true).kind == Kind::fault);
}

TEST_CASE("a result in f32 of a product in bf16 is judged by bf16's tolerance") {
    Graph graph{.name = "f"};
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {1}));
    const NodeRef narrow = call(graph, "aten._to_copy.default", {x}, {{"dtype", DType::bf16}});
    const NodeRef product = call(graph, "aten.mul.Tensor", {narrow, narrow});
    graph.output({call(graph, "aten._to_copy.default", {product}, {{"dtype", DType::f32}})});
    CHECK(accuracy_of(graph).tolerance(DType::f32) == default_tolerance(DType::bf16));
    CHECK(accuracy_of(doubled_relu()) == Accuracy());
    CaptureCheck check(CheckPolicy::always);
    const std::vector<Tensor> inputs{Tensor::of({1.7331F})};
    const float computed = evaluate(graph, inputs).at(0).values<float>().at(0);
    CHECK(check.check(graph, inputs, std::vector<Tensor>{Tensor::of({computed * 1.008F})}).kind == Kind::good);
    CHECK(check.check(graph, inputs, std::vector<Tensor>{Tensor::of({computed * 1.2F})}).kind == Kind::fault);
    // Where nobody looks, its values may cancel.
    CaptureCheck limited(CheckPolicy::budget, 60);
    CHECK(limited.check(graph, inputs, std::vector<Tensor>{Tensor::of({computed})}, true).noisy);
    CHECK_FALSE(limited.check(doubled_relu(), inputs, std::vector<Tensor>{Tensor::of({computed})}, true).noisy);
}

TEST_CASE("what cancels may be observed as far off as rounding moves it, and no further") {
    Graph graph{.name = "f"};
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2}));
    graph.output({call(graph, "aten.sub.Tensor", {call(graph, "aten.add.Tensor", {x, 10000.0}), 10000.0})});
    const std::vector<Tensor> inputs{Tensor::of({0.3701171875F, 0.3701171875F})};  // 379 / 1024, exact beside 10000
    const float unit = 1.0F / 1024, exact = 0.3701171875F;
    CaptureCheck check(CheckPolicy::always);
    const auto of = [&](float off) {
        return check.check(graph, inputs, std::vector<Tensor>{Tensor::of({exact, exact + off})}).kind;
    };
    CHECK(of(unit) == Kind::good);
    CHECK(of(500 * unit) == Kind::fault);
}

TEST_CASE(
    "what was observed in half types as near to f64 as the reference is, and not close, is judged so in replay, too") {
    const TempDir folder("capture-check");
    capture::CapturedGraph captured{.graph = {.name = "f"}};
    Graph& graph = captured.graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::bf16, {1}));
    graph.output({call(graph, "aten.sub.Tensor", {call(graph, "aten.add.Tensor", {x, 100.0}), 100.0})});
    captured.sources = {capture::Source::local("x")};
    captured.inputs = {Tensor::of({0.3F}).to(DType::bf16)};  // beside 100, numbers lie 0.5 apart
    captured.outputs = {Tensor::of({0.F}).to(DType::bf16)};
    CHECK(evaluate(graph, captured.inputs).at(0).to(DType::f32).values<float>() == std::vector<float>{0.5F});
    CHECK(CaptureCheck(CheckPolicy::always).check(graph, captured.inputs, captured.outputs).noisy);
    capture::CapturedFrame frame{.name = "f", .function = "f"};
    frame.graphs.push_back(std::move(captured));
    const auto eager = make_eager_backend();
    const std::vector<std::filesystem::path> models{"model"};
    TraceFolder trace(folder.path(), models, "eager", {});
    trace.add(frame, "LibTorch", *eager, {}, RecordPolicy::always);
    trace.save();
    const std::vector<ReplayResult> results = replay_all(find_records({folder.path()}), {}, {});
    REQUIRE(results.size() == 1);
    CHECK(results[0].status == ReplayResult::Status::passed);
}

TEST_CASE("a trace compares results as it is asked to, and its records say so") {
    const TempDir folder("capture-check");
    capture::CapturedGraph captured{.graph = doubled_relu()};
    captured.sources = {capture::Source::local("x")};
    captured.inputs = {Tensor::of({-1.F, 2.F, 3.F})};
    captured.outputs = {Tensor::of({0.F, 4.F, 6.F})};
    capture::CapturedFrame frame{.name = "f", .function = "f"};
    frame.graphs.push_back(std::move(captured));
    const std::unique_ptr<Backend> backend = find_backend(kWrong.spec);  // relu gives 1 more
    const std::vector<std::filesystem::path> models{"model"};
    TraceFolder trace(folder.path(), models, kWrong.spec.text(), {});
    const auto verdict_by = [&](const std::optional<Accuracy>& accuracy) {
        Suspect suspect = kWrong;
        suspect.accuracy = accuracy;
        return trace.add(frame, "LibTorch", *backend, suspect, RecordPolicy::always).at(0).judged.value().verdict;
    };
    const Accuracy loose{.tolerances = {{DType::f32, {0, 10, 0}}}};
    CHECK(verdict_by(loose) == Verdict::right);
    CHECK(verdict_by(std::nullopt) == Verdict::fails);
    CHECK(verdict_by(Accuracy{.mode = Accuracy::Mode::strict}) == Verdict::fails);
    trace.save();
    const std::vector<std::filesystem::path> records = find_records({folder.path()});
    REQUIRE(records.size() == 3);
    CHECK(load_record(records[0]).record.accuracy == loose);
}

TEST_CASE("a trace marks a graph that is a capture fault, and its records fail in replay") {
    const TempDir folder("capture-check");
    const Graph graph = doubled_relu();
    capture::CapturedFrame frame{.name = "f", .function = "f"};
    for (const float last : {7.0F, 6.0F}) {
        capture::CapturedGraph captured{.graph = graph};
        captured.graph.name = last == 6 ? "good" : "wrong";
        captured.sources = {capture::Source::local("x")};
        captured.inputs = {Tensor::of({-1.F, 2.F, 3.F})};
        captured.outputs = {Tensor::of({0.F, 4.F, last})};
        captured.more_runs = {{{Tensor::of({0.F, 0.F, 0.F})}, {Tensor::of({0.F, 0.F, 0.F})}}};
        frame.graphs.push_back(std::move(captured));
    }
    const auto eager = make_eager_backend();
    const std::vector<std::filesystem::path> models{"model"};
    TraceFolder trace(folder.path(), models, "eager", {});
    const std::vector<TracedFrame> traced = trace.add(frame, "LibTorch", *eager, {}, RecordPolicy::always);
    trace.save();
    REQUIRE(traced.size() == 4);
    CHECK_FALSE(traced[0].capture_fault.empty());
    CHECK_FALSE(traced[1].capture_fault.empty());
    CHECK(traced[3].capture_fault.empty());
    const TraceIndex index = load_index(folder.path());
    CHECK(index == trace.index());
    CHECK(checks_text(count_checks(index)) == "2 of 2 graphs checked, 1 capture fault");
    const std::vector<ReplayResult> results = replay_all(find_records({folder.path()}), {}, {});
    REQUIRE(results.size() == 4);
    CHECK(results[0].outcome == "capture_fault");
    CHECK(results[1].status == ReplayResult::Status::failed);
    CHECK(results[2].status == ReplayResult::Status::passed);
}
