// What a repro's text holds, for each kind of failure, control, accuracy and output.
#include <catch2/catch.hpp>

#include "base/files.h"
#include "repro/failing.h"

using namespace whittle;
using namespace whittle::repro;

namespace {

constexpr const char* kCommand = "cmd:cp {}/inputs.safetensors {}/outputs.safetensors";
constexpr const char* kRelu = R"(graph relu {
  %x = placeholder["x"] : f32[2]
  %relu = aten.relu.default(%x) : f32[2]
  return (%relu)
}
)";

Graph relu(const Signature& signature) { return failing(kRelu, {Tensor::of<float>({-1, 1})}, kCommand, signature); }

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

}  // namespace

TEST_CASE("emit: a child process only where the failure ends one") {
    for (const char* kind : {"crash", "timeout", "out_of_memory"}) {
        const std::string text = harness_of(relu({kind, "run", ""})).text;
        CAPTURE(kind);
        CHECK(has(text, "fork()"));
        CHECK(has(text, "limit_memory();"));
        CHECK(has(text, "#include <sys/mman.h>"));
    }
    for (const char* kind : {"mismatch", "exception"}) {
        Graph graph = relu({kind, "run", "value"});
        graph.failure->backend = "relu_accuracy_error_TESTING_ONLY";
        const std::string text = harness_of(graph).text;
        CAPTURE(kind);
        CHECK_FALSE(has(text, "fork()"));
        CHECK_FALSE(has(text, "#include <sys/mman.h>"));
        CHECK_FALSE(has(text, "limit_memory"));
    }
}

TEST_CASE("emit: another crash than the recorded one is another failure") {
    CHECK(has(harness_of(relu({"crash", "run", "SIGSEGV"})).text,
              "if (!(ending == Ending::crash && signal == SIGSEGV))"));
    CHECK(has(harness_of(relu({"crash", "run", "signal 63"})).text, "if (!(ending == Ending::crash && signal == 63))"));
    CHECK(has(harness_of(relu({"crash", "run", "exit"})).text, "if (!(ending == Ending::crash && signal == 0))"));
    CHECK(has(harness_of(relu({"timeout", "run", ""})).text, "if (!(ending == Ending::hang))"));
}

TEST_CASE("emit: words that were clipped are compared as far as they are whole") {
    const std::string text = harness_of(relu({"exception", "run", "no kernel for re ..."})).text;
    CHECK(has(text, R"(says(error.what(), "no kernel for"))"));
}

TEST_CASE("emit: an output of a wrong shape is the failure only where that was recorded") {
    constexpr const char* kShape = R"(!control && !std::strncmp(error.what(), "mismatch: ", 10))";
    CHECK(has(harness_of(relu({"mismatch", "run", "sizes"})).text, kShape));
    CHECK(has(harness_of(relu({"mismatch", "run", "dtype"})).text, kShape));
    CHECK_FALSE(has(harness_of(relu({"mismatch", "run", "value"})).text, "!std::strncmp"));
    CHECK_FALSE(has(harness_of(relu({"mismatch", "run", "nan_or_inf"})).text, "!std::strncmp"));
}

TEST_CASE("emit: each accuracy brings what it needs and nothing more") {
    Graph graph = relu({"mismatch", "run", "value"});
    const std::string plain = harness_of(graph).text;
    CHECK(has(plain, "differing(who, \"relu\", got.out_relu, expected_out_relu, 2, 0.0001, 1e-05);"));
    for (const char* part : {"ulp", "signbit", "exact_", "number(", "sidecar", "filled"}) {
        CAPTURE(part);
        CHECK_FALSE(has(plain, part));
    }
    graph.failure->accuracy.mode = Accuracy::Mode::strict;
    CHECK(has(harness_of(graph).text, "std::signbit(got) == std::signbit(expected)"));
    graph.failure->accuracy = {.mode = Accuracy::Mode::fp64};
    CHECK(has(harness_of(graph).text, "exact_out_relu"));
    graph.failure->accuracy = {};
    graph.failure->accuracy.tolerances[DType::f32] = {.ulp = 4};
    CHECK(has(harness_of(graph).text, "steps(got[i], expected[i]) <= ulp"));
}

TEST_CASE("emit: what must pass") {
    Graph graph = relu({"mismatch", "run", "value"});
    CHECK(harness_of(graph).control_argument == "plain loops instead of the compiler");
    graph.failure->culprit = Culprit{.component = "lowering", .op = "aten.relu.default"};
    CHECK(harness_of(graph).control_argument == "the recorded outputs instead of the compiler");
    graph.failure->culprit.reset();
    graph.failure->accuracy.mode = Accuracy::Mode::strict;
    CHECK(harness_of(graph).control_argument == "the recorded outputs instead of the compiler");
}

TEST_CASE("emit: outputs without elements, twice the same, and inputs passed through") {
    const Graph graph = failing(R"(graph outputs {
  %x = placeholder["x"] : f32[2]
  %none = placeholder["none"] : f32[0]
  %relu = aten.relu.default(%x) : f32[2]
  return (%relu, %none, %relu, %x)
}
)",
                                {Tensor::of<float>({-1, 1}), Tensor()}, kCommand, {"mismatch", "run", "value"});
    const std::string text = harness_of(graph).text;
    CHECK(
        has(text, "    float out_relu[2];  // f32[2]\n    float out_relu_output2[2];  // f32[2]\n    float out_x[2];"));
    CHECK_FALSE(has(text, "out_none"));
    CHECK(has(text, "of 6 values differ"));
    const TempDir folder("whittle-test");
    write_file(folder.path() / "repro.cpp", text);
    const ProcessResult built = build(folder.path(), {}, {"-fsyntax-only", "-Wall", "-Wextra", "-Werror"});
    INFO(built.err);
    CHECK(built.exit_code == 0);
}

TEST_CASE("emit: the header says what a reader asks first") {
    Graph graph = relu({"mismatch", "run", "value"});
    graph.failure->message = "two\nlines";
    ReproProgram program = harness_of(graph, fixed_options("my repro.cpp"));
    const std::string text = program.text;
    CHECK(text.starts_with("// my repro.cpp - written by Whittle, `repro m.json`; not verified\n//\n"));
    claim(program, "verified: 3 of 3 runs fail");
    CHECK(program.text == std::string(text).replace(text.find("not verified"), 12, "verified: 3 of 3 runs fail"));
    CHECK(has(text, "//   failure    mismatch (value) at run: two\n//              lines\n"));
    CHECK(has(text, "//   suspect    command cp "));
    CHECK(has(text, "//   build      g++ -std=c++17 -O1 'my repro.cpp' -o 'my repro' && './my repro'\n"));
    CHECK(has(text, "//   on         any; Whittle X\n"));
}

TEST_CASE("emit: headers of what the code names, and of nothing else") {
    CHECK(includes_of("std::fabs(std::max<float>(x, y))") == "#include <algorithm>\n#include <cmath>\n");
    CHECK(includes_of("alarm(3); int64_t x;") == "#include <unistd.h>\n\n#include <cstdint>\n");
    CHECK(includes_of("dlopen(name, 0), prctl(0)") == "#include <dlfcn.h>\n#include <sys/prctl.h>\n\n");
    CHECK(includes_of("my_alarm(3), std::stringify").empty());
}
