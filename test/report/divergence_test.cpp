// diverge(): which value of a frame is the first to differ, and what the judge says.
#include <catch2/catch.hpp>
#include <nlohmann/json.hpp>

#include "relu_frame.h"
#include "report/divergence.h"

using namespace whittle;
using namespace whittle::test;
namespace fs = std::filesystem;

TEST_CASE("diverge() says which value is the first to differ", "[report]") {
    const report::FrameDivergence found = report::diverge(relu_frame("f"), kWrong);
    REQUIRE(found.divergence.first);
    CHECK(found.differs());
    CHECK(found.divergence.values[*found.divergence.first].node == "b");
    CHECK_FALSE(report::diverge(relu_frame("f", "abs"), kWrong).differs());
    const nlohmann::json json = report::to_json({&found, 1});
    CHECK(json["backend"] == kWrong.spec.text());
    CHECK(json["divergence"][0]["file"] == "f.json");
    CHECK(json["divergence"][0]["verdict"] == "fails");
}

TEST_CASE("what is said of wrong gradients blames only what was compared", "[report]") {
    Divergence gradients;
    gradients.plain = {.kind = Outcome::Kind::mismatch, .part = "backward", .message = "gradient of input 0 (x)"};
    gradients.values.push_back({.node = "a", .op = "aten.neg.default"});
    gradients.only_forward = "b computes the gradients itself, without Whittle's joint graph";
    CHECK_THAT(report::to_text(gradients, "b", {}),
               Catch::Contains("only forward values were compared, because b computes the gradients itself, without "
                               "Whittle's joint graph") &&
                   !Catch::Contains("so the cause of the mismatch is"));
    gradients.only_forward.clear();
    gradients.joint = true;
    CHECK_THAT(report::to_text(gradients, "b", {}),
               Catch::Contains("1 of the joint graph compared: 0 wrong") &&
                   Catch::Contains("fusion, or how the joint graph is split into forward and backward"));
}

TEST_CASE("diverge() has the judge's verdict", "[report]") {
    LoadedFrame disagrees = relu_frame("f", "abs");  // with what was given, in which nobody else agrees
    disagrees.expected = {Tensor::of(std::vector<float>{0, 0, 0, 0}, {4})};
    disagrees.expected_from = "the data set";
    const report::FrameDivergence wrong_data = report::diverge(disagrees, kWrong);
    CHECK(wrong_data.judgement.verdict == Verdict::not_judged);
    CHECK_FALSE(wrong_data.differs());
    CHECK(wrong_data.divergence.values.size() == 3);
    CHECK_THAT(to_text(wrong_data, {}), Catch::Contains("verdict:     not judged: ") &&
                                            Catch::Contains("the expected outputs (the data set) differ"));

    const report::FrameDivergence unsupported = report::diverge(relu_frame("f"), {.spec = "cmd:sh -c 'exit 125'"});
    CHECK_FALSE(unsupported.differs());
    CHECK_THAT(to_text(unsupported, {}), Catch::EndsWith("\nnot judged: exited with 125\n"));
}

TEST_CASE("the kernels around the first that fails are shown, with the code that the whole ran", "[report]") {
    KernelJudgements kernels;
    for (int i = 0; i < 30; ++i)
        kernels.kernels.push_back({.kernel = "kernel_" + std::to_string(i),
                                   .nodes = {"n" + std::to_string(i)},
                                   .stack = {{.file = "model.cpp", .line = i, .function = {}, .text = {}}},
                                   .code = "0123456789abcdef",
                                   .same_code = true,
                                   .verdict = i == 12 ? Verdict::fails : Verdict::right,
                                   .reason = i == 12 ? "mismatch at run: output 0" : ""});
    const Outcome whole{.kind = Outcome::Kind::mismatch, .message = "output 0"};
    const std::string text = report::to_text(kernels, whole, "minify f.json", {});
    CHECK_THAT(text, Catch::Contains("kernels:     30 kernels judged as compiled, one by one: 1 wrong, 29 right") &&
                         Catch::Contains("first wrong: kernel_12: %n12   # model.cpp:12") &&
                         Catch::Contains("0123456789ab same") && Catch::Contains("%n9 ") && !Catch::Contains("%n8 ") &&
                         Catch::Contains("(-v shows all 30)") && !Catch::Contains("minify"));
    CHECK_THAT(report::to_text(kernels, whole, "", {.verbose = true}), Catch::Contains("%n29"));
    const nlohmann::json json = report::to_json(kernels);
    CHECK(json["first_kernel"] == "kernel_12");
    CHECK(json["kernels"][12]["verdict"] == "fails");
    CHECK_FALSE(json.contains("no_kernels"));
}

TEST_CASE("where only the whole fails, the next step is named", "[report]") {
    KernelJudgements kernels;
    kernels.kernels.push_back({.kernel = "kernel_0", .nodes = {"a"}, .verdict = Verdict::right});
    const Outcome whole{.kind = Outcome::Kind::mismatch, .message = "output 0"};
    CHECK_THAT(report::to_text(kernels, whole, "minify f.json", {}),
               Catch::Contains("only the whole graph fails: each kernel alone computes what the reference computes") &&
                   Catch::Contains("to find the operations that fail together: minify f.json"));
    CHECK_THAT(report::to_text(kernels, Outcome{}, "minify f.json", {}),
               !Catch::Contains("only the whole graph fails"));
    kernels.passes = "output 0 differs";
    CHECK_THAT(
        report::to_text(kernels, whole, "minify f.json", {}),
        Catch::Contains("a pass is wrong; to find the wrong pass: explain diagnose") && !Catch::Contains("minify"));
}
