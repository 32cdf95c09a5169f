// Runs of a program, two at a time.
#include "base/parallel_runs.h"

#include <algorithm>
#include <catch2/catch.hpp>
#include <chrono>
#include <string>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"

using namespace whittle;

namespace {

ParallelRuns<ProcessResult>::Run run_of_shell(const std::string& text) {
    return [text] { return run_process({"sh", "-c", text}); };
}

}  // namespace

TEST_CASE("runs: what they come to is told in their order, however long each takes") {
    ParallelRuns<ProcessResult> runs({run_of_shell("sleep 0.2; echo 0"), run_of_shell("echo 1"),
                                      run_of_shell("echo 2; exit 3"), run_of_shell("echo 3")},
                                     2);
    for (int i = 0; i < 4; i++) {
        const ProcessResult result = runs.next();
        CHECK(result.out == std::to_string(i) + "\n");
        CHECK(result.exit_code == (i == 2 ? 3 : 0));
    }
}

TEST_CASE("runs: two of them see each other") {
    const TempDir folder("whittle-test");
    const auto meets = [&](const std::string& own, const std::string& other) {
        const std::string place = folder.path().string() + "/";
        return run_of_shell("touch " + place + own + "; i=0; until [ -e " + place + other +
                            " ]; do i=$((i + 1)); [ $i -lt 1000 ] || exit 1; sleep 0.01; done");
    };
    ParallelRuns<ProcessResult> runs({meets("a", "b"), meets("b", "a")}, 2);
    CHECK(runs.next().exit_code == 0);
    CHECK(runs.next().exit_code == 0);
}

TEST_CASE("runs: an error is that of the run, and those behind it are not waited for") {
    const auto begin = std::chrono::steady_clock::now();
    {
        ParallelRuns<ProcessResult> runs(
            {[]() -> ProcessResult { throw Error("no"); }, run_of_shell("sleep 600"), run_of_shell("sleep 600")}, 2);
        CHECK_THROWS_WITH(runs.next(), "no");
    }
    CHECK(std::chrono::steady_clock::now() - begin < std::chrono::seconds(300));
}

TEST_CASE("runs: one alone, and none") {
    {
        ParallelRuns<ProcessResult> one({run_of_shell("echo 1")}, 2);
        CHECK(one.next().out == "1\n");
    }
    const ParallelRuns<ProcessResult> none({}, 2);
}
