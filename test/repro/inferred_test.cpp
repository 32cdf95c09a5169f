// Repros of wrong inference: LibTorch is asked what the result really is.
#include <catch2/catch.hpp>

#include "backends/debug/crossref.h"
#include "base/error.h"
#include "base/files.h"
#include "base/module.h"
#include "ops/core/custom.h"
#include "repro/failing.h"

using namespace whittle;
using namespace whittle::repro;
using Catch::Contains;

namespace {

constexpr char kSays[] = "result # of aten.mm.default is f[#], inferred is f[#] strides[#]";

/// Whose repros claim that a product is laid out by columns, or by rows.
class Claims final : public Backend, public Emitter {
  public:
    explicit Claims(Strides strides) : strides_(std::move(strides)) {}
    std::string name() const override { return "claims"; }
    std::string description() const override { return "what is inferred of a product"; }
    CompileStage consumes() const override { return CompileStage::captured; }
    CompileResult compile(const Graph&, const BackendOptions&) override {
        return BackendFailure{"run", "aten.mm.default", kSays};
    }
    SuspectCode emit(const EmitRequest& request) override {
        EmitRequest own = request;
        ValueMeta meta = ValueMeta::contiguous(DType::f32, {2, 3});
        meta.strides = strides_;
        own.held = HeldResult{"m", 0, ValueMeta::contiguous(DType::f32, {2, 3}), meta, "inferred"};
        return offered<Emitter>(*libtorch_)->emit(own);
    }

  private:
    const Strides strides_;
    const std::unique_ptr<Backend> libtorch_ = find_backend("libtorch");
};

Graph product() {
    return failing(R"(graph g {
  %x = placeholder["x"] : f32[2, 2]
  %y = placeholder["y"] : f32[2, 3]
  %m = aten.mm.default(%x, %y) : f32[2, 3]
  %z = aten.relu.default(%m) : f32[2, 3]
  return (%z)
})",
                   {Tensor(DType::f32, {2, 2}), Tensor(DType::f32, {2, 3})}, "claims", {"exception", "run", kSays});
}

Repro repro_of(Strides strides) {
    Claims backend(std::move(strides));
    const TempDir folder;
    return write_repro(
        product(), {.output = folder.path() / "repro.cpp", .runs = 1, .data = "real", .command = "repro"}, &backend);
}

}  // namespace

TEST_CASE("what is inferred wrongly is shown by LibTorch's own result, and what is inferred well is not") {
    if (!has_module("libtorch")) {
        CHECK_THROWS_WITH(find_backend("libtorch"), Contains("built without LibTorch"));
        return;
    }
    const Repro wrong = repro_of({1, 2});
    INFO(wrong.message);
    CHECK(wrong.verified);
    const Repro right = repro_of({3, 1});
    CHECK_FALSE(right.verified);
    CHECK_THAT(right.message, Contains("is gone"));
}

TEST_CASE("the first result that is inferred wrongly is found with the call that gives it") {
    register_op({.target = "inferred_test.lies",
                 .schema = "lies(Tensor x) -> Tensor",
                 .infer = [](const Arguments<ValueMeta>& a) { return std::vector{a.tensor("x")}; },
                 .eval = [](const Arguments<Tensor>& a) { return std::vector{a.tensor("x").to(DType::f64)}; }});
    Graph graph = failing(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %a = aten.neg.default(%x) : f32[2]
  %b = inferred_test.lies(%a) : f32[2]
  return (%b)
})",
                          {Tensor(DType::f32, {2})}, "aten", {"exception", "run", ""});
    const auto found = [&](bool all) {
        return first_wrong(*make_crossref_interpreter(all), graph, graph.failure->inputs);
    };
    const auto wrong = found(false);
    REQUIRE(wrong);
    const HeldResult held = std::get<HeldResult>(*wrong);
    CHECK(held.node == "b");
    CHECK(held.result == 0);
    CHECK(held.said.dtype == DType::f32);
    CHECK(held.computed.dtype == DType::f64);
    graph.nodes[2].target = "aten.abs.default";
    CHECK_FALSE(found(true));
}
