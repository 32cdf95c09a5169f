// The text of short programs for ONNX's compilers and for any command, as who gets one reads it; nothing of them need
// be installed. test/repro/onnxruntime.txt, opencv.txt and scripts.txt run what is. Rewritten with
// WHITTLE_UPDATE_GOLDENS=1 (scripts/update goldens does); review with `git diff`.
#include "backends/command/short_programs.h"

#include <catch2/catch.hpp>
#include <limits>

#include "backends/command/script_text.h"
#include "backends/short_cases.h"
#include "golden.h"

namespace whittle::short_programs {

TEST_CASE("golden: short programs for ONNX Runtime") {
    std::string text = shown("pad and pool", pooled(), onnxruntime_program, said(), kWithModel);
    text += shown("large data, at all levels", large(), onnxruntime_program, said(), kWithModel);
    text += shown("several integers", summed({"mismatch", "run", "value"}), onnxruntime_program);
    text += shown("an exception", summed({"exception", "compile", "no kernel"}), onnxruntime_program);
    text += shown("a crash", summed({"crash", "run", "SIGSEGV"}), onnxruntime_program);
    text += shown("a hang", summed({"timeout", "run", ""}), onnxruntime_program);
    test::check_golden("backends/golden/onnxruntime.txt", text);
}

TEST_CASE("a short program shows an exception of a graph of which nobody knows the results") {
    Case one = summed({"exception", "compile", "no kernel"});
    std::string why_not;
    const std::optional<ReproProgram> known = onnxruntime_program(one.request(), said(), why_not);
    one.expected.clear(), one.got.clear();
    const std::optional<ReproProgram> unknown = onnxruntime_program(one.request(), said(), why_not);
    REQUIRE(unknown);
    CHECK(unknown->text == known->text);
    CHECK(unknown->others.at(0).text == known->others.at(0).text);
}

namespace {

Case softplus_of_100() {
    Case one = failing(kSoftplus, {Tensor::of<float>({100, -1}, {1, 2})}, {"mismatch", "run", "nan_or_inf"});
    one.got = {Tensor::of<float>({std::numeric_limits<float>::infinity(), 0.3132617F}, {1, 2})};
    return one;
}

}  // namespace

TEST_CASE("golden: short programs for OpenCV") {
    WorkerHello hello;
    hello.version = "4.6.0";
    Case softplus = softplus_of_100();
    std::string text = shown("softplus", softplus, opencv_program, hello, kWithModel);
    Case fused = large();
    fused.blame = {.off = "fusion"};
    text += shown("large data, with fusion", fused, opencv_program, hello);
    text += shown("integers", summed({"mismatch", "run", "value"}), opencv_program, hello);
    softplus.graph.failure->signature = {"crash", "run", "SIGABRT"};
    text += shown("a crash", softplus, opencv_program, hello);
    softplus.graph.failure->signature = {"exception", "compile", "no layer"};
    text += shown("an exception", softplus, opencv_program, hello);
    test::check_golden("backends/golden/opencv.txt", text);
}

TEST_CASE("golden: short programs for OpenCV in node") {
    WorkerHello npm;
    npm.version = "5.0.0 (of npm)", npm.package = "@scope/opencv-js@5.0.0-release.1",
    npm.modules = "/data/node_modules";
    Case softplus = softplus_of_100();
    std::string text = shown("softplus", softplus, opencv_program, npm, kWithModel);
    text += shown("large data", large(), opencv_program, npm);
    text += shown("three dimensions", pooled(), opencv_program, npm);
    Case image = failing(R"(graph g opset("": 17) {
  %x = placeholder["x"] : f32[1, 1, 1, 2]
  %y = onnx.Softplus(%x) : f32[1, 1, 1, 2]
  return (%y)
}
)",
                         {Tensor::of<float>({32, 128}, {1, 1, 1, 2})}, {"mismatch", "run", "nan_or_inf"});
    image.got = {Tensor::of<float>({32, INFINITY}, {1, 1, 1, 2})};
    text += shown("an image", image, opencv_program, npm);
    softplus.graph.failure->signature = {"mismatch", "run", "sizes"};
    softplus.got = {Tensor::of<float>({1, 1}, {2, 1})};
    text += shown("other sizes", softplus, opencv_program, npm);
    softplus.graph.failure->signature = {"exception", "compile", "no layer"};
    text += shown("an exception", softplus, opencv_program, npm);
    softplus.graph.failure->signature = {"crash", "run", "SIGABRT"};
    text += shown("a crash", softplus, opencv_program, npm);
    test::check_golden("backends/golden/opencv_node.txt", text);
}

TEST_CASE("golden: scripts for any command") {
    const auto scripted = [](const std::string& name, const Case& one, const Scripted& how) {
        std::string why_not;
        const std::optional<ReproProgram> program = script_program(one.request(), how, why_not);
        return shown(name, program, why_not);
    };
    const Scripted command{
        .name = "cmd:compiler --run", .words = {"compiler", "--run"}, .files = {{"model.onnx", "m"}}};
    Scripted worker{.name = "worker:w", .words = {"w"}, .files = {{"model.onnx", "m"}, {"inputs.safetensors", "i"}}};
    worker.question = "{\"id\": 1}\n", worker.question_without = "{\"id\": 1, \"off\": [\"fuse\"]}\n",
    worker.off = "fuse";
    std::string text = scripted("a command", large(), command);
    text += scripted("a command's words", summed({"exception", "run", "exited with #: error: bad"}), command);
    text += scripted("a command that hangs", summed({"timeout", "run", ""}), command);
    text += scripted("a worker with its switch", summed({"mismatch", "run", "value"}), worker);
    text += scripted("a worker that ends", summed({"crash", "run", "SIGABRT"}), worker);
    test::check_golden("backends/golden/script.txt", text);
}

TEST_CASE("short programs: what is not shown shortly is said") {
    std::string why_not;
    Case one = pooled();
    one.graph.failure->options["threads"] = "2";
    CHECK_FALSE(onnxruntime_program(one.request(), said(), why_not));
    CHECK(why_not == "a short program cannot set the backend option threads=2");
    one = pooled();
    one.graph.failure->accuracy.mode = Accuracy::Mode::strict;
    CHECK_FALSE(onnxruntime_program(one.request(), said(), why_not));
    CHECK(why_not == "the model fails only with --accuracy=strict");
    CHECK(known_api("tensorrt") == nullptr);
    REQUIRE(known_api("opencv") != nullptr);
    CHECK(known_api("opencv")->write == opencv_program);
    CHECK_THAT(known_api("opencv")->issues, Catch::Contains("opencv"));
}

}  // namespace whittle::short_programs
