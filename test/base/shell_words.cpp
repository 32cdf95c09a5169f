// The words of a command line, and the files that they name.
#include <catch2/catch.hpp>
#include <cstdlib>

#include "base/files.h"
#include "base/subprocess.h"

using namespace whittle;

TEST_CASE("shell_quote leaves plain words alone") {
    CHECK(shell_quote({"g++", "-O1", "a.cpp", "-DX=1"}) == "g++ -O1 a.cpp -DX=1");
    CHECK(shell_quote({"A=b", "it's"}) == "'A=b' 'it'\\''s'");
}

TEST_CASE("a program of a folder of PATH is on it, whichever comes first") {
    const TempDir folder("whittle-path");
    const std::string path = std::getenv("PATH");
    const std::filesystem::path first = folder.path() / "first", other = folder.path() / "other";
    for (const std::filesystem::path& of : {first, other}) {
        std::filesystem::create_directories(of);
        write_file(of / "tool", "#!/bin/sh\n");
        std::filesystem::permissions(of / "tool", std::filesystem::perms::owner_all);
    }
    ::setenv("PATH", (first.string() + ":" + path).c_str(), 1);
    CHECK(program_path("tool") == first / "tool");
    CHECK_FALSE(is_on_path(other / "tool"));
    ::setenv("PATH", (first.string() + ":" + other.string() + ":" + path).c_str(), 1);
    CHECK(program_path("tool") == first / "tool");
    CHECK(is_on_path(first / "tool"));
    CHECK(is_on_path(other / "tool"));
    ::setenv("PATH", path.c_str(), 1);
}

TEST_CASE("shell_split is the inverse of shell_quote, and reads what people write") {
    const std::vector<std::string> words = {"a b", "", "it's", "\"q\"", "\\", "$x", "--plain=1", "tab\there"};
    CHECK(shell_split(shell_quote(words)) == words);
    CHECK(shell_split("  run 'a  b'  \"c \\\" \\d\" e\\ f g''h \"\" ") ==
          std::vector<std::string>{"run", "a  b", "c \" \\d", "e f", "gh", ""});
    CHECK(shell_split("").empty());
    CHECK_THROWS_WITH(shell_split("run 'x"), Catch::Contains("no closing '"));
}

TEST_CASE("the files that a command's words name") {
    const TempDir folder;
    const std::string script = (folder.path() / "script.sh").string();
    write_file(script, "exit 0\n");
    const std::vector<std::filesystem::path> files =
        files_named({"sh", "-x", script, "--with=" + script, "no-such-file"});
    REQUIRE(files.size() == 3);
    CHECK(files[0].filename() == "sh");
    CHECK(files[1] == script);
    CHECK(files[2] == script);
    const std::string before = fingerprint(script);
    write_file(script, "exit 1\n");
    CHECK(fingerprint(script) != before);
    CHECK(fingerprint(folder.path() / "none").empty());
}
