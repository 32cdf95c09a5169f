#include "reduce/schedule/minimize.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace {

using namespace whittle;
using namespace whittle::reduce;
using Catch::Contains;

TEST_CASE("the culprit is what allows nothing else") {
    MinimizedSchedule done{.failure = "exit status 1", .failed = 4, .runs = 4, .candidates = 12, .confirmed = true};
    done.needed = {{.directive = {.number = 3,
                                  .owner = "f",
                                  .name = "split",
                                  .call = "split(x, xo, xi, 8)",
                                  .place = {.file = "app.cpp", .line = 7}},
                    .allows = {5}},
                   {.directive = {.number = 5,
                                  .owner = "f",
                                  .name = "vectorize",
                                  .call = "vectorize(xi)",
                                  .place = {.file = "app.cpp", .line = 9}}}};
    const std::string text = to_text(done);
    CHECK_THAT(text, Contains("minimized:  12 -> 2 directives"));
    CHECK_THAT(text, Contains("allows 5  f.split(x, xo, xi, 8)  app.cpp:7"));
    CHECK_THAT(text, Contains("culprit:    f.vectorize(xi) (app.cpp:9)\n"));
    CHECK(to_json(done)["needed"][1]["cause"] == true);
}

TEST_CASE("how often a failure occurs is reported") {
    const MinimizedSchedule done{.outcome = MinimizedSchedule::Outcome::not_the_schedule,
                                 .failure = "killed by SIGSEGV",
                                 .failed = 5,
                                 .runs = 20,
                                 .repeat = 17,
                                 .candidates = 3};
    CHECK_THAT(to_text(done), Contains("killed by SIGSEGV (5 of 20 runs; each candidate is run up to 17 times)"));
    CHECK_THAT(to_text(done),
               Contains("not the schedule: the program fails in the same way without any of its 3 directives"));
}

}  // namespace
