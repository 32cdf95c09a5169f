#include "reduce/schedule/runs.h"

#include <catch2/catch.hpp>

namespace {

using whittle::halide_program::Event;
using whittle::reduce::kind_of;

std::string kind(const std::string& text, const std::string& what = "runtime-error") {
    return kind_of(Event{.what = what, .text = text});
}

TEST_CASE("a failure is told from others by Halide's message, with its Funcs and dimensions") {
    const std::string fold =
        "Error: The fold factor (4) of dimension y of denoise is too small to store the required region accessed by "
        "loop out.s0.y.$n (10).\n";
    CHECK(kind(fold) ==
          "runtime-error: The fold factor (…) of dimension y of denoise is too small to store the required region "
          "accessed by loop out.… (…).");
    CHECK(kind("The fold factor (2) of dimension y of denoise is too small to store the required region accessed by "
               "loop out.s0.yi.yi (6).") == kind(fold));
    CHECK(kind("The fold factor (4) of dimension y of sharp is too small") !=
          kind("The fold factor (4) of dimension y of denoise is too small"));
    CHECK(kind("Input buffer b0 is accessed at -1, which is before the min (0) in dimension 1") ==
          "runtime-error: Input buffer b0 is accessed at …, which is before the min (…) in dimension 1");
    CHECK(kind("Bounds given for rows$1 in x (from 0 to 7)") ==
          "runtime-error: Bounds given for rows in x (from … to …)");
    CHECK(kind("conv1 is too small") != kind("conv2 is too small"));
}

TEST_CASE("a message is Halide's first line, without the place in the user's code") {
    CHECK(kind("Error:\nIn schedule for f, there is no loop x\nmore\n", "compile-error") ==
          "compile-error: In schedule for f, there is no loop x");
    CHECK(kind("Error at app.cpp:12:\nIn schedule for f: no", "compile-error") ==
          "compile-error: In schedule for f: no");
}

}  // namespace
