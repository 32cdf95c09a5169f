#include "reduce/schedule/answers.h"

#include <catch2/catch.hpp>

#include "base/files.h"

namespace {

using namespace whittle;
using namespace whittle::reduce;

TEST_CASE("a search that goes on has the answers to the same question") {
    const TempDir folder;
    const std::filesystem::path file = folder.path() / "answers";
    ScheduleAnswers first(file, "exit status 1", 1, false);
    first.add({"a"}, {TestResult::fails, {"b"}});
    first.add({"a", "b"}, {TestResult::unresolved});
    CHECK_FALSE(first.find({"a"}));  // the search knows what it asked itself

    const ScheduleAnswers again(file, "exit status 1", 1, true);
    REQUIRE(again.find({"a"}));
    CHECK(again.find({"a"})->result == TestResult::fails);
    CHECK(again.find({"a"})->fallen == std::set<std::string>{"b"});
    CHECK(again.find({"a", "b"})->result == TestResult::unresolved);
    CHECK_FALSE(again.find({"b"}));
    CHECK_FALSE(ScheduleAnswers(file, "exit status 2", 1, true).find({"a"}));
    CHECK_FALSE(ScheduleAnswers(file, "exit status 1", 4, true).find({"a"}));
    CHECK_FALSE(ScheduleAnswers(file, "exit status 1", 1, false).find({"a"}));
    CHECK_FALSE(std::filesystem::exists(file));
}

TEST_CASE("an answer that was cut short is asked again") {
    const TempDir folder;
    const std::filesystem::path file = folder.path() / "answers";
    ScheduleAnswers(file, "f", 1, false).add({"a"}, {TestResult::passes});
    write_file(file, read_file(file) + R"({"failure": "f", "rep)");
    CHECK(ScheduleAnswers(file, "f", 1, true).find({"a"}));
}

}  // namespace
