#include "backends/eager/eager.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <memory>
#include <vector>

#include "backends/eager/interpreted.h"
#include "graph/text.h"
#include "tensor/compare.h"

using namespace whittle;

namespace {

Graph graph_of_call(const std::string& call) {
    return parse(R"(graph g {
  %x = placeholder["x"] : f32[2, 2]
  %i = placeholder["i"] : i64[2]
  %y = )" + call +
                 R"( : f32[2, 2]
  return (%y)
})");
}

const std::vector<Tensor> kInputs = {Tensor::of(std::vector<float>{1, 2, 3, 4}, {2, 2}),
                                     Tensor::of(std::vector<std::int64_t>{0, 9}, {2})};

/// The most bytes of storage that lived at once, of inputs and results.
class Live final : public NamingInterpreter {
  public:
    explicit Live(std::size_t& most) : most_(most) {}

  protected:
    void observe(const Graph&, NodeId, std::span<const Tensor> results) override {
        for (const Tensor& result : results)
            if (std::ranges::none_of(seen_, [&](const auto& known) { return known.lock() == result.storage(); }))
                seen_.push_back(result.storage());
        std::size_t bytes = 0;
        for (const std::weak_ptr<Storage>& storage : seen_)
            if (const auto alive = storage.lock()) bytes += alive->bytes().size();
        most_ = std::max(most_, bytes);
    }

  private:
    std::size_t& most_;
    std::vector<std::weak_ptr<Storage>> seen_;
};

}  // namespace

TEST_CASE("of boxed calls each input is freed after its last use") {
    const Graph graph = parse(R"(graph chain {
  %x = placeholder["x"] : f32[256]
  %y = placeholder["y"] : f32[256]
  %a = aten.add.Tensor(%x, %y) : f32[256]
  %b = aten.neg.default(%a) : f32[256]
  %c = aten.add.Tensor(%b, %a) : f32[256]
  %d = aten.neg.default(%c) : f32[256]
  return (%d)
})");
    constexpr std::size_t kBytes = 256 * sizeof(float);
    std::size_t most = 0;
    const auto executable = interpreted(graph, [&most] { return std::make_unique<Live>(most); });
    Values inputs = {Tensor(DType::f32, {256}), Tensor(DType::f32, {256})};
    CHECK(std::holds_alternative<Values>(executable->run(inputs)));
    CHECK(most == 5 * kBytes);  // the caller's two, and a, b and c
    most = 0;
    CHECK(std::holds_alternative<Values>(executable->run_boxed(std::move(inputs))));
    CHECK(most == 3 * kBytes);
}

TEST_CASE("eager runs a graph any number of times, inputs untouched") {
    CompileResult compiled = make_eager_backend()->compile(graph_of_call("aten.mm.default(%x, %x)"), {});
    Executable& executable = *std::get<std::unique_ptr<Executable>>(compiled);
    const Tensor before = kInputs[0].clone();
    for (int i = 0; i < 2; ++i) {
        const Values values = std::get<Values>(executable.run(kInputs));
        REQUIRE(values.size() == 1);
        CHECK(values[0].values<float>() == std::vector<float>{7, 10, 15, 22});
    }
    CHECK(same_bits(kInputs[0], before));
}

TEST_CASE("eager writes to memory, though never to its caller's") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %y = placeholder["y"] : f32[2]
  %w = get_attr["w"] : f32[2]
  %a = aten.neg.default(%x) : f32[2]
  %v = aten.slice.Tensor(%a, 0, 0, 1) : f32[1]
  %m = aten.mul_.Scalar(%v, 10) : f32[1]
  %s = aten.add_.Tensor(%y, %a) : f32[2]
  %t = aten.add_.Tensor(%w, %a) : f32[2]
  return (%a, %m)
})");
    Graph with_values = graph;
    with_values.attributes["w"] = Tensor::of<float>({5, 6});
    const std::vector<Tensor> inputs = {Tensor::of<float>({1, 2}), Tensor::of<float>({3, 4})};
    CompileResult compiled = make_eager_backend()->compile(with_values, {});
    Executable& executable = *std::get<std::unique_ptr<Executable>>(compiled);
    for (int i = 0; i < 2; ++i) {
        const Values values = std::get<Values>(executable.run(inputs));
        REQUIRE(values.size() == 4);  // two outputs, and what becomes of %y and %w
        CHECK(values[0].values<float>() == std::vector<float>{-10, -2});
        CHECK(values[1].values<float>() == std::vector<float>{-10});
        CHECK(values[2].values<float>() == std::vector<float>{-7, 2});
        CHECK(values[3].values<float>() == std::vector<float>{-5, 4});
    }
    CHECK(inputs[1].values<float>() == std::vector<float>{3, 4});
    CHECK(with_values.attributes["w"].values<float>() == std::vector<float>{5, 6});
}

TEST_CASE("a call that does not fit its schema fails when it is compiled") {
    CompileResult compiled = make_eager_backend()->compile(graph_of_call("aten.mm.default(%x)"), {});
    const BackendFailure failure = std::get<BackendFailure>(compiled);
    CHECK(failure.stage == "compile");
    CHECK(failure.op == "aten.mm.default");
    CHECK_FALSE(failure.unsupported);
}

TEST_CASE("a kernel that refuses its data is a failure that names the op") {
    // Index 9 of 2: known only when it runs.
    CompileResult compiled =
        make_eager_backend()->compile(graph_of_call("aten.index_select.default(%x, 0, %i)"), {{"unknown", "1"}});
    REQUIRE(std::holds_alternative<std::unique_ptr<Executable>>(compiled));
    const BackendFailure failure =
        std::get<BackendFailure>(std::get<std::unique_ptr<Executable>>(compiled)->run(kInputs));
    CHECK(failure.stage == "run");
    CHECK(failure.op == "aten.index_select.default");
    CHECK_THAT(failure.message, Catch::Contains("9"));
}

TEST_CASE("inputs that do not fit are a failure") {
    CompileResult compiled = make_eager_backend()->compile(graph_of_call("aten.mm.default(%x, %x)"), {});
    const std::vector<Tensor> wrong = {Tensor(DType::f32, {3, 3}), kInputs[1]};
    CHECK(std::holds_alternative<BackendFailure>(std::get<std::unique_ptr<Executable>>(compiled)->run(wrong)));
}
