// What a repro's runs say of it.
#include "repro/verify.h"

#include <catch2/catch.hpp>

#include "base/files.h"

using namespace whittle;
using namespace whittle::repro;

namespace {

/// What becomes of a program, which is a text for a shell and shows a failure by exit 1.
Repro verified(const std::string& text, bool control = false) {
    const TempDir folder("whittle-test");
    Repro repro;
    repro.graph.failure.emplace();
    repro.program.folder = ProgramFolder{.name = "program", .run = {"sh", "program"}};
    if (control) repro.program.control_argument = "no bug";
    const Options options;
    write_file(place_in(folder.path(), repro.program, options).file, text);
    verify(folder.path(), options, repro);
    return repro;
}

}  // namespace

TEST_CASE("verify: every run must fail, and the control pass") {
    const Repro fails = verified("echo wrong; exit 1");
    CHECK(fails.verified);
    CHECK(fails.runs == 3);
    CHECK(fails.of == 3);
    CHECK_FALSE(fails.varies);
    CHECK_FALSE(verified("echo right; exit 0").verified);
    CHECK(verified("[ \"$1\" = control ] || exit 1", true).verified);
    CHECK_FALSE(verified("exit 1", true).verified);
    CHECK(verified("exit 1", true).message == "the control fails, too: the control exited with 1");
    CHECK(verified("echo oops >&2; exit 1", true).message == "the control fails, too: oops");
}

TEST_CASE("verify: a run with filled memory that passes is counted as a run") {
    const Repro report = verified("[ -z \"$MALLOC_PERTURB_\" ] || exit 0; echo wrong; exit 1");
    CHECK(report.verified);
    CHECK(report.runs == 3);
    CHECK(report.of == 4);  // "3 of 4 runs fail"
    CHECK(report.varies);
}
