#include "ops/aten/hidden_writes.h"

#include <catch2/catch.hpp>

#include "graph/text.h"
#include "ops/core/interpreter.h"

namespace whittle {
namespace {

/// One channel with the values 1, 2, 3, 6 (mean 3, unbiased variance 14/3), one with 0, 0, 4, 4 (2 and 16/3).
Tensor batch() { return Tensor::of(std::vector<double>{1, 0, 2, 0, 3, 4, 6, 4}, {4, 2}); }

std::string text(const std::string& training) {
    return R"(graph step {
  %x = placeholder["x"] : f64[4, 2]
  %mean = placeholder["mean"] : f64[2]
  %var = placeholder["var"] : f64[2]
  %norm = aten.native_batch_norm.default(%x, none, none, %mean, %var, )" +
           training + R"(, 0.25, 1e-05) : (f64[4, 2], f64[2], f64[2])
  %y = getitem(%norm, 0) : f64[4, 2]
  %save = getitem(%norm, 1) : f64[2]
  %after = aten.mul.Scalar(%mean, 2) : f64[2]
  return (%y, %save, %after)
}
)";
}

}  // namespace

TEST_CASE("batch norm in training moves its running statistics, which later calls read", "[ops]") {
    std::vector<NodeId> stands_for;
    const Graph graph = with_visible_writes(parse(text("true")), &stands_for);
    CHECK(stands_for.size() == graph.nodes.size());
    const std::vector<Tensor> inputs = {batch(), Tensor::of(std::vector<double>{0, 0}, {2}),
                                        Tensor::of(std::vector<double>{1, 1}, {2})};
    const std::vector<Tensor> outputs = evaluate(graph, inputs);
    REQUIRE(outputs.size() == 5);
    CHECK(outputs[1].values<double>() == std::vector<double>{3, 2});
    CHECK(outputs[2].values<double>() == std::vector<double>{1.5, 1});
    CHECK(outputs[3].values<double>() == std::vector<double>{0.75, 0.5});
    CHECK(outputs[4].values<double>()[0] == Approx(0.75 + 0.25 * 14 / 3));
    CHECK(outputs[4].values<double>()[1] == Approx(0.75 + 0.25 * 16 / 3));
}

TEST_CASE("instance norm moves its running statistics by averages over samples", "[ops]") {
    const std::string text = R"(graph step {
  %x = placeholder["x"] : f64[2, 1, 4]
  %mean = placeholder["mean"] : f64[1]
  %var = placeholder["var"] : f64[1]
  %y = aten.instance_norm.default(%x, none, none, %mean, %var, true, 0.25, 1e-05, false) : f64[2, 1, 4]
  return (%y)
}
)";
    // Of the first sample 3 and 14/3, of the second 2 and 16/3.
    const Tensor x = Tensor::of(std::vector<double>{1, 2, 3, 6, 0, 0, 4, 4}, {2, 1, 4});
    const std::vector<Tensor> inputs = {x, Tensor::of(std::vector<double>{0}, {1}),
                                        Tensor::of(std::vector<double>{1}, {1})};
    const std::vector<Tensor> outputs = evaluate(with_visible_writes(parse(text)), inputs);
    REQUIRE(outputs.size() == 3);
    CHECK(outputs[0].values<double>()[4] == Approx(-1).epsilon(1e-5));
    CHECK(outputs[1].values<double>()[0] == Approx(0.25 * 2.5));
    CHECK(outputs[2].values<double>()[0] == Approx(0.75 + 0.25 * 5));
}

TEST_CASE("batch norm outside training writes nothing", "[ops]") {
    const Graph graph = parse(text("false"));
    CHECK(print(with_visible_writes(graph)) == print(graph));
}

}  // namespace whittle
