#include "reduce/schedule/llvm_pass.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "environment_variable.h"

namespace {

using namespace whittle;
using namespace whittle::reduce;
namespace fs = std::filesystem;

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

/// Programs in place of LLVM's.
class Programs {
  public:
    void add(const std::string& name, const std::string& script) const {
        write_file(folder_.path() / name, "#!/bin/sh\n" + script);
        fs::permissions(folder_.path() / name, fs::perms::owner_all);
    }

  private:
    const TempDir folder_{"llvm-programs"};
    const test::EnvironmentVariable path_{"PATH", folder_.path().string() + ":/usr/bin:/bin"};
};

/// Fails in the last of its passes where the module has a line "boom".
const std::string kLlc =
    "for module; do [ -e \"$module\" ] && [ \"$module\" != /dev/null ] && break; done\n"
    "grep -q out \"$module\" && echo 'BISECT: running pass (7) CodeGen Prepare on function (out)' >&2\n"
    "grep -q bang \"$module\" && echo 'BISECT: running pass (8) Another on function (out)' >&2\n"
    "! grep -q -e boom -e bang \"$module\"\n";
/// Asks about the module, about what fails elsewhere, what does not fail, and what is smaller.
const std::string kReducer =
    "test=${1#--test=}\n\"$test\" \"$2\" || exit 1\n"
    "printf 'out\\nbang\\n' > a.ll; \"$test\" a.ll\nprintf 'out\\n' > b.ll; \"$test\" b.ll\n"
    "printf 'out\\nboom\\n' > c.ll; \"$test\" c.ll\nexit 0\n";

LlvmPass found_in(const std::string& module) {
    return find_pass(kPrinted, 4, [&](const std::string&) { return "\n; ModuleID = 'out'\n" + module; });
}

TEST_CASE("a module with which llc fails is made smaller by llvm-reduce of the same LLVM") {
    const Programs programs;
    programs.add("llc", kLlc);
    CHECK(found_in("out\nboom\nmore\n").not_reduced.find("llvm-reduce is not installed: there is no ") == 0);
    programs.add("llvm-reduce", kReducer);
    const LlvmPass pass = found_in("out\nboom\nmore\n");
    CHECK(pass.lines_before == 4);
    CHECK(pass.module == "out\nboom\n");
    CHECK(pass.number_in_llc == 7);
    CHECK(pass.not_reduced.empty());
}

TEST_CASE("a module is not made smaller where nothing shows that it fails") {
    const Programs programs;
    programs.add("llc", kLlc);
    programs.add("llvm-reduce", kReducer);
    const LlvmPass right = found_in("out\n"), elsewhere = found_in("out\nbang\n");
    CHECK(right.lines_before == 0);
    CHECK(right.not_reduced.find("llc does not fail in the pass") == 0);
    CHECK(right.number_in_llc == 7);
    CHECK(elsewhere.lines_before == 0);
    programs.add("llvm-reduce", "exit 3\n");
    CHECK(found_in("out\nboom\n").not_reduced == "llvm-reduce exited with 3");
}

}  // namespace
