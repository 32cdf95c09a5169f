#include "base/disk_cache.h"

#include <sys/stat.h>

#include <catch2/catch.hpp>
#include <fstream>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/subprocess.h"

using namespace whittle;
namespace fs = std::filesystem;

namespace {

std::vector<fs::path> entries(const fs::path& folder) {
    std::vector<fs::path> found;
    for (const auto& file : fs::directory_iterator(folder))
        if (file.path().extension() == ".entry") found.push_back(file.path());
    return found;
}

/// As if the file had been used so long ago.
void age(const fs::path& file, std::chrono::minutes minutes) {
    fs::last_write_time(file, fs::file_time_type::clock::now() - minutes);
}

}  // namespace

TEST_CASE("what is kept is found by its key, by other objects, too") {
    const TempDir home;
    DiskCache cache(home.path() / "new" / "kernels");
    CHECK_FALSE(cache.get("a"));
    const std::string bytes("\0\n\xff", 3);
    cache.put("a", bytes);
    cache.put("b", "");
    CHECK(cache.get("a") == bytes);
    CHECK(cache.get("b") == "");
    CHECK(DiskCache(home.path() / "new" / "kernels").get("a") == bytes);
    cache.put("a", "other");
    CHECK(cache.get("a") == "other");
    CHECK_FALSE(cache.get("a\n"));
}

TEST_CASE("an entry that is damaged, cut or another key's is none") {
    const TempDir home;
    const fs::path folder = home.path() / "kernels";
    DiskCache cache(folder);
    cache.put("key", "value");
    const fs::path file = entries(folder).at(0);
    const std::string whole = read_file(file);
    for (std::size_t at = 0; at < whole.size(); at++) {
        std::string damaged = whole;
        damaged[at] = static_cast<char>(damaged[at] ^ 4);
        write_file(file, damaged);
        INFO(at);
        CHECK_FALSE(cache.get("key"));
        CHECK_FALSE(fs::exists(file));
        write_file(file, whole.substr(0, at));
        CHECK_FALSE(cache.get("key"));
    }
    cache.put("other", "value");
    fs::rename(entries(folder).at(0), file);
    CHECK_FALSE(cache.get("key"));
    write_file(file, whole);
    CHECK(cache.get("key") == "value");
}

TEST_CASE("those that were not asked for the longest go first, and what killed writers left") {
    const TempDir home;
    const fs::path folder = home.path() / "kernels";
    DiskCache cache(folder, 1000);
    for (const char* key : {"old", "asked", "new"}) {
        cache.put(key, std::string(300, *key));
        for (const fs::path& file : entries(folder)) age(file, std::chrono::minutes(10));
    }
    CHECK(cache.get("asked"));
    cache.put("last", std::string(300, 'l'));
    std::ofstream(folder / "x.tmp") << "part";
    std::ofstream(folder / "y.tmp") << "part";
    age(folder / "x.tmp", std::chrono::minutes(120));
    cache.trim();
    CHECK(cache.get("asked"));
    CHECK(cache.get("last"));
    CHECK(entries(folder).size() == 2);
    CHECK_FALSE(fs::exists(folder / "x.tmp"));
    CHECK(fs::exists(folder / "y.tmp"));
}

TEST_CASE("a folder that others may write into holds nothing for us") {
    const TempDir home;
    const fs::path folder = home.path() / "kernels";
    DiskCache(folder).put("key", "value");
    REQUIRE(::chmod(folder.c_str(), 0777) == 0);
    DiskCache open(folder);
    CHECK_FALSE(open.get("key"));
    open.put("mine", "value");
    CHECK(entries(folder).size() == 1);
    DiskCache file(entries(folder).at(0));
    file.put("key", "value");
    CHECK_FALSE(file.get("key"));
}

TEST_CASE("processes and threads share a folder, and one may be killed while it writes") {
    const TempDir home;
    const fs::path folder = home.path() / "kernels";
    const std::string value(100000, 'v');
    const auto write = [&](int times) {
        DiskCache cache(folder);
        for (int i = 0; i < times; i++) cache.put("key" + std::to_string(i % 7), value + std::to_string(i % 7));
    };
    const auto damaged = [&] {
        const DiskCache cache(folder);
        int count = 0;
        for (int i = 0; i < 300; i++) {
            const auto found = cache.get("key" + std::to_string(i % 7));
            count += found && *found != value + std::to_string(i % 7);
        }
        return count;
    };
    ProcessOptions killed;
    killed.timeout = std::chrono::milliseconds(50);
    for (int i = 0; i < 5; i++) CHECK(run_forked([&] { return write(1 << 30), 0; }, killed).timed_out);
    CHECK(damaged() == 0);
    std::thread writer(write, 50), other(write, 50);
    CHECK(damaged() == 0);
    writer.join();
    other.join();
    CHECK(entries(folder).size() == 7);
    CHECK(damaged() == 0);
}
