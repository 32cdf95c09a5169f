#include "base/command_words.h"

#include <catch2/catch.hpp>

using namespace whittle;
using Words = std::vector<std::string>;

TEST_CASE("An option is added to a command before the arguments of another program") {
    CHECK(with_option({"explain", "m.onnx"}, "--minify") == Words{"explain", "m.onnx", "--minify"});
    CHECK(with_option({"explain", "./app", "--", "--minify"}, "--minify") ==
          Words{"explain", "./app", "--minify", "--", "--minify"});
}

TEST_CASE("An option is added to a command before a program that takes the rest") {
    const Words train = {"explain", "--backend", "x", "python3", "train.py", "--minify"};
    CHECK(with_option(train, "--minify", 3) ==
          Words{"explain", "--backend", "x", "--minify", "python3", "train.py", "--minify"});
    CHECK(with_option({"explain", "--accuracy", "python3", "a.py"}, "--accuracy=fp64", 2) ==
          Words{"explain", "--accuracy=fp64", "python3", "a.py"});
}

TEST_CASE("An option takes the place of one of its name, whatever that says") {
    const Words fp64 = {"replay", "--accuracy=fp64", "traces"};
    CHECK(with_option({"replay", "--accuracy", "traces"}, "--accuracy=fp64") == fp64);
    CHECK(with_option({"replay", "--accuracy=close", "traces"}, "--accuracy=fp64") == fp64);
    CHECK(with_option({"replay", "--accuracy", "traces", "--accuracy=close"}, "--accuracy=fp64") == fp64);
    CHECK(with_option(fp64, "--accuracy=fp64") == fp64);
    CHECK(with_option({"explain", "m.onnx", "--minify"}, "--minify") == Words{"explain", "m.onnx", "--minify"});
    CHECK(with_option({"replay", "--accuracy-of", "t"}, "--accuracy=fp64") ==
          Words{"replay", "--accuracy-of", "t", "--accuracy=fp64"});
}

TEST_CASE("Our programs are called as this one was") {
    const std::string installed = installed_name("minify");
    CHECK(program_words("minify answer", {"FOLDER"}) == Words{installed, "answer", "FOLDER"});
    CHECK(program_words("whittle fuzz") == Words{"whittle", "fuzz"});
    remember_call(called_by_whittle("trace"));
    CHECK(program_words("minify", {"m.json"}) == Words{"whittle", "minify", "m.json"});
    CHECK(program_words("whittle fuzz") == Words{"whittle", "fuzz"});
    CHECK(program_called("repro env") == "whittle repro env");
    remember_call("/usr/bin/whittle");
    CHECK(program_called("minify") == "whittle minify");
    remember_call("/usr/bin/trace");
    CHECK(program_words("minify") == Words{installed});
}
