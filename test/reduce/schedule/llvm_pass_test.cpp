#include "reduce/schedule/llvm_pass.h"

#include <catch2/catch.hpp>

namespace {

using namespace whittle::reduce;

const std::string kPrinted =
    "BISECT: running pass (1) CodeGen Prepare on function (halide_error)\n"
    "Warning: something else\n"
    "BISECT: running pass (2) Loop Strength Reduction on loop\n"
    "BISECT: running pass (3) Merge contiguous icmps into a memcmp on function (out)\n"
    "BISECT: running pass (4) CodeGen Prepare on function (out)\n"
    "BISECT: NOT running pass (5) X86 LEA Fixup on function (out)\n";
const std::string kByLlc =
    "BISECT: running pass (1) Loop Strength Reduction on loop\n"
    "BISECT: running pass (2) Merge contiguous icmps into a memcmp on function (out)\n"
    "BISECT: running pass (3) CodeGen Prepare on function (out)\n"
    "BISECT: running pass (4) X86 LEA Fixup on function (out)\n";

TEST_CASE("a pass has the name and the function that the bisection prints") {
    CHECK(pass_numbered(kPrinted, 4).name == "CodeGen Prepare on function (out)");
    CHECK(pass_numbered(kPrinted, 4).function == "out");
    CHECK(pass_numbered(kPrinted, 2).function == "out");  // of a loop: that of the next function
    CHECK(pass_numbered(kPrinted, 9).name.empty());
}

TEST_CASE("llc counts the passes of one module, where Halide compiles several") {
    CHECK(number_among(kPrinted, kByLlc, pass_numbered(kPrinted, 4)) == 3);
    CHECK(number_among(kPrinted, kByLlc, pass_numbered(kPrinted, 2)) == 1);
    CHECK(number_among(kPrinted, kByLlc, pass_numbered(kPrinted, 5)) == 4);
    CHECK_FALSE(number_among(kPrinted, kByLlc, pass_numbered(kPrinted, 1)));
    CHECK_FALSE(number_among(kPrinted, "llc: error: expected a type\n", pass_numbered(kPrinted, 4)));
}

TEST_CASE("the first module that is printed is taken") {
    const std::string printed =
        "*** IR Dump Before Add __emutls (loweremutls) ***\nBISECT: running pass (1) a on function (f)\n"
        "*** IR Dump Before Expand Atomic instructions (atomic-expand) *** (function: out)\n; ModuleID = 'out'\n"
        "define i32 @out() {\n}\n*** IR Dump Before Lower AMX intrinsics ***\n; ModuleID = 'out'\nlater\n";
    CHECK(first_module(printed) == "; ModuleID = 'out'\ndefine i32 @out() {\n}\n");
    CHECK(first_module("nothing").empty());
}

}  // namespace
