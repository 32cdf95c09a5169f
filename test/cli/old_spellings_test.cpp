// Old spellings: each row of the table, and what the parser makes of a line that has several.
#include "cli/old_spellings.h"

#include <algorithm>

#include <catch2/catch.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/suggest.h"
#include "cli/tool.h"
#include "environment_variable.h"

using namespace whittle;
using namespace whittle::cli;
using Catch::Contains;

namespace {

using Words = std::vector<std::string>;

Respelled respelled_in(const std::string& tool, const Words& words) {
    return respelled(tool, words, [](const std::string&) { return false; });
}

/// The row's new spelling with the value.
std::string filled(std::string now, const std::string& name, const std::string& value) {
    const std::size_t at = name.empty() ? std::string::npos : now.rfind(name);
    return at == std::string::npos ? now : now.replace(at, name.size(), value);
}

}  // namespace

TEST_CASE("each old spelling becomes the new one, whether its value is attached or not", "[spellings]") {
    for (const OldSpelling& row : old_spellings()) {
        CAPTURE(row.program, row.old);
        const std::string tool(row.program.empty() ? "minify" : row.program), old(row.old), now(row.now);
        const std::size_t blank = std::min(old.find(' '), old.size());
        const std::string option = old.substr(0, blank), name = old.substr(std::min(blank + 1, old.size()));
        const bool word = !name.empty() && name.find_first_not_of("abcdefghijklmnopqrstuvwxyz") == std::string::npos;
        const std::string value = word ? name : "given";
        CHECK(is_old_spelling(tool, option));
        CHECK(old_spelling_takes_next(tool, option) == !name.empty());
        for (const Words& line : {name.empty() ? Words{option} : Words{option, value},
                                  name.empty() ? Words{option} : Words{option + "=" + value}}) {
            const Respelled got = respelled_in(tool, line);
            CHECK(got.old == Words{option});
            CHECK(join(now[0] == '-' || std::islower(now[0]) ? got.words : got.variables, " ") ==
                  filled(now, name, value));
        }
        if (!name.empty()) CHECK_THROWS_WITH(respelled_in(tool, {option}), Contains("requires a value"));
    }
}

TEST_CASE("a command stands first, its arguments behind it, and all else as it was", "[spellings]") {
    CHECK(respelled_in("explain", {"after", "--json", "--diff", "before", "-v"}).words ==
          Words{"diff", "before", "after", "--json", "-v"});
    CHECK(respelled_in("repro", {"m.json", "--note", "a b", "--title=t"}).words ==
          Words{"report", "m.json", "--note", "a b", "--title", "t"});
    CHECK(respelled_in("repro env", {"--bundle", "issue"}).words == Words{"--bundle", "issue"});
    CHECK_THROWS_WITH(respelled_in("explain", {"m", "--diagnose", "--divergence"}),
                      Contains("--divergence cannot be used with explain diagnose"));
}

TEST_CASE("an option that demands more replaces the one that demands less", "[spellings]") {
    CHECK(respelled_in("trace", {"--fullgraph", "m", "--export"}).words == Words{"m", "--fullgraph=export"});
    CHECK(respelled_in("explain", {"--profile-recompiles", "m", "--recompiles"}).words ==
          Words{"--recompiles=all", "m"});
}

TEST_CASE("what a program still declares stays, with advice", "[spellings]") {
    const Words line = {"m", "--test-must-fail"};
    const Respelled got = respelled("minify", line, [&](const std::string& name) { return name == line[1]; });
    CHECK(got.words == line);
    CHECK(got.advice == Words{"--test-must-fail is deprecated; use: --check SCRIPT"});
}

TEST_CASE("the words of another program are not ours", "[spellings][process]") {
    const auto parsed = [](Words words) {
        Tool tool("explain", "MODEL", "Explains.");
        Tool divergence("explain divergence", "MODEL", "Which value differs?");
        std::string of_main = "none", of_command = "none";
        Words rest, options;
        for (auto [one, model] : {std::pair(&tool, &of_main), std::pair(&divergence, &of_command)}) {
            one->positional("MODEL", *model, "The model.");
            one->after_dashes(rest, "Its arguments.");
        }
        divergence.option("--backend-option", options, "KEY=VALUE", "Of the backend.");
        tool.command(divergence, [] { return 3; });
        std::vector<char*> argv = {const_cast<char*>("explain")};
        for (std::string& word : words) argv.push_back(word.data());
        const int status = run_tool(tool, static_cast<int>(argv.size()), argv.data(), [] { return 4; });
        return std::to_string(status) + ": " + of_main + " " + of_command + " " + join(options) + " " + join(rest);
    };
    CHECK(parsed({"-q", "m", "--divergence", "--disable", "cse"}) == "3: none m disable=cse ");
    CHECK(parsed({"m", "--", "--divergence"}) == "4: m none  --divergence");
    CHECK(parsed({"divergence", "m", "-q", "--disable=cse"}) == "3: none m disable=cse ");
    CHECK(parsed({"--", "divergence"}) == "4: divergence none  ");
    CHECK(parsed({"./divergence"}) == "4: ./divergence none  ");
}

TEST_CASE("a variable that stands for an option is set", "[spellings][process]") {
    const test::EnvironmentVariable unset("WHITTLE_LOG_FILE", "");
    const TempDir folder;
    const std::string log = (folder.path() / "log").string();
    Tool tool("sample", "", "Logs.");
    std::vector<std::string> words = {"sample", "--log-file", log, "-q"};
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    CHECK(run_tool(tool, static_cast<int>(argv.size()), argv.data(), [] { return 5; }) == 5);
    CHECK(std::getenv("WHITTLE_LOG_FILE") == log);
}
