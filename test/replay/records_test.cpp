#include "replay/records.h"

#include <catch2/catch.hpp>

#include "base/files.h"
#include "environment_variable.h"

using namespace whittle;
using Catch::Contains;
namespace fs = std::filesystem;

namespace {

std::vector<std::string> selected(const std::vector<fs::path>& files, const std::string& filter, const Shard& shard) {
    std::vector<std::string> names;
    for (const fs::path& file : select_records(files, filter, shard)) names.push_back(file.stem().string());
    return names;
}

}  // namespace

TEST_CASE("filters and shards part the records", "[replay]") {
    const std::vector<fs::path> files = {"a/r0.json", "a/r1.json", "b/r2.json", "a/r3.json", "a/r4.json"};
    CHECK(selected(files, "^a/", {}) == std::vector<std::string>{"r0", "r1", "r3", "r4"});
    std::vector<std::string> together;
    for (std::size_t i = 0; i < 3; ++i)
        for (const std::string& name : selected(files, "", {i, 3})) together.push_back(name);
    CHECK(together == std::vector<std::string>{"r0", "r3", "r1", "r4", "r2"});
    CHECK(select_records(files, "", {7, 9}).empty());
    CHECK_THROWS_WITH(select_records(files, "", {3, 3}), Contains("found shard index 3 of 3 shards"));
    CHECK_THROWS_WITH(select_records(files, "(", {}), Contains("--filter: '(' is not a regular expression"));
}

TEST_CASE("googletest's shard variables are heard", "[replay]") {
    CHECK_FALSE(shard_from_environment());
    const TempDir folder;
    const std::string status = (folder.path() / "status").string();
    {
        const test::EnvironmentVariable total("GTEST_TOTAL_SHARDS", "4"), index("GTEST_SHARD_INDEX", "1"),
            file("GTEST_SHARD_STATUS_FILE", status);
        const auto shard = shard_from_environment();
        REQUIRE(shard);
        CHECK(shard->index == 1);
        CHECK(shard->count == 4);
        CHECK(fs::exists(status));
    }
    {
        const test::EnvironmentVariable total("GTEST_TOTAL_SHARDS", "4");
        CHECK_THROWS_WITH(shard_from_environment(),
                          Contains("found GTEST_TOTAL_SHARDS without GTEST_SHARD_INDEX, expected both or neither"));
    }
    {
        const test::EnvironmentVariable total("GTEST_TOTAL_SHARDS", "4"), index("GTEST_SHARD_INDEX", "one");
        CHECK_THROWS_WITH(shard_from_environment(), Contains("found 'one', expected a number"));
    }
}

TEST_CASE("patterns of known failures do not depend on how a path is spelled", "[replay]") {
    const TempDir folder;
    write_file(folder.path() / "xfail", "traces/records/a*.json\nc\nnone # of these\n");
    const KnownFailures known(folder.path() / "xfail");
    for (const char* path :
         {"traces/records/a1.json", "./traces/records/../records/a1.json", "/x/traces/records/a1.json"})
        CHECK(known.find(path, "other"));
    CHECK_FALSE(known.find("nottraces/records/a1.json", "other"));
    CHECK(known.find("x/y.json", "c"));
    CHECK(known.unused({"traces/records/a.json", "c.json"}) == std::vector<std::string>{"none"});
}

TEST_CASE("what reports call a record is a pattern for it", "[replay]") {
    const TempDir folder;
    const auto is_known = [&](const std::string& pattern, const fs::path& record) {
        write_file(folder.path() / "xfail", pattern + "   # why\n");
        const KnownFailures known(folder.path() / "xfail");
        return known.find(record, "main") != nullptr && known.unused({record}).empty();
    };
    CHECK(is_known("ci/resnet/main", "ci/resnet/records/main.json"));  // JUnit's name
    CHECK(is_known("resnet/*", "ci/resnet/records/main.json"));
    CHECK(is_known("ci/resnet/records/main.json", "./ci/resnet/records/main.json"));  // TAP's
    CHECK(is_known("../t/records/x.json", "../t/records/x.json"));
    CHECK(is_known("b [1] & 'c'/main", "b [1] & 'c'/records/main.json"));
    CHECK(is_known("r/b \\# 1.json", "r/b # 1.json"));
    CHECK_FALSE(is_known("net/main", "ci/resnet/records/main.json"));
}
