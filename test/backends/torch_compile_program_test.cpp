// The text of short programs for torch.compile and AOTInductor, as in short_programs_test.cpp.
#include <catch2/catch.hpp>

#include "backends/short_cases.h"
#include "golden.h"
#include "printers/short_program.h"

namespace whittle::short_programs {
namespace {

/// Of a relu that gives 1 more.
Case torch_relu(const Signature& signature, const BackendOptions& options, const Blame& blame) {
    Case one = failing(R"(graph user_model {
  %a = placeholder["a"] : f32[1]
  %b = aten.relu.default(%a) : f32[1]
  return (%b)
}
)",
                       {Tensor::of<float>({1})}, signature);
    one.graph.failure->options = options;
    one.got = {Tensor::of<float>({2})};
    one.blame = blame;
    return one;
}

/// Of a relu whose gradient is doubled: its joint graph.
Case torch_relu_gradient(const Signature& signature, const Blame& blame) {
    Case one = failing(R"(graph user_model_joint {
  %a = placeholder["a"] : f32[1]
  %g = placeholder["g"] : f32[1]
  %b = aten.relu.default(%a) : f32[1]
  %c = aten.threshold_backward.default(%g, %b, 0) : f32[1]
  return (%b, %c)
}
)",
                       {Tensor::of<float>({1}), Tensor::of<float>({0.25F})}, signature);
    one.graph.failure->options = {{"training", "on"}};
    one.got = {Tensor::of<float>({1}), Tensor::of<float>({0.5F})};
    one.blame = blame;
    one.gradients = JointShape{.outputs = 1, .tangents = {0}, .gradients = {"a"}};
    return one;
}

}  // namespace

TEST_CASE("golden: short programs for torch.compile") {
    WorkerHello hello;
    hello.version = "2.14.1 (inductor, Python 3.14.10)", hello.compiler = "inductor",
    hello.program = "/usr/bin/python3";
    const auto program = [&](const char* name, const Case& one) {
        return shown(name, one, torch_compile_program, hello);
    };
    const Signature wrong{"mismatch", "run", "value"};
    std::string text = program("a limited pass and a setting",
                               torch_relu(wrong, {{"config.cpp.inject_relu_bug_TESTING_ONLY", "accuracy"}},
                                          {.level = "lowerings", .passes_to = 0, .fails_at = 1}));
    text += program("a setting is guilty",
                    torch_relu(wrong, {{"mode", "max-autotune"}, {"dynamic", "on"}, {"disable", "functorch.cse=True"}},
                               {.off = "emulate_precision_casts=False"}));
    text += program("nothing is guilty, an exception", torch_relu({"exception", "compile", "no kernel"}, {}, {}));
    text += program("a crash", torch_relu({"crash", "run", "SIGSEGV"}, {}, {}));
    text += program("a pass of another backend",
                    torch_relu(wrong, {}, {.level = "decomposition", .passes_to = 1, .fails_at = 2}));
    text += program("a gradient", torch_relu_gradient(wrong, {.level = "lowerings", .passes_to = 0, .fails_at = 1}));
    text += program("an exception in training", torch_relu_gradient({"exception", "compile", "no kernel"}, {}));
    Case rounded = torch_relu(wrong, {}, {});
    rounded.in_f64 = true;
    text += program("eager mode is inexact", rounded);
    text += program("a limit is given", torch_relu(wrong, {{"pass-limit", "lowerings=3"}}, {}));
    text += program("a hang", torch_relu({"timeout", "run", ""}, {}, {}));
    test::check_golden("backends/golden/torch_compile.txt", text);
}

TEST_CASE("short programs: the gradient of a parameter under its short name") {
    Case one = failing(R"(graph user_model_joint {
  %a = placeholder["a"] : f32[1, 1]
  %weight = get_attr["layer.weight"] : f32[1, 1]
  %g = placeholder["g"] : f32[1, 1]
  %b = aten.mm.default(%a, %weight) : f32[1, 1]
  %t = aten.t.default(%a) : f32[1, 1]
  %c = aten.mm.default(%t, %g) : f32[1, 1]
  return (%b, %c)
}
)",
                       {Tensor::of<float>({2}, {1, 1}), Tensor::of<float>({0.5F}, {1, 1})},
                       {"mismatch", "run", "value"}, {{"layer.weight", Tensor::of<float>({3}, {1, 1})}});
    one.gradients = JointShape{.outputs = 1, .tangents = {0}, .gradients = {"layer.weight"}};
    one.got = {Tensor::of<float>({6}, {1, 1}), Tensor::of<float>({4}, {1, 1})};
    const ShortRequest request = one.request();
    const ShortGraph shown = short_graph(request, OutputNames::y);
    CHECK(shown.gradients == std::vector<std::string>{"w0"});
    CHECK(shown.graph.calls().size() == 1);
    CHECK(gradient_words(request, shown) == ", in the gradient of w0,");

    WorkerHello hello;
    hello.version = "2.14.1", hello.compiler = "inductor";
    std::string why_not;
    const std::optional<ReproProgram> program = torch_compile_program(request, hello, why_not);
    INFO(why_not);
    REQUIRE(program);
    INFO(program->text);
    CHECK(program->text.find("w0 = torch.tensor([[3.0]]).requires_grad_()\n") != std::string::npos);
    CHECK(program->text.find("\nexpected = torch.autograd.grad(graph(x, w0), w0, t)[0]\n") != std::string::npos);
}

TEST_CASE("short programs: none where only some of several outputs have gradients") {
    Case one = failing(R"(graph user_model_joint {
  %a = placeholder["a"] : f32[1]
  %g = placeholder["g"] : f32[1]
  %h = placeholder["h"] : f32[1]
  %b = aten.relu.default(%a) : f32[1]
  %s = aten.sign.default(%a) : f32[1]
  %e = aten.exp.default(%a) : f32[1]
  %c = aten.threshold_backward.default(%g, %b, 0) : f32[1]
  %d = aten.mul.Tensor(%h, %e) : f32[1]
  %f = aten.add.Tensor(%c, %d) : f32[1]
  return (%b, %s, %e, %f)
}
)",
                       {Tensor::of<float>({1}), Tensor::of<float>({1}), Tensor::of<float>({1})},
                       {"exception", "compile", "no kernel"});
    one.gradients = JointShape{.outputs = 3, .tangents = {0, 2}, .gradients = {"a"}};
    std::string why_not;
    CHECK(!torch_compile_program(one.request(), {}, why_not));
    CHECK(why_not == "a short program needs the gradients of one output or of all outputs");
}

TEST_CASE("golden: short programs for AOTInductor") {
    WorkerHello hello;
    hello.version = "2.14.1 (aoti, Python 3.14.10)", hello.compiler = "aoti", hello.program = "/usr/bin/python3";
    const auto program = [&](const char* name, const Case& one) {
        return shown(name, one, torch_compile_program, hello);
    };
    const BackendOptions injected = {{"config.cpp.inject_relu_bug_TESTING_ONLY", "accuracy"}};
    const Case wrong =
        torch_relu({"mismatch", "run", "value"}, injected, {.level = "lowerings", .passes_to = 0, .fails_at = 1});
    std::string text = program("run by Python", wrong);
    hello.build = {"c++", "-std=c++20", "run.cpp", "-o", "run", "-ltorch_cpu", "-lc10"};
    text += program("run by a C++ program", wrong);
    text += program("an exception in a C++ program", torch_relu({"exception", "run", "no kernel"}, {}, {}));
    text += program("no package is made", torch_relu({"exception", "compile", "no kernel"}, {}, {}));
    test::check_golden("backends/golden/aoti.txt", text);
}

}  // namespace whittle::short_programs
