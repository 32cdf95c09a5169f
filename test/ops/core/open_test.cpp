// Which calls of a graph are asked for open results, and what runs for it.
#include "ops/core/open.h"

#include <catch2/catch.hpp>
#include <cmath>

#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "ops/samples/samples.h"

namespace whittle {

namespace {

Tensor picked(const std::vector<std::int64_t>& values) { return samples::integers(values); }
Tensor four() { return samples::ramp(DType::f32, {4}); }

std::optional<OpenInput> asked(const std::string& text, const std::vector<Tensor>& inputs) {
    Graph graph = parse(text);
    infer_all(graph);
    return open_input(graph, inputs);
}

}  // namespace

TEST_CASE("open results are found behind other calls, and in order", "[ops]") {
    const std::string graph = R"(graph g {
  %x = placeholder["x"] : f32[4]
  %i = placeholder["i"] : i64[2]
  %j = aten.mul.Scalar(%i, 2) : i64[2]
  %y = aten.index_select.default(%x, 0, %j) : f32[2]
  %z = aten.index_select.default(%y, 0, %i) : f32[2]
  return (%z)
}
)";
    const Tensor x = four();
    const auto found = asked(graph, {x, picked({0, 2})});
    REQUIRE(found);
    CHECK(found->node == "y");
    CHECK(found->reason == "index 4 of aten.index_select.default is out of range: expected 0 to 3");
    CHECK_FALSE(asked(graph, {x, picked({0, 1})}));
    CHECK_FALSE(asked(graph, {x}));  // whoever runs it says what is wrong
}

TEST_CASE("NaN leaves a maximum open only where results differ", "[ops]") {
    Graph graph = parse(R"(graph g opset("": 16) {
  %x = placeholder["x"] : f32[2]
  %r = onnx.Relu(%x) : f32[2]
  %y = onnx.ReduceMax(%r) : f32[1]
  return (%y)
}
)");
    infer_all(graph);
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, NAN})};
    CHECK_FALSE(open_input(graph, inputs, false));
    const auto found = open_input(graph, inputs, true);
    REQUIRE(found);
    CHECK(found->reason == "the data of onnx.ReduceMax is NaN");
    CHECK_FALSE(open_input(graph, std::vector{Tensor::of<float>({1, 2})}, true));
}

TEST_CASE("a conversion leaves a result open only where something reads what it makes of the float", "[ops]") {
    const std::string graph = R"(graph g {
  %x = placeholder["x"] : f32[4]
  %m = placeholder["m"] : bool[4]
  %i = aten.to.dtype(%x, i64) : i64[4]
  %z = aten.zeros_like.default(%i) : i64[4]
  %s = aten.clamp_max.default(%i, 2) : i64[4]
  %y = aten.where.self(%m, %s, %z) : i64[4]
  return (%y)
}
)";
    const Tensor x = Tensor::of<float>({1, 2, -INFINITY, 4});
    const auto mask = [](std::vector<double> values) { return samples::values(DType::boolean, values, {4}); };
    CHECK_FALSE(asked(graph, {x, mask({1, 1, 0, 1})}));
    const auto found = asked(graph, {x, mask({1, 1, 1, 1})});
    REQUIRE(found);
    CHECK(found->node == "i");
}

TEST_CASE("a conversion in a graph that writes leaves a result open only where it is read", "[ops]") {
    const std::string graph = R"(graph g {
  %x = placeholder["x"] : f32[4]
  %m = placeholder["m"] : bool[4]
  %z = placeholder["z"] : i64[4]
  %i = aten.to.dtype(%x, i64) : i64[4]
  %s = aten.clamp_max_.default(%i, 2) : i64[4]
  %y = aten.where.self(%m, %s, %z) : i64[4]
  %w = aten.add_.Tensor(%z, %y) : i64[4]
  return (%w)
}
)";
    const Tensor x = Tensor::of<float>({1, 2, -INFINITY, 4}), z = samples::integers({0, 0, 0, 0});
    const auto mask = [](std::vector<double> values) { return samples::values(DType::boolean, values, {4}); };
    CHECK_FALSE(asked(graph, {x, mask({1, 1, 0, 1}), z}));
    const auto found = asked(graph, {x, mask({1, 1, 1, 1}), z});
    REQUIRE(found);
    CHECK(found->node == "i");
}

TEST_CASE("a conversion in a nested graph leaves a result open only where it is read", "[ops]") {
    const std::string graph = R"(graph g {
  @whole = graph whole {
    %x = placeholder["x"] : f32[4]
    %m = placeholder["m"] : bool[4]
    %i = aten.to.dtype(%x, i64) : i64[4]
    %z = aten.zeros_like.default(%i) : i64[4]
    %y = aten.where.self(%m, %i, %z) : i64[4]
    return (%y)
  }
  @none = graph none {
    %x = placeholder["x"] : f32[4]
    %m = placeholder["m"] : bool[4]
    %y = aten.to.dtype(%m, i64) : i64[4]
    return (%y)
  }
  %p = placeholder["p"] : bool[]
  %x = placeholder["x"] : f32[4]
  %m = placeholder["m"] : bool[4]
  %r = higher_order.cond(%p, @whole, @none, [%x, %m]) : i64[4]
  return (%r)
}
)";
    const auto with = [&](std::vector<double> values) {
        return asked(graph, {Tensor::of(Scalar(true), DType::boolean), Tensor::of<float>({1, 2, NAN, 4}),
                             samples::values(DType::boolean, values, {4})});
    };
    CHECK_FALSE(with({1, 1, 0, 1}));
    REQUIRE(with({1, 1, 1, 1}));
    CHECK(with({1, 1, 1, 1})->node == "i");
}

TEST_CASE("what the reference cannot run is passed over when open results are looked for", "[ops]") {
    const std::string graph = R"(graph g {
  %x = placeholder["x"] : f32[4]
  %i = placeholder["i"] : i64[2]
  %u = stranger.op.default(%x) : i64[2]
  %r = aten.randint.default(8, [2], dtype=i64) : i64[2]
  %w = aten.index_select.default(%x, 0, %r) : f32[2]
  %v = aten.index_select.default(%x, 0, %u) : f32[2]
  %y = aten.index_select.default(%x, 0, %i) : f32[2]
  return (%y)
}
)";
    const auto found = open_input(parse(graph), std::vector{four(), picked({0, 4})});
    REQUIRE(found);
    CHECK(found->node == "y");
    CHECK_FALSE(open_input(parse(graph), std::vector{four(), picked({0, 3})}));
}

TEST_CASE("writes are seen when open results are looked for", "[ops]") {
    const std::string graph = R"(graph g {
  %x = placeholder["x"] : f32[4]
  %i = placeholder["i"] : i64[2]
  %j = aten.add_.Scalar(%i, 2) : i64[2]
  %y = aten.index_select.default(%x, 0, %i) : f32[2]
  %z = aten.remainder_.Scalar(%i, 0) : i64[2]
  return (%y)
}
)";
    const auto found = asked(graph, {four(), picked({0, 2})});
    REQUIRE(found);
    CHECK(found->node == "y");
    const auto second = asked(graph, {four(), picked({0, 1})});
    REQUIRE(second);
    CHECK(second->reason == "aten.remainder_.Scalar divides an integer by 0");
}

TEST_CASE("open results are found in the nested graph that runs", "[ops]") {
    const std::string graph = R"(graph g {
  @pick = graph pick {
    %x = placeholder["x"] : f32[4]
    %i = placeholder["i"] : i64[2]
    %picked = aten.index_select.default(%x, 0, %i) : f32[2]
    return (%picked)
  }
  @first = graph first {
    %x = placeholder["x"] : f32[4]
    %i = placeholder["i"] : i64[2]
    %y = aten.slice.Tensor(%x, 0, 0, 2) : f32[2]
    return (%y)
  }
  %p = placeholder["p"] : bool[]
  %x = placeholder["x"] : f32[4]
  %i = placeholder["i"] : i64[2]
  %r = higher_order.cond(%p, @pick, @first, [%x, %i]) : f32[2]
  return (%r)
}
)";
    const auto with = [&](bool pick) {
        return asked(graph, {Tensor::of(Scalar(pick), DType::boolean), four(), picked({0, 4})});
    };
    REQUIRE(with(true));
    CHECK(with(true)->node == "picked");
    CHECK_FALSE(with(false));
}

namespace {

int evaluations = 0;

/// As long as it lives, evaluations of aten.neg are counted.
class CountedNeg {
  public:
    CountedNeg() : op_(const_cast<RegisteredOp&>(Registry::instance().require("aten.neg.default"))), def_(op_.def) {
        counting_ = *def_;
        counting_.eval = [](const Arguments<Tensor>& a) {
            ++evaluations;
            return std::vector<Tensor>{a.tensor("self")};
        };
        op_.def = &counting_;
        evaluations = 0;
    }
    ~CountedNeg() { op_.def = def_; }
    CountedNeg(const CountedNeg&) = delete;
    CountedNeg& operator=(const CountedNeg&) = delete;

  private:
    RegisteredOp& op_;
    const OpDef* const def_;
    OpDef counting_ = {};
};

}  // namespace

TEST_CASE("only what an asked call reads runs when open results are looked for", "[ops]") {
    const auto evaluated = [](const std::string& more) {
        const CountedNeg count;
        CHECK_FALSE(asked("graph g {\n  %x = placeholder[\"x\"] : f32[4]\n  %i = placeholder[\"i\"] : i64[1]\n" + more +
                              "  return (%z)\n}\n",
                          {four(), picked({0})}));
        return evaluations;
    };
    CHECK(evaluated("  %z = aten.neg.default(%x) : f32[4]\n") == 0);
    CHECK(evaluated("  %y = aten.index_select.default(%x, 0, %i) : f32[1]\n  %z = aten.neg.default(%y) : f32[1]\n") ==
          0);
    CHECK(evaluated("  %n = aten.neg.default(%x) : f32[4]\n  %z = aten.index_select.default(%n, 0, %i) : f32[1]\n") ==
          1);
}

}  // namespace whittle
