#include "reduce/schedule/minimize.h"

#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

namespace {

using namespace whittle;
using namespace whittle::reduce;
using Catch::Contains;

TEST_CASE("the culprit is what allows nothing else") {
    MinimizedSchedule done{.failure = "exit status 1", .failed = 4, .runs = 4, .confirmed = true};
    done.culprits.candidates = 12;
    done.culprits.needed = {{.directive = {.number = 3,
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
    MinimizedSchedule done{.outcome = MinimizedSchedule::Outcome::not_the_schedule,
                           .failure = "killed by SIGSEGV",
                           .failed = 5,
                           .runs = 20,
                           .repeat = 17};
    done.culprits.candidates = 3;
    CHECK_THAT(to_text(done), Contains("killed by SIGSEGV (5 of 20 runs; each candidate is run up to 17 times)"));
    CHECK_THAT(to_text(done),
               Contains("not the schedule: the program fails in the same way without any of its 3 directives"));
}

/// Of the directives 1, 2, … of `f`, on lines of the same numbers.
std::vector<NeededDirective> needed(const std::vector<bool>& causes) {
    std::vector<NeededDirective> all;
    for (const bool cause : causes) {
        const int number = static_cast<int>(all.size()) + 1;
        all.push_back({.directive = {.number = number,
                                     .owner = "f",
                                     .name = "unroll",
                                     .call = "unroll(x)",
                                     .place = {.file = "app.cpp", .line = number}},
                       .context = !cause});
    }
    return all;
}

TEST_CASE("a directive that is not at fault is context, and many causes are not listed twice") {
    MinimizedSchedule done{.failure = "exit status 1", .failed = 4, .runs = 4, .confirmed = true};
    done.culprits.needed = needed({true, false, true});
    CHECK_THAT(to_text(done), Contains("    2  context  f.unroll(x)  app.cpp:2\n"));
    CHECK_THAT(to_text(done), Contains("culprit:    f.unroll(x) (app.cpp:1) and f.unroll(x) (app.cpp:3) together\n"));
    CHECK(to_json(done)["needed"][1]["cause"] == false);
    done.culprits.separate = true;
    CHECK_THAT(to_text(done), Contains("(app.cpp:3), each on its own\n"));
    done.culprits = {.needed = needed({true, true, true})};
    CHECK_THAT(to_text(done), Contains("culprit:    the 3 directives marked cause, together\n"));
}

TEST_CASE("Halide's message is shown as it is, and that of the minimized program where it differs") {
    MinimizedSchedule done{.failure = "killed by SIGABRT, runtime-error: The fold factor (…) is too small",
                           .error = "The fold factor (4) is too small",
                           .minimized_error = "The fold factor (4) is too small",
                           .failed = 4,
                           .runs = 4,
                           .confirmed = true};
    done.culprits.needed = needed({true});
    CHECK_THAT(to_text(done), Contains("failure:    Halide's error: The fold factor (4) is too small (4 of 4 runs)\n"));
    CHECK_THAT(to_text(done), !Contains("then"));
    done.minimized_error = "The fold factor (3) is too small";
    CHECK_THAT(to_text(done), Contains("in the same way\n            Halide's error is then: The fold factor (3)"));
    done.failure = "check: exit status 1";
    CHECK_THAT(to_text(done), Contains("failure:    check: exit status 1 (4 of 4 runs)\n"
                                       "            Halide's error: The fold factor (4) is too small\n"));
    CHECK(to_json(done)["error"] == "The fold factor (4) is too small");
}

TEST_CASE("what is not the cause is never confirmed") {
    MinimizedSchedule done{.outcome = MinimizedSchedule::Outcome::not_the_cause, .failure = "exit status 1"};
    done.culprits.needed = needed({false});
    CHECK_THAT(to_text(done), Contains("culprit:    not found: these directives are not the cause"));
    CHECK_THAT(to_text(done), !Contains("confirmed"));
    done.outcome = MinimizedSchedule::Outcome::minimized;
    done.culprits.finished = false;
    done.culprits.needed[0] = {.directive = done.culprits.needed[0].directive, .open = true};
    CHECK_THAT(to_text(done), Contains("  1  open  f.unroll(x)") && !Contains("confirmed") && !Contains("culprit"));
}

}  // namespace
