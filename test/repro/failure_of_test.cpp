// failure_of(), and what has a repro.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/error.h"
#include "relu_frame.h"
#include "repro/repro.h"

using namespace whittle;
using namespace whittle::test;
namespace fs = std::filesystem;

TEST_CASE("failure_of() asks once; only a backend's failure has a repro", "[repro]") {
    CHECK_FALSE(repro::failure_of(relu_frame("f", "abs"), kRefuses));
    CHECK_FALSE(repro::failure_of(relu_frame("f"), {.spec = kWrong.spec}));  // how it ends is all that counts
    const std::optional<Failure> wrong = repro::failure_of(relu_frame("f"), kWrong);
    REQUIRE(wrong);
    CHECK(wrong->backend == kWrong.spec.text());
    CHECK(wrong->signature.kind == "mismatch");

    Graph judged = relu_frame("f").graph;
    judged.failure = Failure{.backend = "", .signature = {"command", "", "exit 1"}};
    CHECK_THROWS_WITH(repro::write_repro(judged, {.graph = "m.json"}),
                      Catch::Contains("m.json: ") && Catch::Contains("found a failure from --test or --check"));
}
