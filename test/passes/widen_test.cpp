#include "passes/widen.h"

#include <catch2/catch.hpp>
#include <cmath>
#include <set>

#include "base/error.h"
#include "graph/verify.h"
#include "ops/core/interpreter.h"
#include "ops/core/registry.h"
#include "ops/samples/table.h"
#include "tensor/compare.h"

using namespace whittle;

TEST_CASE("what f32 loses f64 keeps, through a cast to a narrower type too", "[widen]") {
    Graph graph;
    const NodeRef x = graph.placeholder("x", ValueMeta::contiguous(DType::f32, {2}));
    const auto call = [&](const char* target, ArgList args, std::vector<std::pair<std::string, Arg>> kwargs = {}) {
        Node node{.target = target, .args = std::move(args), .kwargs = std::move(kwargs)};
        node.results = infer(graph, node);
        return graph.add(std::move(node));
    };
    const NodeRef big = graph.get_attr("big", Tensor::of({1e8f, 1e8f}));
    const NodeRef sum = call("aten.add.Tensor", {x, big});
    const NodeRef back = call("aten.sub.Tensor", {sum, big});
    graph.output({call("aten._to_copy.default", {back}, {{"dtype", DType::f16}})});

    const std::vector<Tensor> inputs = {Tensor::of({1.f, -1.f})};
    CHECK(evaluate(graph, inputs)[0].values<double>() == std::vector<double>{0, 0});
    const auto exact = evaluate_exactly(graph, inputs);
    REQUIRE(exact);
    CHECK(exact->at(0).dtype() == DType::f64);
    CHECK(exact->at(0).values<double>() == std::vector<double>{1, -1});
}

TEST_CASE("every op with f32 samples has an f64 form that agrees with it", "[widen]") {
    std::vector<std::string> without, wrong;
    std::size_t compared = 0;
    // x (x + 3) / 6 and 100 x are infinite in f32 for the largest value, and not in f64; an infinity becomes the
    // largest number of the dtype.
    const std::set<std::string_view> overflows = {"aten.hardswish.default", "aten.nan_to_num.default",
                                                  "aten.round.decimals", "onnx.HardSwish"};
    // LibTorch sums rows of f64 in another way, and then tells which bag each index is in, too.
    const std::set<std::string_view> told = {"aten._embedding_bag.default", "aten._embedding_bag_forward_only.default",
                                             "aten.embedding_bag.default", "aten.embedding_bag.padding_idx"};
    for (const RegisteredOp& op : Registry::instance().all()) {
        if (op.def->random) continue;
        std::size_t tried = 0;
        for (const Sample& sample : samples_of(op, DType::f32)) {
            if (tried++ == 6) break;
            Graph graph;
            std::vector<Tensor> expected;
            try {
                graph = graph_of(op, sample);
                expected = evaluate(graph, sample.inputs());
            } catch (const Error&) {
                continue;  // not an op on f32
            }
            Graph widened;
            std::vector<Tensor> exact;
            try {
                widened = widen(graph).graph;
                verify(widened, Stage::captured, Registry::instance());
                exact = evaluate(widened, widen(sample.inputs()));
            } catch (const Error& error) {
                if (without.empty() || without.back() != op.name) without.push_back(std::string(op.name));
                UNSCOPED_INFO(op.name << ' ' << sample.label << ": " << error.what());
                continue;
            }
            for (std::size_t i = 0; i < exact.size(); i++) {
                compared++;
                const DType dtype = expected[i].dtype();
                if (is_floating(dtype) && exact[i].dtype() != DType::f64)
                    wrong.push_back(std::string(op.name) + ": result " + std::to_string(i) + " is not f64");
                else if (sample.label.starts_with("special") && overflows.contains(op.name))
                    continue;
                else if (i == 1 && sample.label == "sum" && told.contains(op.name))
                    continue;
                else if (const auto difference = compare(exact[i].to(dtype), expected[i], default_tolerance(dtype)))
                    wrong.push_back(std::string(op.name) + " " + sample.label + ": " + difference->description);
            }
        }
    }
    CHECK(wrong == std::vector<std::string>{});
    // The first two see the bytes of elements; the others are defined for f32 only.
    const std::set<std::string> expected = {"aten.view.dtype",
                                            "aten.view_copy.dtype",
                                            "onnx.DynamicQuantizeLinear",
                                            "onnx.NonMaxSuppression",
                                            "onnx.QuantizeLinear",
                                            "onnx.RotaryEmbedding",
                                            "quantized_decomposed.choose_qparams.tensor",
                                            "quantized_decomposed.choose_qparams_symmetric.tensor",
                                            "quantized_decomposed.quantize_per_channel.default",
                                            "quantized_decomposed.quantize_per_tensor.default",
                                            "quantized_decomposed.quantize_per_tensor.tensor"};
    CHECK(std::set<std::string>(without.begin(), without.end()) == expected);
    CHECK(compared > 1000);
}
