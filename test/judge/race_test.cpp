// Graphs that take too long, by the times of a worker that makes them up: no clock decides.
#include "judge/suspect.h"

#include <catch2/catch.hpp>

#include "backends/registry.h"
#include "base/subprocess.h"
#include "graph/text.h"
#include "judge/judge.h"

using namespace whittle;
using Catch::Contains;

namespace {

/// The relu takes 3 ms of the worker `slow`, and 1 ms where nothing is optimized; the abs 1 ms.
const Graph kRaced = parse(R"(graph g opset("": 13) {
  %x = placeholder["x"] : f32[2]
  %a = onnx.Abs(%x) : f32[2]
  %y = onnx.Relu(%a) : f32[2]
  return (%y)
})");
const std::vector<Tensor> kRacedInputs = {Tensor::of({1.f, -2.f})};

std::string worker_of(const std::string& mode) { return "worker:" + shell_quote({WHITTLE_TEST_WORKER, mode}); }

Suspect timed(const std::string& mode, Pace pace, BackendOptions options = {}) {
    return {.spec = worker_of(mode), .options = std::move(options), .slower = std::move(pace)};
}

Outcome raced(const Suspect& suspect) {
    const auto backend = find_backend(suspect.spec);
    return run_suspect(kRaced, kRacedInputs, *backend, suspect);
}

}  // namespace

TEST_CASE("a graph is slow against its unoptimized form, another backend or other options", "[race]") {
    const Pace paces[] = {{.factor = 1.5},
                          {.factor = 1.5, .than = worker_of("right")},
                          {.factor = 1.5, .than = worker_of("slow"), .options = {{"disable", "fuse-relu"}}}};
    for (const Pace& pace : paces) {
        CAPTURE(pace.text());
        const Outcome outcome = raced(timed("slow", pace));
        CHECK(outcome.kind == Outcome::Kind::slow);
        CHECK(outcome.stage == "run");
        CHECK_THAT(outcome.message, Contains("takes 2 times as long as "));
        CHECK_THAT(outcome.message, Contains("median 4 ms (4 ms to 4 ms) against 2 ms (2 ms to 2 ms)"));
    }
}

TEST_CASE("what is no slower than the bound is not slow, and says by how much", "[race]") {
    const Outcome outcome = raced(timed("slow", {.factor = 2.5}));
    CHECK(outcome.kind == Outcome::Kind::ok);
    CHECK_THAT(outcome.message, Contains("takes 2 times as long as "));
    const Outcome same = raced(timed("slow", {.factor = 1.5}, {{"disable", "fuse-relu"}, {"pass-limit", "level=0"}}));
    CHECK(same.kind == Outcome::Kind::ok);
    CHECK_THAT(same.message, Contains("takes 1 times as long as "));
}

TEST_CASE("where there are no times there is no answer", "[race]") {
    const Outcome untimed = raced(timed("untimed", {.factor = 1.5}));
    CHECK(untimed.kind == Outcome::Kind::unsupported);
    CHECK_THAT(untimed.message,
               Contains("the worker does not measure run times: found no list of positive numbers as \"run_seconds\""));
    const Outcome other = raced(timed("slow", {.factor = 1.5, .than = worker_of("fail")}));
    CHECK(other.kind == Outcome::Kind::unsupported);
    CHECK_THAT(other.message, Contains("the other side of the comparison, ") && Contains(", fails: no relu"));
    const Outcome bound = raced(timed("slow", {.factor = 2}));  // on the bound, to the bit
    CHECK(bound.kind == Outcome::Kind::unsupported);
    CHECK_THAT(bound.message, Contains("400 pairs of runs"));
}

TEST_CASE("a suspect that fails otherwise is told as ever", "[race]") {
    CHECK(raced(timed("fail", {.factor = 1.5})).kind == Outcome::Kind::exception);
    CHECK(raced(timed("crash", {.factor = 1.5})).kind == Outcome::Kind::crash);
}

TEST_CASE("what is slow fails, and what is not is right with its figures", "[race]") {
    const auto said = [](double factor) {
        const Suspect asked = timed("slow", {.factor = factor});
        return judge({kRaced, kRacedInputs, {}, asked}, *find_backend(asked.spec));
    };
    CHECK(said(1.5).fails());
    CHECK_THAT(said(1.5).reason, Contains("slow at run: takes 2 times as long"));
    CHECK(said(2.5).right());
    CHECK_THAT(said(2.5).reason, Contains("takes 2 times as long"));
}

TEST_CASE("in this process only the order of magnitude is known", "[race]") {
    const Suspect asked{.spec = "eager", .slower = Pace{.factor = 1e6, .than = "eager"}};
    Graph large = parse(R"(graph g {
  %x = placeholder["x"] : f32[128, 128]
  %y = aten.mm.default(%x, %x) : f32[128, 128]
  return (%y)
})");
    const Outcome outcome = race(large, std::vector{Tensor(DType::f32, {128, 128})}, *find_backend("eager"), asked);
    CHECK(outcome.kind == Outcome::Kind::ok);
    CHECK_THAT(outcome.message, Contains("24 pairs of runs"));
}
