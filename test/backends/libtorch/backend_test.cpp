// The backend libtorch: graphs of several calls, other dialects and nested graphs, run call by call in LibTorch.
#include <catch2/catch.hpp>

#include "backends/libtorch/boxed_call.h"
#include "backends/libtorch/libtorch.h"
#include "base/error.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/capture_check.h"
#include "ops/core/interpreter.h"
#include "ops/samples/table.h"
#include "run_on.h"
#include "tensor/compare.h"
#include "versions.h"

namespace whittle {
namespace {

std::vector<Tensor> run_in_libtorch(const Graph& graph, const std::vector<Tensor>& inputs) {
    const auto backend = make_libtorch_backend();
    CompileResult compiled = backend->compile(graph, {});
    REQUIRE(std::holds_alternative<std::unique_ptr<Executable>>(compiled));
    RunResult result = std::get<std::unique_ptr<Executable>>(compiled)->run(inputs);
    if (const auto* failure = std::get_if<BackendFailure>(&result)) FAIL(failure->message);
    return std::get<Values>(result);
}

TEST_CASE("graphs run call by call, and views stay views", "[libtorch]") {
    Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %t = aten.t.default(%x) : f32[3, 2] strides[1, 3]
  %y = aten.mm.default(%x, %t) : f32[2, 2]
  %m = aten.max.dim(%y, 1) : (f32[2], i64[2])
  %v = getitem(%m, 0) : f32[2]
  %i = getitem(%m, 1) : i64[2]
  return (%t, %v, %i)
})");
    const Tensor x = Tensor::of(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
    const std::vector<Tensor> results = run_in_libtorch(graph, {x});
    REQUIRE(results.size() == 3);
    CHECK(results[0].storage() == x.storage());
    CHECK(results[0].strides() == Strides{1, 3});
    CHECK(results[1].values<float>() == std::vector<float>{32, 77});
    CHECK(results[2].values<std::int64_t>() == std::vector<std::int64_t>{1, 1});
}

TEST_CASE("eigenvectors of LibTorch's other sign are no capture fault, other values are", "[libtorch]") {
    using Kind = CaptureCheck::Finding::Kind;
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[3, 3]
  %e = aten._linalg_eigh.default(%x) : (f32[3], f32[3, 3] strides [1, 3])
  %v = getitem(%e, 1) : f32[3, 3] strides [1, 3]
  return (%v)
})");
    CaptureCheck check(CheckPolicy::always);
    int other = 0;
    for (int i = 0; i < 8; ++i) {
        std::vector<float> values(9);
        for (int k = 0; k < 9; ++k) {
            const int row = k / 3, column = k % 3;
            const int beside = (i >> (row + column - 1) & 1) ? 2 : -1;  // a sign for each pair
            values[static_cast<std::size_t>(k)] = static_cast<float>(row == column ? 5 * row * row : beside);
        }
        const Tensor x = Tensor::of(values, {3, 3});
        std::vector<Tensor> observed = run_in_libtorch(graph, {x});
        const Kind kind = check.check(graph, std::vector{x}, observed).kind;
        CHECK(kind != Kind::fault);
        other += kind == Kind::failed;
        observed[0] = Tensor::of(std::vector<float>(9, 100.F), {3, 3});
        CHECK(check.check(graph, std::vector{x}, observed).kind == Kind::fault);
    }
    CHECK(other > 0);
}

TEST_CASE("what LibTorch has not runs as its decomposition", "[libtorch]") {
    const RegisteredOp& op = Registry::instance().require("onnx.LayerNormalization");
    for (const Sample& sample : samples_of(op, DType::f32)) {
        const Graph graph = graph_of(op, sample);
        const std::vector<Tensor> expected = evaluate(graph, sample.inputs()),
                                  got = run_in_libtorch(graph, sample.inputs());
        REQUIRE(got.size() == expected.size());
        for (std::size_t i = 0; i < got.size(); ++i)
            CHECK(!compare(got[i], expected[i], default_tolerance(DType::f32)));
    }
}

TEST_CASE("an op that only LibTorch knows runs there", "[libtorch]") {
    Graph graph;
    const Tensor x = Tensor::of<float>({1, 2});
    const NodeRef input = graph.placeholder("x", ValueMeta::of(x));
    const auto call = [&](std::string target, ArgList args) {
        return graph.add({.target = std::move(target), .args = std::move(args), .results = {ValueMeta::of(x)}});
    };
    const NodeRef twice = call("whittle_test.scale", {input}), six = call("whittle_test.scale.default", {twice, 3.0});
    graph.output({twice, six});
    const std::vector<Tensor> results = run_in_libtorch(graph, {x});
    CHECK(results[0].values<float>() == std::vector<float>{2, 4});
    CHECK(results[1].values<float>() == std::vector<float>{6, 12});
}

TEST_CASE("writes are LibTorch's own, and never reach the caller's tensors", "[libtorch]") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2, 2]
  %row = aten.select.int(%x, 0, 1) : f32[2]
  %w = aten.add_.Tensor(%row, 10) : f32[2]
  %s = aten.sum.default(%x) : f32[]
  return (%s)
})");
    const Tensor x = Tensor::of<float>({1, 2, 3, 4}, {2, 2});
    const std::vector<Tensor> got = run_in_libtorch(graph, {x}), expected = evaluate(graph, std::vector<Tensor>{x});
    REQUIRE(got.size() == 2);  // the sum, and what x has become
    REQUIRE(expected.size() == 2);
    CHECK(got[0].values<float>() == std::vector<float>{30});
    CHECK(got[1].values<float>() == expected[1].values<float>());
    CHECK(x.values<float>() == std::vector<float>{1, 2, 3, 4});
}

TEST_CASE("what has an element type that LibTorch has not is unsupported, and no failure of LibTorch's", "[libtorch]") {
    const auto backend = make_libtorch_backend();
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : u64[2]
  %f = aten._to_copy.default(%x, dtype=f32) : f32[2]
  %r = aten.relu.default(%f) : f32[2]
  return (%r)
})");
    constexpr bool has_u64 = TORCH_VERSION_MAJOR > 2 || (TORCH_VERSION_MAJOR == 2 && TORCH_VERSION_MINOR >= 3);
    std::vector<std::string> expected;
    if (!has_u64) expected.emplace_back("aten._to_copy.default");
    CHECK(unsupported_by(*backend, graph) == expected);
}

TEST_CASE("an op without a decomposition that LibTorch has not is unsupported", "[libtorch]") {
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2}));
    graph.output({graph.add({.target = "custom.op", .args = {x}, .results = {graph.node(x).meta()}})});
    const auto backend = make_libtorch_backend();
    CHECK(unsupported_by(*backend, graph) == std::vector<std::string>{"custom.op"});
    const CompileResult compiled = backend->compile(graph, {});
    REQUIRE(std::holds_alternative<BackendFailure>(compiled));
    CHECK(std::get<BackendFailure>(compiled).unsupported);
}

TEST_CASE("where LibTorch has no kernel for a dtype, that is no failure of its", "[libtorch]") {
    const Graph graph = parse(R"(graph half {
  %x = placeholder["x"] : f16[2]
  %y = aten.sigmoid.default(%x) : f16[2]
  return (%y)
})");
    const std::vector<Tensor> inputs = {Tensor::of<float>({-1, 2}).to(DType::f16)};
    for (const auto& backend : {make_libtorch_backend(), make_ts_backend()}) {
        const RunResult result = test::run_on(*backend, graph, inputs);
        if (std::holds_alternative<Values>(result)) continue;  // a later LibTorch has one
        INFO(backend->name());
        CHECK(std::get<BackendFailure>(result).unsupported);
        CHECK_THAT(std::get<BackendFailure>(result).message, Catch::Contains("not implemented for 'Half'"));
    }
}

TEST_CASE("LibTorch's refusal is a failure in its own words", "[libtorch]") {
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2, 3}));
    graph.output({graph.add({.target = "aten.mm.default", .args = {x, x}, .results = {graph.node(x).meta()}})});
    const auto backend = make_libtorch_backend();
    CompileResult compiled = backend->compile(graph, {});
    REQUIRE(std::holds_alternative<std::unique_ptr<Executable>>(compiled));
    const std::vector<Tensor> inputs = {Tensor(DType::f32, {2, 3})};
    const RunResult result = std::get<std::unique_ptr<Executable>>(compiled)->run(inputs);
    REQUIRE(std::holds_alternative<BackendFailure>(result));
    CHECK(std::get<BackendFailure>(result).op == "aten.mm.default");
    CHECK(std::get<BackendFailure>(result).message.find("mat1 and mat2 shapes cannot be multiplied") !=
          std::string::npos);
}

TEST_CASE("an op that writes to its operand writes to the tensor that was lent", "[libtorch]") {
    Tensor x = Tensor::of({-1.f, 2.f});
    const Tensor mapped(Storage::borrow(x.storage()->bytes(), x.storage()), DType::f32, {2}, {1});
    const Node call{.target = "aten.relu_.default", .args = {NodeRef{0}}};
    CHECK_THROWS_AS(aten::call_boxed(call, [&](NodeRef) { return mapped; }), Error);
    CHECK(x.values<float>() == std::vector<float>{-1, 2});
    const auto results = aten::call_boxed(call, [&](NodeRef) { return x; });
    CHECK(x.values<float>() == std::vector<float>{0, 2});
    REQUIRE(results.size() == 1);
    CHECK(results[0]->storage() == x.storage());
}

TEST_CASE("arguments that do not fit LibTorch's schema are named", "[libtorch]") {
    const Tensor x = Tensor::of({-1.f, 2.f});
    const auto message = [&](const Node& call) -> std::string {
        try {
            aten::call_boxed(call, [&](NodeRef) { return x; });
        } catch (const Error& error) {
            return error.message();
        }
        return "";
    };
    CHECK(message({.target = "aten.no_such_op.default"}) == "LibTorch has no op 'aten.no_such_op.default'");
    CHECK(message({.target = "aten.add.Tensor", .args = {NodeRef{0}}}) ==
          "found no argument 'other', which LibTorch's aten.add.Tensor requires");
    CHECK(message({.target = "aten.sum.dim_IntList", .args = {NodeRef{0}, "x"}}) ==
          "argument 'dim': found \"x\", expected a value of LibTorch's type int[]?");
    CHECK(message({.target = "aten.relu.default", .args = {NodeRef{0}}, .kwargs = {{"y", 1}}}) ==
          "found an argument 'y', which LibTorch's aten.relu.default does not have");
}

}  // namespace
}  // namespace whittle
