// What a prepared graph makes once: expansions of composites without a kernel, and nested graphs.
#include <algorithm>
#include <catch2/catch.hpp>

#include "graph/text.h"
#include "ops/core/interpreter.h"

namespace whittle {
namespace {

int expansions = 0;
DecomposeFn decompose_op = nullptr;

/// As long as it lives, expansions of the op are counted.
class Counted {
  public:
    explicit Counted(std::string_view target)
        : op_(const_cast<RegisteredOp&>(Registry::instance().require(target))), def_(op_.def), counting_(*op_.def) {
        REQUIRE(!def_->eval);
        decompose_op = def_->decompose;
        counting_.decompose = [](const Call& call) {
            expansions++;
            return decompose_op(call);
        };
        op_.def = &counting_;
        expansions = 0;
    }
    ~Counted() { op_.def = def_; }
    Counted(const Counted&) = delete;
    Counted& operator=(const Counted&) = delete;

  private:
    RegisteredOp& op_;
    const OpDef* const def_;
    OpDef counting_;
};

std::vector<float> values(const std::vector<Tensor>& outputs) { return outputs.at(0).contiguous().values<float>(); }

TEST_CASE("a prepared graph expands a composite once, at its first run", "[ops]") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[3]
  %y = aten.relu6.default(%x) : f32[3]
  %z = aten.relu6.default(%y) : f32[3]
  return (%z)
}
)");
    const Counted count("aten.relu6.default");
    const PreparedGraph prepared(graph);
    CHECK(expansions == 0);
    for (const float shift : {0.F, 1.F, 2.F}) {
        const Tensor x = Tensor::of<float>({-1 + shift, 3 + shift, 9 + shift});
        CHECK(values(Interpreter().run(prepared, {&x, 1})) ==
              std::vector<float>{std::max(0.F, -1 + shift), std::min(6.F, 3 + shift), 6});
        CHECK(expansions == 2);
    }
    const Tensor x = Tensor::of<float>({1, 2, 3});
    evaluate(graph, {&x, 1});
    CHECK(expansions == 4);
}

TEST_CASE("a nested graph is prepared once, however often it runs", "[ops]") {
    const Graph graph = parse(R"(graph g opset("": 17) {
  @body = graph body opset("": 17) {
    %i = placeholder["i"] : i64[]
    %c = placeholder["c"] : bool[]
    %v = placeholder["v"] : f32[2]
    %w = onnx.Neg(%v) : f32[2]
    return (%c, %w)
  }
  %trips = placeholder["trips"] : i64[]
  %x = placeholder["x"] : f32[2]
  %loop = onnx.Loop(%trips, none, [%x], body=@body) : f32[2]
  return (%loop)
}
)");
    const Counted count("onnx.Neg");
    const PreparedGraph prepared(graph);
    const std::vector<Tensor> inputs = {Tensor::of(Scalar(std::int64_t{3}), DType::i64), Tensor::of<float>({1, 2})};
    for (int run = 0; run < 2; run++) {
        CHECK(values(Interpreter().run(prepared, inputs)) == std::vector<float>{-1, -2});
        CHECK(expansions == 1);
    }
    evaluate(graph, inputs);  // once for all turns
    CHECK(expansions == 2);
}

TEST_CASE("who writes to a result does not write to what the next run computes with", "[ops]") {
    const Graph graph = parse(R"(graph g opset("": 17) {
  %x = placeholder["x"] : f32[3]
  %y = onnx.Shape(%x) : i64[1]
  return (%y)
}
)");
    const PreparedGraph prepared(graph);
    const Tensor x = Tensor::of<float>({7, 7, 7});
    Tensor first = Interpreter().run(prepared, {&x, 1}).at(0);
    CHECK(first.values<std::int64_t>() == std::vector<std::int64_t>{3});
    first.mutable_data<std::int64_t>()[0] = 5;
    CHECK(Interpreter().run(prepared, {&x, 1}).at(0).values<std::int64_t>() == std::vector<std::int64_t>{3});
}

TEST_CASE("a composite reads what was written to a parameter", "[ops]") {
    Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %w = get_attr["w"] : f32[2]
  %add_ = aten.add_.Tensor(%w, %x) : f32[2]
  %y = aten.relu6.default(%w) : f32[2]
  return (%y)
}
)");
    graph.attributes.at("w") = Tensor::of<float>({1, 2});
    const Tensor x = Tensor::of<float>({1, 1});
    CHECK(values(evaluate(graph, {&x, 1})) == std::vector<float>{2, 3});
    CHECK(graph.attributes.at("w").values<float>() == std::vector<float>{1, 2});
}

TEST_CASE("what a loop writes to a parameter is gone at the next run", "[ops]") {
    // The parameter is captured, or the body's own.
    for (const bool captured : {true, false}) {
        const std::string own = captured ? "%w = placeholder[\"w\"] : f32[2]" : "%w = get_attr[\"w\"] : f32[2]";
        Graph graph = parse(R"(graph g opset("": 17) {
  @body = graph body opset("": 17) {
    %i = placeholder["i"] : i64[]
    %c = placeholder["c"] : bool[]
    %v = placeholder["v"] : f32[2]
    )" + own + R"(
    %add_ = aten.add_.Tensor(%w, %v) : f32[2]
    %y = onnx.Identity(%add_) : f32[2]
    return (%c, %y)
  }
  %trips = placeholder["trips"] : i64[]
  %x = placeholder["x"] : f32[2]
)" + (captured ? "  %w = get_attr[\"w\"] : f32[2]\n" : "") +
                            "  %loop = onnx.Loop(%trips, none, [%x], body=@body" + (captured ? ", captured=[%w]" : "") +
                            ") : f32[2]\n  return (%loop)\n}\n");
        const Tensor parameter = Tensor::of<float>({10, 20});
        if (captured) {
            graph.attributes.at("w") = parameter;
        } else {
            Graph body = *graph.subgraphs.at("body");
            body.attributes.at("w") = parameter;
            graph.subgraphs["body"] = std::make_shared<const Graph>(std::move(body));
        }
        const PreparedGraph prepared(graph);
        const std::vector<Tensor> inputs = {Tensor::of(Scalar(std::int64_t{2}), DType::i64), Tensor::of<float>({1, 2})};
        INFO(captured);
        for (int run = 0; run < 2; run++) {
            const std::vector<Tensor> outputs = Interpreter().run(prepared, inputs);
            CHECK(values(outputs) == std::vector<float>{22, 44});  // 10 + 1, then that and itself
            if (captured) CHECK(outputs.at(1).values<float>() == std::vector<float>{22, 44});
            CHECK(parameter.values<float>() == std::vector<float>{10, 20});
        }
        CHECK(values(evaluate(graph, inputs)) == std::vector<float>{22, 44});
        CHECK(parameter.values<float>() == std::vector<float>{10, 20});
    }
}

}  // namespace
}  // namespace whittle
