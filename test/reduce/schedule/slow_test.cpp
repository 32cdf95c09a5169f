#include "reduce/schedule/slow.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace {

using namespace whittle::reduce;
using Catch::Contains;

TEST_CASE("the culprit is the slow directive that makes no other slow one possible") {
    SlowDirectives done{.factor = 1.5, .run_seconds = 0.0123, .candidates = 12, .runs = 66, .seconds = 40.2};
    done.slow = {{.needed = {.directive = {.number = 3,
                                           .owner = "f",
                                           .name = "split",
                                           .call = "split(x, xo, xi, 8)",
                                           .place = {.file = "app.cpp", .line = 7}},
                             .allows = {5}},
                  .ratio = {3, 3.1, 3.2},
                  .figures = "takes 3.1 times as long as without it"},
                 {.needed = {.directive = {.number = 5,
                                           .owner = "g",
                                           .name = "compute_at",
                                           .call = "compute_at(f, xi)",
                                           .place = {.file = "app.cpp", .line = 9}}},
                  .ratio = {3, 3.1, 3.2},
                  .figures = "takes 3.1 times as long as without it"}};
    const std::string text = to_text(done);
    CHECK_THAT(text, Contains("time:       the pipelines run for 12.3 ms, without compile time"));
    CHECK_THAT(text, Contains("slower:     2 of 12 directives in 66 runs, 40.2 s\n"));
    CHECK_THAT(text, Contains("  3  allows 5  f.split(x, xo, xi, 8)  app.cpp:7\n"));
    CHECK_THAT(text, Contains("culprit:    g.compute_at(f, xi) (app.cpp:9)\n"
                              "            the program takes 3.1 times as long as without it\n"));
    CHECK(to_json(done)["needed"][1]["cause"] == true);
    CHECK(to_json(done)["needed"][1]["ratio"]["median"] == 3.1);
    CHECK(to_json(done)["outcome"] == "slower");
}

TEST_CASE("a program without a slow directive, without times, or that was stopped, is reported as such") {
    SlowDirectives done{.factor = 2, .run_seconds = 0.5, .candidates = 3, .runs = 8, .finished = false};
    CHECK_THAT(to_text(done), Contains("by a factor of more than 2; tried 3 directives in 8 runs") &&
                                  Contains("stopped:    the search stopped before all directives were tried"));
    CHECK(to_json(done)["outcome"] == "not slower");
    done.why = "the program fails: exit status 3";
    CHECK(to_text(done) == "not judged: the program fails: exit status 3\n");
    CHECK(to_json(done)["outcome"] == "no times");
}

}  // namespace
