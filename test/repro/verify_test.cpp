// What a repro's runs say of it.
#include "repro/verify.h"

#include <catch2/catch.hpp>

#include "base/files.h"

using namespace whittle;
using namespace whittle::repro;

namespace {

/// What becomes of a program, which is a text for a shell and shows a failure by exit 1.
Report verified(const std::string& text, bool control = false) {
    const TempDir folder("whittle-test");
    write_file(folder.path() / "program", text);
    Program program{.folder = folder.path(), .build = {}, .run = {"sh", "program"}};
    program.control = control;
    Report report;
    verify(program, {}, {}, report);
    return report;
}

}  // namespace

TEST_CASE("verify: every run must fail, and the control pass") {
    const Report fails = verified("echo wrong; exit 1");
    CHECK(fails.verified);
    CHECK(fails.runs == 3);
    CHECK(fails.of == 3);
    CHECK_FALSE(fails.varies);
    CHECK_FALSE(verified("echo right; exit 0").verified);
    CHECK(verified("[ \"$1\" = control ] || exit 1", true).verified);
    CHECK_FALSE(verified("exit 1", true).verified);
    CHECK(verified("exit 1", true).message == "the control fails too: it exited with 1");
    CHECK(verified("echo oops >&2; exit 1", true).message == "the control fails too: oops");
}

TEST_CASE("verify: a run with filled memory that passes is counted as a run") {
    const Report report = verified("[ -z \"$MALLOC_PERTURB_\" ] || exit 0; echo wrong; exit 1");
    CHECK(report.verified);
    CHECK(report.runs == 3);
    CHECK(report.of == 4);  // "3 of 4 runs fail"
    CHECK(report.varies);
}
