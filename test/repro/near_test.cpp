// near_case(): the nearest graph that is right, of backends with a planted bug.
#include "repro/steps.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "planted_backend.h"
#include "printers/near_text.h"
#include "repro/failing.h"

using namespace whittle;
using namespace whittle::repro;

namespace {

constexpr const char* kSub = R"(graph g {
  %x = placeholder["x"] : f32[2]
  %neg = aten.neg.default(%x) : f32[2]
  %sub = aten.sub.Tensor(%neg, %x, alpha=2) : f32[2]
  %abs = aten.abs.default(%sub) : f32[2]
  return (%abs, %neg)
}
)";

Repro failing_repro(const Signature& signature, const char* text = kSub) {
    return with_data({.graph = failing(text, {Tensor::of<float>({1, 2}, {2})}, "planted", signature)}, Data::real);
}

std::optional<NearCase> found(PlantedBackend& backend, const Repro& repro, bool controlled = false) {
    const auto compiled = backend.compile(repro.graph, {});
    const auto* const executable = std::get_if<std::unique_ptr<Executable>>(&compiled);
    REQUIRE(executable);
    const RunResult got = (*executable)->run(repro.graph.failure->inputs);
    return near_case(repro, std::get<std::vector<Tensor>>(got), controlled, backend);
}

}  // namespace

TEST_CASE("near case: an attribute that is not right") {
    PlantedBackend backend;
    backend.on_result = [](const Node& call, Tensor value) {
        return call.kwarg("alpha") ? Tensor::of<float>({7, 7}, {2}) : value;
    };
    const Repro repro = failing_repro({"mismatch", "run", "value"});
    const auto near = found(backend, repro);
    REQUIRE(near);
    CHECK(near->change == NearCase::Change::without_attribute);
    CHECK(near_text(repro.graph, *near) == "The result is right without `alpha`.");
    CHECK_FALSE(found(backend, repro, true));  // where a switch says more, other values say nothing
}

TEST_CASE("near case: where several calls have the attribute, the call is named") {
    const Graph graph = parse(R"(graph g {
  %x = placeholder["x"] : f32[2]
  %once = aten.sub.Tensor(%x, %x, alpha=2) : f32[2]
  %again = aten.sub.Tensor(%once, %x, alpha=3) : f32[2]
  return (%again)
}
)");
    const NearCase near{
        .change = NearCase::Change::without_attribute, .node = graph.calls().at(1), .attribute = "alpha"};
    CHECK(near_text(graph, near) == "The result is right without `alpha` of `again`.");
}

TEST_CASE("near case: operands that are taken for each other") {
    constexpr const char* kSwapped = R"(graph g {
  %x = placeholder["x"] : f32[2]
  %abs = aten.exp.default(%x) : f32[2]
  %sub = aten.sub.Tensor(%x, %abs) : f32[2]
  return (%sub)
}
)";
    PlantedBackend backend;
    backend.on_result = [](const Node& call, Tensor value) {
        if (call.target != "aten.sub.Tensor" || call.args[0].node()->id > call.args[1].node()->id) return value;
        std::vector<float> negative;
        for (const double element : value.values<double>()) negative.push_back(static_cast<float>(-element));
        return Tensor::of(negative, value.sizes());
    };
    const Repro repro = failing_repro({"mismatch", "run", "value"}, kSwapped);
    const auto near = found(backend, repro, true);
    REQUIRE(near);
    CHECK(near->same_result);
    CHECK(near_text(repro.graph, *near) ==
          "The wrong result equals the result of the model with `sub(abs, x)` in place of `sub(x, abs)`.");
}

TEST_CASE("near case: an output that another call reads") {
    PlantedBackend backend;
    const Repro repro = failing_repro({"exception", "compile", "two"});
    backend.on_compile = [](const Graph& graph) {
        if (graph.outputs().size() > 1) throw Error("two");
    };
    const auto near = near_case(repro, {}, false, backend);
    REQUIRE(near);
    CHECK(near_text(repro.graph, *near) == "The result is right if `neg` is not an output.");
}

TEST_CASE("near case: none where all is wrong, or a run may take its whole limit") {
    PlantedBackend backend;
    backend.on_result = [](const Node&, Tensor) { return Tensor::of<float>({7, 7}, {2}); };
    CHECK_FALSE(found(backend, failing_repro({"mismatch", "run", "value"})));
    CHECK_FALSE(near_case(failing_repro({"timeout", "run", ""}), {}, false, backend));
}
