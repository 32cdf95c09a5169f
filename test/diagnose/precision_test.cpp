// explain diagnose --precision: the fewest operations that must stay in f32.
#include "diagnose/precision.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "backends/eager/eager.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "planted_backend.h"

using namespace whittle;
using namespace whittle::diagnose;
using Catch::Contains;

namespace {

/// exp(12) and its square root: the first overflows f16 and not bf16, the second takes it back into the range.
LoadedFrame overflowing(float x = 12) {
    Graph graph = parse(R"(graph g {
        %x = placeholder["x"] : f32[2]
        %a = aten.neg.default(%x) : f32[2]
        %b = aten.neg.default(%a) : f32[2]
        %e = aten.exp.default(%b) : f32[2]
        %s = aten.sqrt.default(%e) : f32[2]
        %c = aten.relu.default(%s) : f32[2]
        return (%c)
    })");
    graph.nodes[3].stack = {StackFrame{.file = "model.py", .line = 7, .column = 0, .function = {}, .text = {}}};
    return {.name = "main", .graph = std::move(graph), .inputs = {Tensor::of<float>({1, x})}};
}

std::vector<std::string> names(const PrecisionReport& report) {
    std::vector<std::string> all;
    for (const PrecisionReport::Operation& kept : report.kept) all.push_back(kept.node);
    return all;
}

}  // namespace

TEST_CASE("the operations that overflow f16 stay in f32, and no others", "[precision]") {
    const auto eager = make_eager_backend();
    const PrecisionReport report = precision(overflowing(), *eager, {.half = DType::f16});
    CHECK_FALSE(report.before.holds);
    CHECK(report.before.error.misplaced == 1);
    CHECK(names(report) == std::vector<std::string>{"e", "s"});
    CHECK(report.kept[0].line == "model.py:7");
    CHECK(report.after.holds);
    CHECK(report.after.error.misplaced == 0);
    CHECK(report.minimal);
    CHECK(report.operations == 5);
    // What it hands over is what was verified.
    const LoadedFrame frame = overflowing();
    Accuracy accuracy;
    accuracy.tolerances[DType::f32] = default_tolerance(DType::f16);
    CHECK_FALSE(compare(evaluate(report.mixed, frame.inputs)[0], evaluate(frame.graph, frame.inputs)[0], accuracy));
    CHECK(report.mixed.find("a")->meta().dtype == DType::f16);
    CHECK(report.mixed.find("e")->meta().dtype == DType::f32);
    CHECK_THAT(to_text(report), Contains("  %e = aten.exp.default   # model.py:7\n"));
    CHECK_THAT(to_text(report), Contains("in f32:       2 of 5 operations, found in "));
    const nlohmann::json json = to_json(report);
    CHECK(json["kept"].size() == 2);
    CHECK(json["all_half"]["holds"] == false);
    CHECK(json["mixed"]["holds"] == true);
}

TEST_CASE("a model that holds keeps nothing in f32", "[precision]") {
    const auto eager = make_eager_backend();
    for (const PrecisionReport& report : {precision(overflowing(2), *eager, {.half = DType::f16}),
                                          precision(overflowing(2), *eager, {.half = DType::bf16})}) {
        CHECK(report.before.holds);
        CHECK(report.kept.empty());
        CHECK(report.runs == 1);
        CHECK_THAT(to_text(report), Contains("no operation has to stay in f32"));
    }
}

TEST_CASE("a tolerance of the half type decides", "[precision]") {
    const auto eager = make_eager_backend();
    Accuracy tight;
    tight.tolerances[DType::f16] = {.rtol = 1e-6, .atol = 1e-6};
    const PrecisionReport report =
        precision(overflowing(2.3f), *eager, {.half = DType::f16, .suspect = {.accuracy = tight}});
    CHECK_FALSE(report.before.holds);
    CHECK(report.after.holds);
    CHECK(report.kept.size() > 2);
}

TEST_CASE("a backend that is wrong in f32 holds in no precision", "[precision]") {
    PlantedBackend wrong;
    wrong.on_result = [](const Node& call, const Tensor& value) {
        return call.target == "aten.relu.default" ? Tensor::of<float>(std::vector<float>(2, 99), {2}).to(value.dtype())
                                                  : value;
    };
    const PrecisionReport report =
        precision(overflowing(), wrong, {.half = DType::f16, .suspect = {.spec = BackendSpec("planted")}});
    CHECK_FALSE(report.before.holds);
    CHECK_FALSE(report.after.holds);
    CHECK(report.kept.size() == 5);
    CHECK_FALSE(report.minimal);
    CHECK_THAT(to_text(report), Contains("mixed:        fails"));
}
