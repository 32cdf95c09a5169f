// The backend ts: TorchScript computes what LibTorch's ops do one by one, whatever of it is optimized.
#pragma push_macro("CHECK")  // LibTorch has one of its own
#include <torch/csrc/jit/runtime/graph_executor.h>
#pragma pop_macro("CHECK")

#include <algorithm>
#include <catch2/catch.hpp>
#include <set>

#include "agreement.h"
#include "backends/libtorch/fusers.h"
#include "backends/libtorch/libtorch.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "ops/samples/samples.h"
#include "ops/samples/table.h"
#include "run_on.h"
#include "tensor/compare.h"
#include "versions.h"

namespace whittle {
namespace {

/// Results, and what TorchScript made of the graph.
struct Ran {
    Values values;
    std::string optimized;
};

Ran run_script(const Graph& graph, const std::vector<Tensor>& inputs, const BackendOptions& options = {}) {
    CompileResult compiled = make_ts_backend()->compile(graph, options);
    if (const auto* failure = std::get_if<BackendFailure>(&compiled)) FAIL(failure->message);
    RunResult result = std::get<std::unique_ptr<Executable>>(compiled)->run(inputs);
    if (const auto* failure = std::get_if<BackendFailure>(&result)) FAIL(failure->message);
    return {std::get<Values>(result), torch::jit::lastExecutedOptimizedGraph()->toString(false)};
}

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

const Graph& pointwise() {
    static const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2, 3]
  %y = placeholder["y"] : f32[3]
  %a = aten.mul.Tensor(%x, %y) : f32[2, 3]
  %b = aten.add.Tensor(%a, 2.5) : f32[2, 3]
  %c = aten.relu.default(%b) : f32[2, 3]
  return (%c)
})");
    return graph;
}
const std::vector<Tensor> kInputs = {Tensor::of<float>({1, -2, 3, -4, 5, -6}, {2, 3}), Tensor::of<float>({1, 2, 0.5})};

}  // namespace

TEST_CASE("ts gives what libtorch does, on every op and sample", "[ts]") {
    const test::NearnessTable nearness(WHITTLE_SOURCE_DIR "/test/backends/libtorch/nearness.txt", test::of_libtorch());
    const test::Exceptions exceptions(WHITTLE_SOURCE_DIR "/test/known-failing/libtorch.txt", test::of_libtorch());
    const auto libtorch = make_libtorch_backend(), ts = make_ts_backend();
    std::set<std::string> refused;
    int compared = 0;
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (op.def->random || op.replaces_operand() || !(op.def->dtypes & set_of(DType::f32))) continue;
        // These read memory that nobody wrote: test/known-failing/libtorch.txt has the samples.
        const bool unspecified = nearness.of(op.record(), DType::f32).unspecified;
        if (unspecified || op.name == "aten.gelu_backward.default" || op.name == "aten.baddbmm.default") continue;
        for (const Sample& sample : samples_of(op, DType::f32)) {
            if (test::beyond_libtorch(sample) || exceptions.crashes({exceptions.listed(op), DType::f32, sample.label}))
                continue;
            const Graph graph = graph_of(op, sample);
            const RunResult expected = test::run_on(*libtorch, graph, sample.inputs());
            if (!std::holds_alternative<Values>(expected)) continue;
            CAPTURE(op.name, sample.label);
            const RunResult got = test::run_on(*ts, graph, sample.inputs());
            if (const auto* failure = std::get_if<BackendFailure>(&got)) {
                CAPTURE(failure->message);
                CHECK(failure->unsupported);
                refused.insert(std::string(op.record()));
                continue;
            }
            const Values &ours = std::get<Values>(got), &theirs = std::get<Values>(expected);
            REQUIRE(ours.size() == theirs.size());
            for (std::size_t i = 0; i < ours.size(); ++i)
                if (const auto difference =
                        compare(ours[i], theirs[i], Tolerance{.rtol = 1e-6, .atol = 1e-6, .ulp = 2}))
                    FAIL_CHECK(difference->description);
            ++compared;
        }
    }
    CHECK(compared > 1000);
    // Assertions, a truth as a number, which TorchScript has not, nested graphs, and overloads that it takes for
    // others: a list of one number may be a number.
    std::string list;
    for (const std::string& op : refused) list += (list.empty() ? "" : " ") + op;
    if (TORCH_VERSION_MAJOR >= 2)
        CHECK(list ==
              "aten._functional_assert_async.msg aten._upsample_nearest_exact1d.vec aten.add.Scalar "
              "aten.constant_pad_nd.default aten.eq.Scalar aten.ge.Scalar aten.gt.Scalar aten.le.Scalar "
              "aten.linalg_matrix_rank.atol_rtol_float aten.linalg_pinv.atol_rtol_tensor aten.lt.Scalar aten.ne.Scalar "
              "aten.scalar_tensor.default aten.upsample_linear1d.vec aten.upsample_nearest1d.vec "
              "aten.view.dtype higher_order.map higher_order.scan higher_order.while_loop onnx.Attention onnx.Dropout "
              "onnx.IsInf onnx.Loop onnx.Scan");
    else
        CHECK(list ==
              "aten._functional_assert_async.msg aten._scaled_dot_product_efficient_attention.default "
              "aten._scaled_dot_product_flash_attention_for_cpu.default "
              "aten._upsample_nearest_exact1d.vec "
              "aten._upsample_nearest_exact1d_backward.vec aten.add.Scalar aten.constant_pad_nd.default aten.eq.Scalar "
              "aten.ge.Scalar aten.gt.Scalar aten.le.Scalar aten.linalg_matrix_rank.atol_rtol_float "
              "aten.linalg_pinv.atol_rtol_tensor aten.lt.Scalar aten.ne.Scalar aten.scalar_tensor.default "
              "aten.scaled_dot_product_attention.default aten.upsample_linear1d.default "
              "aten.upsample_linear1d_backward.default aten.upsample_nearest1d.default "
              "aten.upsample_nearest1d_backward.default higher_order.map higher_order.scan higher_order.while_loop "
              "onnx.Attention onnx.Dropout onnx.IsInf onnx.Loop onnx.Scan");
}

TEST_CASE("the fuser that is asked for fuses, and nothing else does", "[ts]") {
    const std::vector<Tensor> expected = evaluate(pointwise(), kInputs);
    for (const std::string fuser : {"none", "nnc"}) {
        CAPTURE(fuser);
        const auto [got, optimized] = run_script(pointwise(), kInputs, {{"fuser", fuser}});
        REQUIRE(got.size() == 1);
        CHECK(same_bits(got[0], expected[0]));
        CHECK(has(optimized, "prim::TensorExprGroup") == (fuser == "nnc"));
    }
    const auto ts = make_ts_backend();
    Optioned& options = *offered<Optioned>(*ts);
    CHECK_THROWS_WITH(options.check({{"fuser", "nvfuser"}}), Catch::Contains("found 'nvfuser', expected one of none"));
    CHECK_THROWS_WITH(options.check({{"optimize_for_inference", "yes"}}), Catch::Contains("expected one of off, on"));
    if (const std::string why = aten::lacking(aten::Fuser::onednn); !why.empty())
        CHECK_THROWS_WITH(options.check({{"fuser", "onednn"}}), Catch::Contains(why));
}

TEST_CASE("for inference a module is frozen, but for what it writes", "[ts]") {
    Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[1, 2, 4, 4]
  %w = get_attr["w"] : f32[3, 2, 1, 1]
  %s = get_attr["s"] : f32[3]
  %m = get_attr["m"] : f32[3]
  %v = get_attr["v"] : f32[3]
  %c = aten.conv2d.default(%x, %w, none, [1, 1], [0, 0], [1, 1], 1) : f32[1, 3, 4, 4]
  %n = aten.batch_norm.default(%c, %s, %s, %m, %v, false, 0.1, 0.00001, false) : f32[1, 3, 4, 4]
  return (%n)
})");
    for (const char* name : {"s", "m", "v"}) graph.attributes[name] = Tensor::of<float>({0.5, 1, 2});
    graph.attributes["w"] = samples::random(DType::f32, {3, 2, 1, 1});
    const std::vector<Tensor> inputs = {samples::random(DType::f32, {1, 2, 4, 4})};
    const std::vector<Tensor> expected = evaluate(graph, inputs);
    for (const std::string inference : {"off", "on"}) {
        CAPTURE(inference);
        const auto [got, optimized] = run_script(graph, inputs, {{"optimize_for_inference", inference}});
        CHECK(!compare(got.at(0), expected[0], default_tolerance(DType::f32)));
        CHECK(has(optimized, "aten::batch_norm") == (inference == "off"));
        CHECK(has(optimized, "prim::GetAttr") == (inference == "off"));
    }
}

TEST_CASE("in-place calls write, in TorchScript and not to the caller's tensors", "[ts]") {
    Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2, 2]
  %w = get_attr["w"] : f32[2]
  %row = aten.select.int(%x, 0, 1) : f32[2]
  %a = aten.add_.Tensor(%row, 10) : f32[2]
  %b = aten.mul_.Scalar(%w, 1) : f32[2]
  %s = aten.sum.default(%x) : f32[]
  return (%s)
})");
    graph.attributes["w"] = Tensor::of<float>({3, 4});
    const Tensor x = Tensor::of<float>({1, 2, 3, 4}, {2, 2});
    const std::vector<Tensor> expected = evaluate(graph, std::vector<Tensor>{x});
    REQUIRE(expected.size() == 3);  // the sum, and what x and w have become
    for (const std::string inference : {"off", "on"}) {
        const auto ts = make_ts_backend();
        const CompileResult compiled = ts->compile(graph, {{"optimize_for_inference", inference}});
        for (int again = 0; again < 2; ++again) {
            CAPTURE(inference, again);
            const RunResult result = std::get<std::unique_ptr<Executable>>(compiled)->run(std::vector<Tensor>{x});
            if (const auto* failure = std::get_if<BackendFailure>(&result)) FAIL(failure->message);
            const Values& got = std::get<Values>(result);
            REQUIRE(got.size() == 3);
            for (std::size_t i = 0; i < 3; ++i) CHECK(same_bits(got[i], expected[i]));
        }
    }
    CHECK(x.values<float>() == std::vector<float>{1, 2, 3, 4});
    CHECK(graph.attributes["w"].values<float>() == std::vector<float>{3, 4});
}

TEST_CASE("what TorchScript refuses to run is a failure in LibTorch's words, with the call", "[ts]") {
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2, 3}));
    graph.output({graph.add(
        {.name = "product", .target = "aten.mm.default", .args = {x, x}, .results = {graph.node(x).meta()}})});
    const RunResult result = test::run_on(*make_ts_backend(), graph, {Tensor(DType::f32, {2, 3})});
    REQUIRE(std::holds_alternative<BackendFailure>(result));
    const BackendFailure& failure = std::get<BackendFailure>(result);
    CHECK(failure.stage == "run");
    CHECK_FALSE(failure.unsupported);
    CHECK_THAT(failure.message, Catch::Contains("mat1 and mat2 shapes cannot be multiplied"));
    CHECK_THAT(failure.message, Catch::Contains("%product = aten.mm.default"));
}

TEST_CASE("nested graphs are unsupported by ts", "[ts]") {
    Graph graph = pointwise();
    graph.subgraphs["body"] = std::make_shared<Graph>(pointwise());
    const RunResult result = test::run_on(*make_ts_backend(), graph, kInputs);
    REQUIRE(std::holds_alternative<BackendFailure>(result));
    CHECK(std::get<BackendFailure>(result).unsupported);
    CHECK_THAT(std::get<BackendFailure>(result).message, Catch::Contains("nested graph 'body'"));
}

}  // namespace whittle
