#include <catch2/catch.hpp>

#include "report/show.h"
#include "trace/profile.h"

using namespace whittle;

TEST_CASE("kernels that a program compiled are not added to those that a backend was measured with") {
    Profile profile{.backend = "halide"};
    const TimeSpan own{.kind = "kernel", .name = "k", .graph = "g", .from = "compiled", .seconds = 1};
    TimeSpan measured = own;
    measured.backend = "halide";
    measured.start = 1;
    measured.seconds = 2;
    profile.spans = {own, measured};
    const std::string text = report::to_text(profile, {});
    CHECK_THAT(text, Catch::Contains("longest k, 1.00 s  g\n"));
    CHECK_THAT(text, Catch::Contains("longest k, 2.00 s  g on halide\n"));
    profile.spans = {measured, measured};
    CHECK_THAT(report::to_text(profile, {}), Catch::Contains("2 kernels, 0 from the cache; longest k, 2.00 s  g\n"));
}
