#include "frontends/cpp/description.h"

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"
#include "frontends/cpp/edits.h"
#include "frontends/cpp/tables.h"

namespace {

using namespace whittle;
using namespace whittle::cpp;

StaticTables example() {
    StaticTables tables;
    tables.analysis.file = "/dir/model \"1\".cpp";
    tables.analysis.functions = {{"f", {1, 1, 9, 1}, true}, {"g::lambda", {3, 5, 4, 2}, false}};
    for (int i = 0; i < static_cast<int>(std::size(kPredictedKinds)); ++i)
        tables.analysis.predictions.push_back({kPredictedKinds[i].kind,
                                               i % 2 == 1,
                                               {2, 3, 2, 30 + i},
                                               1,
                                               "text \\ ü ?"
                                               "?/",
                                               "line\twith tab",
                                               "reason"});
    tables.sites = {{SiteKind::statement, 0, {2, 3, 2, 9}, "x = y", ""},
                    {SiteKind::branch, 1, {3, 3, 3, 9}, "x < y", "if"},
                    {SiteKind::effect, 1, {4, 3, 4, 9}, "puts(\"a\")", "C output"}};
    return tables;
}

/// Long enough for several rows of the array in the object file.
StaticTables long_example() {
    StaticTables tables = example();
    for (int i = 0; i < 300; ++i) tables.sites.push_back({SiteKind::statement, 0, {i, 1, i, 5}, "statement ü", ""});
    return tables;
}

TEST_CASE("descriptions survive a folder") {
    const TempDir folder;
    CHECK(load_descriptions(folder.path()).empty());
    save_descriptions(folder.path(), {});
    CHECK_FALSE(std::filesystem::exists(folder.path() / "static.json"));
    const std::vector<StaticTables> files = {example(), long_example(), {}};
    save_descriptions(folder.path(), files);
    CHECK(load_descriptions(folder.path()) == files);
}

TEST_CASE("descriptions are found in objects of several files") {
    const TempDir folder;
    Probed probed{"int one() { return 1; }\n", example().analysis, example().sites, {}};
    const std::string header = WHITTLE_SOURCE_DIR "/lib/probe/probe.h";
    write_file(folder.path() / "one.cpp", probed_file(probed, "/dir/one.cpp", header));
    probed.sites = long_example().sites;
    probed.text = "int one();\nint main() { return one(); }\n";
    write_file(folder.path() / "two.cpp", probed_file(probed, "/dir/two.cpp", header));
    const ProcessResult built = run_process(
        {WHITTLE_CXX, "-Wl,--gc-sections", "-ffunction-sections", "-s", "one.cpp", "two.cpp", "-o", "program"},
        {.folder = folder.path()});
    REQUIRE(built.err == "");
    const std::vector<StaticTables> found = read_program(folder.path() / "program");
    REQUIRE(found.size() == 2);
    StaticTables one = example(), two = long_example();
    one.analysis.file = "/dir/one.cpp", two.analysis.file = "/dir/two.cpp";
    CHECK((found[0] == one || found[0] == two));
    CHECK((found[1] == one || found[1] == two));
    CHECK(found[0].analysis.file != found[1].analysis.file);
}

TEST_CASE("what is no program, or a damaged one, has no descriptions") {
    const TempDir folder;
    const std::filesystem::path file = folder.path() / "file";
    for (const std::string_view text : {"", "#!/bin/sh\n", "\177ELF", "\177ELF\2\1\1"}) {
        write_file(file, text);
        CHECK(read_program(file).empty());
    }
    // Every truncation of a real one, and a section whose size is a lie.
    const std::string whole = read_file("/proc/self/exe", std::size_t(1) << 30);
    CHECK(read_program("/proc/self/exe").empty());
    for (const std::size_t size : {std::size_t(64), std::size_t(1000), whole.size() / 2, whole.size() - 1}) {
        write_file(file, std::string_view(whole).substr(0, size));
        CHECK(read_program(file).empty());
    }
    CHECK_THROWS_AS(read_program(folder.path() / "missing"), Error);
}

TEST_CASE("a damaged static.json is refused with its place") {
    const TempDir folder;
    save_descriptions(folder.path(), {example()});
    const std::string text = read_file(folder.path() / "static.json");
    const auto refused = [&](const std::string& from, const std::string& to, const std::string& pointer) {
        std::string changed = text;
        changed.replace(changed.find(from), from.size(), to);
        write_file(folder.path() / "static.json", changed);
        try {
            load_descriptions(folder.path());
        } catch (const Error& error) {
            return std::string(error.what()).find(pointer) != std::string::npos;
        }
        return false;
    };
    CHECK(refused("\"function\": 1", "\"function\": 2", "/files/0/predictions/0/function"));
    CHECK(refused("side_effect", "side", "/files/0/predictions/0/kind"));
    CHECK(refused("[1, 1, 9, 1]", "[1, 1, 9]", "/files/0/functions/0/range"));
    CHECK(refused("[1, 1, 9, 1]", "[1, 1, 9, -1]", "/files/0/functions/0/range"));
    CHECK(refused("\"version\": \"1.", "\"version\": \"2.", "version"));
}

TEST_CASE("literals say the same to every compiler") {
    CHECK(cpp_literal("a\"b\\c?"
                      "?/\n\x7f") == "\"a\\\"b\\\\c\\?\\?/\\012\\177\"");
    CHECK(cpp_literal("\xC3\xBC") == "\"\\303\\274\"");
}

TEST_CASE("insertions nest as what they wrap") {
    // f(a+b): the outer expression, then its operand, both beginning at 0 and ending at 3; a statement before and
    // after.
    Edits edits;
    edits.begin(0, "stmt;");
    edits.begin(0, "outer(");
    edits.end(3, ")outer");
    edits.begin(0, "inner(");
    edits.end(3, ")inner");
    edits.begin(3, "next;");
    CHECK(edits.apply("a+b;") == "stmt;outer(inner(a+b)inner)outernext;;");
}

TEST_CASE("functions are chosen by qualified name or its end") {
    const auto kept = [](const std::string& name) {
        Analysis analysis;
        analysis.functions = {{"ns::f", {}, true}, {"ns::f::lambda", {}, true}, {"ns::off", {}, true}, {"f", {}, true}};
        for (std::size_t i = 0; i < 4; ++i) analysis.predictions.push_back({.function = i});
        const bool known = keep_functions(analysis, {name}).empty();
        std::string list;
        for (const Prediction& p : analysis.predictions) list += std::to_string(p.function);
        return known ? list : "unknown";
    };
    CHECK(kept("f") == "013");
    CHECK(kept("ns::f") == "01");
    CHECK(kept("s::f") == "unknown");
    CHECK(kept("of") == "unknown");
    CHECK(kept("ns::off") == "2");
}

}  // namespace
