#include "base/files.h"

#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <sys/stat.h>

#include <algorithm>
#include <catch2/catch.hpp>
#include <csignal>
#include <fstream>
#include <set>

#include "base/error.h"
#include "base/hash.h"
#include "environment_variable.h"

using namespace whittle;
namespace fs = std::filesystem;

TEST_CASE("a file is written whole, with parents, and read back") {
    TempDir folder;
    const fs::path path = folder.path() / "a" / "b" / "file";
    const std::string contents("one\0two\n", 8);
    write_file(path, contents);
    CHECK(read_file(path) == contents);
    write_file(path, "new");
    CHECK(read_file(path) == "new");
    // Nothing temporary is left beside it.
    CHECK(std::distance(fs::directory_iterator(path.parent_path()), fs::directory_iterator()) == 1);
}

TEST_CASE("a write that fails leaves the old file and no temporary") {
    TempDir folder;
    const fs::path path = folder.path() / "target";
    fs::create_directory(path);  // renaming a file over a folder fails
    CHECK_THROWS_AS(write_file(path, "text"), Error);
    CHECK(std::distance(fs::directory_iterator(folder.path()), fs::directory_iterator()) == 1);
}

TEST_CASE("reading says what is wrong and where") {
    TempDir folder;
    CHECK_THROWS_WITH(read_file(folder.path() / "none"), Catch::Contains("none") && Catch::Contains("No such file"));
    CHECK_THROWS_WITH(read_file(folder.path()), Catch::Contains("folder"));
    write_file(folder.path() / "big", std::string(1000, 'x'));
    CHECK_THROWS_WITH(read_file(folder.path() / "big", 999), Catch::Contains("more than 999 bytes"));
    CHECK(read_file(folder.path() / "big", 1000).size() == 1000);
}

TEST_CASE("a mapping outlives the file's name") {
    TempDir folder;
    write_file(folder.path() / "file", "mapped");
    const auto mapping = MappedFile::open(folder.path() / "file");
    fs::remove(folder.path() / "file");
    CHECK(std::string_view(reinterpret_cast<const char*>(mapping->bytes().data()), 6) == "mapped");
    write_file(folder.path() / "empty", "");
    CHECK(MappedFile::open(folder.path() / "empty")->bytes().empty());
    CHECK_THROWS_AS(MappedFile::open(folder.path()), Error);
}

TEST_CASE("a temporary folder goes with its contents, unless kept") {
    fs::path gone, kept;
    {
        TempDir folder;
        gone = folder.path();
        write_file(gone / "x" / "y", "text");
        TempDir other;
        kept = other.path();
        other.keep();
    }
    CHECK_FALSE(fs::exists(gone));
    CHECK(fs::exists(kept));
    fs::remove_all(kept);
}

TEST_CASE("the folders of a killed process go with the next of their kind, those of living ones stay") {
    const TempDir base;
    const test::EnvironmentVariable temporary("TMPDIR", base.path().string());
    int ready[2];
    REQUIRE(::pipe(ready) == 0);
    const auto start = [&] {  // a process that makes a folder and waits; the folder
        const pid_t user = ::fork();
        if (user == 0) {
            const TempDir own("whittle-test");
            write_file(own.path() / "file", "text");
            const std::string name = own.path().filename().string();
            if (::write(ready[1], name.data(), name.size()) > 0) ::pause();
            ::_exit(0);
        }
        char name[64];
        const ssize_t count = ::read(ready[0], name, sizeof name);
        return std::pair(user, base.path() / std::string(name, static_cast<std::size_t>(std::max<ssize_t>(count, 0))));
    };
    const auto end = [](pid_t user) {
        ::kill(user, SIGKILL);
        ::waitpid(user, nullptr, 0);
    };
    const auto [killed, abandoned] = start();
    end(killed);
    CHECK(fs::exists(abandoned / "file"));
    const auto named = [&](const std::string& machine, pid_t owner) {
        return base.path() / ("whittle-test." + machine + '-' + std::to_string(owner) + "-abcdef");
    };
    const fs::path unlocked = named(this_machine(), killed), being_made = named(this_machine(), ::getpid()),
                   elsewhere = named("0123abcd", killed);  // its process lives where our locks do not reach
    for (const fs::path& folder : {unlocked, being_made, elsewhere}) fs::create_directory(folder);
    const auto [living, used] = start();
    CHECK_FALSE(fs::exists(abandoned));
    CHECK_FALSE(fs::exists(unlocked));
    CHECK(fs::exists(being_made));
    CHECK(fs::exists(elsewhere));
    { const TempDir next("whittle-test"); }
    CHECK(fs::exists(used / "file"));
    end(living);
    ::close(ready[0]);
    ::close(ready[1]);
}

TEST_CASE("content hashes are XXH3-128") {
    // Published test vector of the empty input, seed 0.
    CHECK(content_hash(std::string_view("")) == "99aa06d3014798d86001c324468d497f");
    CHECK(content_hash(std::string_view("a")) != content_hash(std::string_view("b")));
}

TEST_CASE("a folder that cannot be made is told with the reason") {
    if (!fs::exists("/sys/kernel")) return;
    const std::string message = [] {
        try {
            write_file("/sys/whittle-test/file", "text");  // where nobody may make a folder
        } catch (const Error& error) {
            return std::string(error.what());
        }
        return std::string();
    }();
    CHECK_THAT(message, Catch::Contains("cannot write"));
    CHECK_THAT(message, !Catch::Contains("No such file"));
}

TEST_CASE("what a killed writer left is removed by the next one of the same file") {
    TempDir folder;
    const pid_t gone = ::fork();
    if (gone == 0) ::_exit(0);
    ::waitpid(gone, nullptr, 0);
    // A writer's own leftovers have the form that it gives them: seen while one writes.
    const fs::path path = folder.path() / "file";
    std::string own;
    const pid_t writer = ::fork();
    if (writer == 0) {
        struct rlimit none {
            .rlim_cur = 10, .rlim_max = 10
        };
        ::setrlimit(RLIMIT_FSIZE, &none);  // killed by SIGXFSZ with the file half written
        write_file(path, std::string(100, 'x'));
        ::_exit(0);
    }
    ::waitpid(writer, nullptr, 0);
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.path())) own = entry.path().filename();
    CHECK(own.starts_with("file.tmp."));
    const auto put = [&](const std::string& name) { std::ofstream(folder.path() / name) << "x"; };
    const std::string dead = std::to_string(gone), alive = std::to_string(::getpid());
    put("file.tmp." + dead + ".0");           // an older version's
    put("file.tmp." + alive + ".0");          // of a process that lives
    put("file.tmp.0badcafe." + dead + ".0");  // of another machine
    put("other.tmp." + dead + ".0");          // of another file
    put("file.tmp.notes");                    // a user's own
    write_file(path, "text");
    std::set<std::string> left;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder.path()))
        left.insert(entry.path().filename().string());
    CHECK(left == std::set<std::string>{"file", "file.tmp." + alive + ".0", "file.tmp.0badcafe." + dead + ".0",
                                        "file.tmp.notes", "other.tmp." + dead + ".0"});
    write_file(folder.path() / "other", "text");
    CHECK_FALSE(fs::exists(folder.path() / ("other.tmp." + dead + ".0")));
}
