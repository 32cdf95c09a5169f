#include "cli/tool.h"

#include <catch2/catch.hpp>

#include <chrono>
#include <sstream>

#include "base/error.h"
#include "base/words.h"
#include "cli/pages.h"
#include "cli/progress.h"

using whittle::Error;
using whittle::cli::Tool;

namespace {

/// A program with one option of each kind.
struct SampleTool {
    Tool tool{"sample", "MODEL [MORE…] [-- ARGS]", "Shows every kind of option."};
    bool ops = false;
    std::string backend = "eager", mode = "auto";
    std::optional<std::filesystem::path> output;
    std::optional<double> rtol;
    std::int64_t jobs = 1;
    std::vector<std::string> names, check, rest, more;
    std::vector<std::int64_t> codes;
    std::filesystem::path model;
    std::optional<std::chrono::seconds> limit;

    SampleTool() {
        tool.positional("MODEL", model, "The model.");
        tool.positional("MORE", more, "More of them.", false);
        tool.after_dashes(rest, "Arguments of the program.");
        tool.flag("--ops", ops, "Lists the ops.");
        tool.option("--backend", backend, "B", "The backend.");
        tool.hints_behind([](const std::string& value) { return value == "cmd:sh" ? "put it in quotes" : ""; });
        tool.option("-o,--output", output, "FILE", "Where to write.");
        tool.option("--rtol", rtol, "X", "Relative tolerance.");
        tool.option("-j,--jobs", jobs, "N", "Parallel jobs.");
        tool.option("--name", names, "NAME", "A name; may be repeated.");
        tool.option("--code", codes, "N", "A code; may be repeated.");
        tool.option("--limit", limit, "TIME", "When to stop.");
        tool.choice("--mode", mode, {"auto", "bisect"}, "How to search.");
        tool.rest_of_line("--check", check, "CMD…", "The rest of the line is the command.");
        tool.example("sample m.onnx --ops", "lists the ops of m.onnx");
    }
    SampleTool& parse(std::vector<std::string> arguments) {
        REQUIRE_FALSE(tool.parse(arguments));
        return *this;
    }
    std::string error(std::vector<std::string> arguments) {
        try {
            tool.parse(arguments);
        } catch (const Error& e) {
            return e.what();
        }
        return "no error";
    }
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("options of every kind reach their targets") {
    SampleTool s;
    s.parse({"--ops", "m.onnx", "--backend=halide", "-o", "x.json", "--rtol", "1e-3", "-j4", "--name", "a", "b",
             "--name=c", "--code", "3", "--code", "4", "--mode", "bisect"});
    CHECK(s.ops);
    CHECK(s.model == "m.onnx");
    CHECK(s.more == Words{"b"});
    CHECK(s.backend == "halide");
    CHECK(s.output == "x.json");
    CHECK(s.rtol == 1e-3);
    CHECK(s.jobs == 4);
    CHECK(s.names == Words{"a", "c"});
    CHECK(s.codes == std::vector<std::int64_t>{3, 4});
    CHECK(s.mode == "bisect");
}

TEST_CASE("a flag may have a value behind its equals sign alone") {
    const auto parsed = [](Words words) {
        Tool tool("sample", "", "Measures.");
        bool times = false;
        std::optional<std::filesystem::path> file;
        tool.flag_or_option("--times", times, file, "FILE", "What it takes.");
        const std::optional<std::string> ended = tool.parse(words);
        REQUIRE_FALSE(ended.has_value());
        CHECK_THAT(tool.help(), Catch::Contains("--times[=FILE]"));
        return std::pair(times, file.value_or("none").string());
    };
    CHECK(parsed({}) == std::pair(false, std::string("none")));
    CHECK(parsed({"--times"}) == std::pair(true, std::string("none")));
    CHECK(parsed({"--times=t.json"}) == std::pair(true, std::string("t.json")));
    CHECK_THROWS_WITH(parsed({"--times", "t.json"}), Catch::Contains("unexpected argument 't.json'"));
}

TEST_CASE("times are numbers with a unit") {
    using std::chrono::seconds;
    for (const auto& [word, time] :
         {std::pair("90", seconds(90)), {"90s", seconds(90)}, {"1.5m", seconds(90)}, {"2h", seconds(7200)}})
        CHECK(SampleTool().parse({"m", "--limit", word}).limit == time);
    for (const char* word : {"0", "m", "10x", "-1s", "0.5s", "inf"})
        CHECK(SampleTool().error({"m", "--limit=" + std::string(word)}) ==
              "invalid value '" + std::string(word) + "' for --limit: expected a time such as 90s, 10m or 2h");
}

TEST_CASE("targets keep their values when an option is not given") {
    SampleTool s;
    s.parse({"m.onnx"});
    CHECK(s.backend == "eager");
    CHECK(s.jobs == 1);
    CHECK_FALSE(s.output);
    CHECK_FALSE(s.tool.shared().json);
}

TEST_CASE("what follows -- belongs to the program, options or not") {
    SampleTool s;
    s.parse({"m", "--ops", "--", "--mode", "-x", "--"});
    CHECK(s.rest == Words{"--mode", "-x", "--"});
    CHECK(s.mode == "auto");
}

TEST_CASE("a flag such as --check takes the rest of the line") {
    CHECK(SampleTool().parse({"m", "--check", "cmd", "-u", "{}", "--ops"}).check == Words{"cmd", "-u", "{}", "--ops"});
    CHECK(SampleTool().parse({"m", "--check", "--", "cmd", "--", "{}"}).check == Words{"cmd", "--", "{}"});
    CHECK(SampleTool().parse({"m", "--check=cmd", "{}"}).check == Words{"cmd", "{}"});
}

TEST_CASE("without a taker, -- only ends the options") {
    Tool tool("plain", "FILE", "Takes a file.");
    std::string file;
    tool.positional("FILE", file, "The file.");
    CHECK_FALSE(tool.parse(Words{"--", "-odd-name"}));
    CHECK(file == "-odd-name");
}

TEST_CASE("a program that is found in PATH, by its name or its path, takes the rest of the line") {
    for (const char* program : {"sh", "/bin/sh"}) {
        SampleTool s;
        s.parse({"--backend", "b", program, "script", "--mode", "x", "--json"});
        CAPTURE(program);
        CHECK(s.rest == Words{"script", "--mode", "x", "--json"});
        CHECK_FALSE(s.tool.shared().json);
        CHECK(s.tool.own_words() == 3);
        CHECK(s.tool.command_with("--ops") ==
              "sample --backend b --ops " + std::string(program) + " script --mode x --json");
    }
    CHECK(SampleTool().parse({"./m", "--ops"}).tool.command_with("--mode=auto") == "sample ./m --ops --mode=auto");
}

TEST_CASE("the words of --check's command, and those behind --, are not the program's own") {
    SampleTool s;
    CHECK(s.parse({"m", "--check", "cmd", "--ops"}).tool.own_words() == 2);
    CHECK(SampleTool().parse({"m", "--", "x"}).tool.command_with("--ops") == "sample m --ops -- x");
}

TEST_CASE("bad usage is told as git and cargo tell it") {
    CHECK(SampleTool().error({}) == "missing argument MODEL; hint: see sample --help");
    CHECK(SampleTool().error({"m", "--opss"}) == "unknown option '--opss'; hint: did you mean '--ops'?");
    CHECK(SampleTool().error({"m", "--qqq=1"}) == "unknown option '--qqq'; hint: to list the options: sample --help");
    const std::string quotes = "unknown option '-c'; hint: put it in quotes";
    CHECK(SampleTool().error({"m", "--backend", "cmd:sh", "-c"}) == quotes);
    CHECK(SampleTool().error({"m", "--backend=cmd:sh", "-c"}) == quotes);
    CHECK(SampleTool().error({"m", "--backend", "b", "--opss"}) ==
          "unknown option '--opss'; hint: did you mean '--ops'?");
    CHECK(SampleTool().error({"m", "--rtol"}) == "option --rtol requires a value: --rtol X");
    CHECK(SampleTool().error({"m", "--jobs", "many"}) ==
          "invalid value 'many' for --jobs: expected a whole number, 0 or more");
    CHECK(SampleTool().error({"m", "--jobs", "1.5"}) ==
          "invalid value '1.5' for --jobs: expected a whole number, 0 or more");
    CHECK(SampleTool().error({"m", "--jobs=-1"}) ==
          "invalid value '-1' for --jobs: expected a whole number, 0 or more");
    CHECK(SampleTool().error({"m", "--jobs", "99999999999999999999"}) ==
          "invalid value '99999999999999999999' for --jobs: the number is too large");
    CHECK(SampleTool().error({"m", "--rtol", "nan"}) == "invalid value 'nan' for --rtol: expected a number, 0 or more");
    CHECK(SampleTool().error({"m", "--rtol", "inf"}) == "invalid value 'inf' for --rtol: expected a number, 0 or more");
    CHECK(SampleTool().error({"m", "--jobs", "1", "--jobs", "2"}) ==
          "option --jobs is given 2 times, expected at most once");
    CHECK(SampleTool().error({"m", "--mode", "bisct"}) ==
          "invalid value 'bisct' for --mode: expected one of auto, bisect; hint: did you mean 'bisect'?");
    CHECK(SampleTool().error({"m", "--ops=yes"}) == "option --ops takes no value");
    CHECK(SampleTool().error({"m", "--check"}) == "option --check requires a command");
    CHECK(SampleTool().error({""}) == "MODEL: the path is empty");
    CHECK(SampleTool()
              .error({"m", "--color", "blue"})
              .starts_with("invalid value 'blue' for --color: expected one of auto"));
}

TEST_CASE("a word too many is taken for an argument of the program") {
    Tool tool("explain", "MODEL [-- ARGS]", "Takes a program.");
    std::string model;
    Words arguments;
    tool.positional("MODEL", model, "The model.");
    tool.after_dashes(arguments, "Its arguments.");
    CHECK_THROWS_WITH(tool.parse(Words{"./app", "loop"}),
                      "unexpected argument 'loop'; hint: put -- before the arguments of a program: explain ./app -- "
                      "loop");
}

TEST_CASE("who asks for JSON gets it for a mistake on the line, too") {
    for (const Words& line : {Words{"m", "--opss", "--json"}, Words{"--json", "--mode", "bisct"}, Words{"--json"}}) {
        SampleTool s;
        CHECK(s.error(line) != "no error");
        CHECK(s.tool.shared().json);
    }
    SampleTool of_the_command;
    CHECK(of_the_command.error({"m", "--opss", "--check", "cmd", "--json"}) != "no error");
    CHECK_FALSE(of_the_command.tool.shared().json);
}

TEST_CASE("help wins over missing arguments and fits 80 columns") {
    SampleTool s;
    const auto page = s.tool.parse(Words{"--help"});
    REQUIRE(page);
    CHECK(page->starts_with("Usage: sample [OPTIONS] MODEL [MORE…] [-- ARGS]\n"));
    CHECK(page->find("  -o, --output FILE       Where to write.\n") != std::string::npos);
    CHECK(page->find("      --ops               Lists the ops.\n") != std::string::npos);
    CHECK(page->find("      --check CMD…        The rest") != std::string::npos);
    std::istringstream lines(*page);
    for (std::string line; std::getline(lines, line);) CHECK(line.size() <= 80 + 4);  // '…' takes three bytes
}

TEST_CASE("a sub-command has a line of its own, and its name is one only in the first place, or behind flags",
          "[tool][process]") {
    const auto ran = [](std::vector<std::string> words) {
        Tool tool("sample", "MODEL", "Shows a command.");
        std::vector<std::string> models, rest;
        tool.positional("MODEL", models, "The models.", false);
        Tool answer("sample answer", "FOLDER", "Answers.");
        answer.after_dashes(rest, "The words.");
        std::string what = "neither";
        tool.command(answer, [&] { return what = "answer " + whittle::join(rest), 3; });
        CHECK_THAT(tool.help(), Catch::Contains("answer FOLDER"));
        std::vector<char*> argv = {const_cast<char*>("sample")};
        for (std::string& word : words) argv.push_back(word.data());
        const int status = whittle::cli::run_tool(tool, static_cast<int>(argv.size()), argv.data(),
                                                  [&] { return what = "sample " + whittle::join(models), 4; });
        return what + " " + std::to_string(status);
    };
    CHECK(ran({"answer", "--", "a", "--b"}) == "answer a, --b 3");
    CHECK(ran({"--json", "-q", "answer", "--", "a"}) == "answer a 3");
    CHECK(ran({"m", "answer"}) == "sample m, answer 4");
    CHECK(ran({}) == "sample  4");
}

TEST_CASE("common options stand first, in their order, and options of commands last") {
    SampleTool s;
    s.tool.common("--mode --output");
    Tool command("sample answer", "", "Answers.");
    bool loud = false, ops = false;
    command.flag("--loud", loud, "Shouts.");
    command.flag("--ops", ops, "As the program's.");
    s.tool.command(command, [] { return 0; });
    const std::string page = s.tool.man_options();
    const auto at = [&](const char* text) { return page.find(text); };
    CHECK(at("SS Options") < at("mode"));
    CHECK(at("mode") < at("output"));
    CHECK(at("output") < at("backend"));
    CHECK(at("backend") < at("SS Options of sample answer"));
    CHECK(at("SS Options of sample answer") < at("loud"));
    CHECK(at("As the program") == std::string::npos);
}

TEST_CASE("the pages of programs that capture nothing have the variables that they read") {
    const std::string few = whittle::cli::man_page_variables(false), all = whittle::cli::man_page_variables(true);
    for (const char* read : {"WHITTLE_LOGS", "WHITTLE_LOG_FILE", "WHITTLE_DEBUG_DIR", "WHITTLE_BACKEND_PATH"})
        CHECK_THAT(few, Catch::Contains(read));
    for (const char* captures :
         {"WHITTLE_TRACE_DIR", "WHITTLE_TIMES", "WHITTLE_DYNAMIC", "WHITTLE_PROFILE_RECOMPILES"}) {
        CHECK_THAT(few, !Catch::Contains(captures));
        CHECK_THAT(all, Catch::Contains(captures));
    }
}

TEST_CASE("commands are listed with an example, those of other programs too") {
    Tool tool("sample", "COMMAND", "Has commands."), own("sample own", "", "Is run here.");
    tool.list_command("other FILE", "Is run elsewhere.", "sample other x",
                      [](std::string_view shell, const std::string& program) {
                          return std::string(shell) + " part of " + program + "\n";
                      });
    tool.command(own, [] { return 0; });
    CHECK(tool.command_words() == Words{"other", "own"});
    CHECK(tool.command_called("own") == &own);
    CHECK(tool.command_called("other") == nullptr);
    CHECK_THAT(tool.help(), Catch::Contains("  other FILE              Is run elsewhere.\n"
                                            "                          $ sample other x\n"
                                            "  own                     Is run here.\n"));
    bool fast = false;
    own.flag("--fast", fast, "Be fast.");
    const std::string script = tool.parse(Words{"--help-completion", "bash", "sample"}).value();
    CHECK(script.starts_with("bash part of sample other\n# bash completion of sample own"));
    CHECK_THAT(script, Catch::Contains("_whittle_sample_own() {\n") && Catch::Contains("'--fast --json "));
    const std::string tools_own = script.substr(script.find("# bash completion of sample, "));
    CHECK_THAT(tools_own, Catch::Contains("'other own'") && !Catch::Contains("--fast"));
}

TEST_CASE("the manual page's options escape what roff would eat") {
    Tool tool("t", "", "T.");
    bool x = false;
    tool.flag("--dry-run", x, ".dots and \\ and 'quotes'");
    CHECK(tool.man_options() == ".SS Options\n.TP\n\\fB\\-\\-dry\\-run\\fR\n\\&.dots and \\e and \\(aqquotes\\(aq\n");
}

TEST_CASE("progress lines state what is left") {
    using std::chrono::seconds;
    using whittle::cli::progress_line;
    CHECK(progress_line("replay", {.done = 5, .total = 20, .elapsed = seconds(10), .note = "a.json"}, 80) ==
          "replay  [#####...............]  5/20  00:30 left  a.json");
    CHECK(progress_line("replay", {.done = 20, .total = 20, .elapsed = seconds(10)}, 80) ==
          "replay  [####################]  20/20");
    CHECK(progress_line("minify", {.done = 7, .unit = "queries", .note = "3 calls"}, 80) ==
          "minify  7 queries  3 calls");
    CHECK(progress_line("minify", {.done = 7, .left = seconds(75)}, 80) == "minify  7  01:15 left");
    CHECK(progress_line("replay", {.total = 4}, 12) == "replay  [...");
    CHECK(whittle::cli::progress_json("replay", {.done = 5, .total = 20, .elapsed = seconds(10), .note = "a"}) ==
          R"({"progress":{"program":"replay","done":5,"total":20,"seconds":10,"left":30,"note":"a"}})");
    CHECK(whittle::cli::progress_json("minify", {.done = 7, .unit = "queries"}) ==
          R"({"progress":{"program":"minify","done":7,"unit":"queries","seconds":0}})");
    CHECK(whittle::cli::clock_text(seconds(3723)) == "1:02:03");
}
