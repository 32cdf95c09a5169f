// The text of short programs for ONNX's compilers and for any command, as who gets one reads it; nothing of them need
// be installed. test/repro/onnxruntime.txt, opencv.txt and scripts.txt run what is. Rewritten with
// WHITTLE_UPDATE_GOLDENS=1 (scripts/update goldens does); review with `git diff`.
#include "backends/command/short_programs.h"

#include <catch2/catch.hpp>
#include <limits>
#include <regex>

#include "backends/command/definitions.h"
#include "backends/command/script_text.h"
#include "backends/command/short_onnx.h"
#include "golden.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"
#include "printers/formula.h"

using namespace whittle;

namespace {

constexpr const char* kPool = R"(graph user_model opset("": 17) {
  %secret_in = placeholder["secret.in"] : f32[1, 1, 1]
  %pads = get_attr["block.pads"] : i64[6]
  %t = onnx.Pad(%secret_in, %pads) : f32[1, 1, 2]
  %out = onnx.MaxPool(%t, kernel_shape=[2]) : f32[1, 1, 1]
  return (%out)
}
)";
constexpr const char* kSum = R"(graph add opset("": 17) {
  %a = placeholder["a"] : i64[3]
  %b = placeholder["b"] : i64[3]
  %c = onnx.Add(%a, %b) : i64[3]
  return (%c)
}
)";
constexpr const char* kLarge = R"(graph relu opset("": 17) {
  %a = placeholder["a"] : f32[4, 8]
  %b = placeholder["b"] : f32[4, 8]
  %c = onnx.Add(%a, %b) : f32[4, 8]
  %d = onnx.Relu(%c) : f32[4, 8]
  return (%d)
}
)";
constexpr const char* kSoftplus = R"(graph sp opset("": 17) {
  %a = placeholder["a"] : f32[1, 2]
  %b = onnx.Softplus(%a) : f32[1, 2]
  return (%b)
}
)";

struct Case {
    Graph graph;
    std::vector<Tensor> expected, got;
    Blame blame = {};
    std::optional<JointShape> gradients = {};
    bool in_f64 = false;

    ShortRequest request() const {
        ShortRequest request{graph, expected, got, "repro.cpp", 60, blame};
        request.gradients = gradients, request.in_f64 = in_f64;
        return request;
    }
};

Case failing(const char* text, std::vector<Tensor> inputs, const Signature& signature,
             const std::map<std::string, Tensor>& attributes = {}) {
    Case one{parse(text), {}, {}};
    for (const auto& [name, value] : attributes) one.graph.attributes[name] = value;
    one.graph.failure = Failure{.backend = "worker:ort", .signature = signature, .message = "no kernel for it"};
    one.graph.failure->inputs = std::move(inputs);
    one.expected = evaluate(one.graph, one.graph.failure->inputs);
    return one;
}

Case pooled() {
    Case one = failing(kPool, {Tensor::of<float>({-1}, {1, 1, 1})}, {"mismatch", "run", "value"},
                       {{"block.pads", Tensor::of<std::int64_t>({0, 0, 1, 0, 0, 0}, {6})}});
    one.got = {Tensor::of<float>({-1}, {1, 1, 1})};
    one.blame = {.level = "level", .passes_to = 0, .fails_at = 1, .off = "Pad_Fusion"};
    one.blame.exact = true;
    return one;
}

Tensor ramp(float from) {
    std::vector<float> values;
    for (int i = 0; i < 32; i++) values.push_back(from + static_cast<float>(i) / 8);
    return Tensor::of(values, {4, 8});
}

Case large() {
    Case one =
        failing(kLarge, {ramp(-1), Tensor::of(std::vector<float>(32, 0.5F), {4, 8})}, {"mismatch", "run", "value"});
    std::vector<float> got;
    for (const double value : one.expected[0].values<double>()) got.push_back(static_cast<float>(value));
    got[5] = 2;
    one.got = {Tensor::of(got, {4, 8})};
    one.blame = {.level = "level", .passes_to = -1, .fails_at = 0};
    return one;
}

Case summed(const Signature& signature) {
    Case one = failing(kSum, {Tensor::of<std::int64_t>({1, 2, 3}), Tensor::of<std::int64_t>({4, 5, 6})}, signature);
    one.got = {Tensor::of<std::int64_t>({5, 0, 9})};
    one.blame = {.level = "level", .passes_to = 1, .fails_at = 2};
    return one;
}

const WorkerHello& said() {
    static const WorkerHello hello = [] {
        WorkerHello one;
        one.version = "1.30.0 (node 20)", one.package = "onnxruntime-node@1.30.0", one.modules = "/data/node_modules";
        return one;
    }();
    return hello;
}

/// A model's text as ONNX 1.12 prints it. Later versions print the types of attributes, and spaces around operands.
std::string as_first_printed(const std::string& model) {
    static const std::regex type(": ints = "), spaces(R"((= \w+) ?(<.*>)? ?\()");
    return std::regex_replace(std::regex_replace(model, type, " = "), spaces, "$1$2(");
}

constexpr bool kWithModel = true;  // its text in the report, which is in each golden once

/// Every text of the program; of files that are none, the size.
std::string shown(const std::string& name, const std::optional<ReproProgram>& program, const std::string& why_not,
                  bool with_model = false) {
    if (!program) return "==== " + name + ": none: " + why_not + "\n";
    std::string text = "==== " + name + ": " + program->folder->name + "\n" + program->text;
    for (const OtherProgram& other : program->others) text += "==== " + name + ": " + other.name + "\n" + other.text;
    for (const ReproProgram::File& file : program->files)
        text += "==== " + name + ": " + file.name + ", " + std::to_string(file.text.size()) + " bytes\n";
    std::string report = program->facts;
    for (const std::string& part : {program->near, with_model ? as_first_printed(program->model) : std::string()})
        if (!part.empty()) report += (report.empty() ? "" : "\n") + part + (part.ends_with('\n') ? "" : "\n");
    if (!report.empty()) text += "==== " + name + ": report\n" + report;
    if (!program->ends_by.empty()) text += "==== " + name + ": ends by " + program->ends_by + "\n";
    return text + "==== " + name + ": control: " + program->control + program->control_argument + "\n";
}

std::string shown(const std::string& name, const Case& one,
                  std::optional<ReproProgram> (*write)(const ShortRequest&, const WorkerHello&, std::string&),
                  const WorkerHello& hello = said(), bool with_model = false) {
    std::string why_not;
    const std::optional<ReproProgram> program = write(one.request(), hello, why_not);
    return shown(name, program, why_not, with_model);
}

}  // namespace

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
    CHECK(why_not == "only some of several outputs have gradients");
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

TEST_CASE("short programs: equal bits are asked for where the text has the number itself") {
    Case one = failing(kSoftplus, {Tensor::of<float>({0.3F, 1}, {1, 2})}, {"mismatch", "run", "value"});
    one.blame.exact = true;
    one.expected = {Tensor::of<float>({0.1F, 1}, {1, 2})};
    one.got = {Tensor::of<float>({1, 1}, {1, 2})};
    CHECK(compared(one.request()).tolerance > 0);  // 0.1 of f64 is none of f32's
    one.expected = {Tensor::of<float>({0.125F, 1}, {1, 2})};
    CHECK(compared(one.request()).tolerance == 0);
}

TEST_CASE("short programs: nothing of the user's names is in the model") {
    const Case one = pooled();
    const ShortModel model = short_model(one.request());
    for (const ReproProgram::File& file : model.files)
        for (const char* name : {"secret", "block", "user_model"}) {
            CAPTURE(file.name, name);
            CHECK(file.text.find(name) == std::string::npos);
        }
    CHECK(model.text.find(" w0 = {") != std::string::npos);
    CHECK(formula_of(model.graph) == "MaxPool<kernel_shape=[2]>(Pad(x, [0, 0, 1, 0, 0, 0]))");
    CHECK(title_of(one.request(), model) ==
          "MaxPool<kernel_shape=[2]>(Pad(x, pads=[0, 0, 1, 0, 0, 0])) of float[1, 1, 1] gives -1, expected 0, where x "
          "= -1");
    Case uncontrolled = one;
    uncontrolled.blame = {};
    CHECK(title_of(uncontrolled.request(), model).find(" at opset 17 gives") != std::string::npos);
}

namespace {

/// Softmax among ops that change shapes, at an opset.
Case shaped(const std::string& opset) {
    const std::string text = R"(graph g opset("": )" + opset + R"() {
  %x = placeholder["x"] : f32[1, 2]
  %sizes = get_attr["sizes"] : i64[3]
  %same = onnx.Identity(%x) : f32[1, 2]
  %r = onnx.Reshape(%same, %sizes) : f32[1, 2, 1]
  %s = onnx.Softmax(%r) : f32[1, 2, 1]
  %t = onnx.Transpose(%s, perm=[1, 0, 2]) : f32[2, 1, 1]
  %f = onnx.Flatten(%t) : f32[2, 1]
  return (%f)
}
)";
    Case one = failing(text.c_str(), {Tensor::of<float>({0, 0}, {1, 2})}, {"mismatch", "run", "value"},
                       {{"sizes", Tensor::of<std::int64_t>({1, 2, 1}, {3})}});
    one.got = {Tensor::of<float>({2, 2}, {2, 1})};
    return one;
}

}  // namespace

TEST_CASE("short programs: the model's text has the values of small parameters of each type") {
    const auto text_with = [](const Tensor& value) {
        const Case one = failing(("graph g opset(\"\": 17) {\n  %x = placeholder[\"x\"] : f32[1]\n"
                                  "  %w = get_attr[\"w\"] : " +
                                  print(ValueMeta::of(value)) +
                                  "\n  %c = onnx.Cast(%w, to=1) : f32[2]\n  %y = onnx.Add(%x, %c) : f32[2]\n"
                                  "  return (%y)\n}\n")
                                     .c_str(),
                                 {Tensor::of<float>({0})}, {"mismatch", "run", "value"}, {{"w", value}});
        return short_model(one.request()).text;
    };
    const Tensor numbers = Tensor::of<float>({2, 3});
    for (const DType dtype : {DType::u8, DType::i8, DType::i16, DType::u16, DType::u32, DType::u64, DType::i64,
                              DType::f16, DType::bf16, DType::f32}) {
        const std::string text = text_with(numbers.to(dtype));
        CAPTURE(text);
        CHECK(text.find("w0 = {2,3}") != std::string::npos);
    }
    CHECK(text_with(numbers.to(DType::boolean)).find("w0 = {1,1}") != std::string::npos);
}

TEST_CASE("short programs: ops are defined in the model's version, and those that only change a shape are not") {
    const auto link = [](const std::string& name) {
        return "[" + name + "](https://github.com/onnx/onnx/blob/main/docs/Changelog.md#" + name + ")";
    };
    const Case old = shaped("12"), newer = shaped("13");
    CHECK(definitions_text(old.graph) == "Definition: " + link("Softmax-11") + ", " + link("Transpose-1") + ".\n");
    CHECK(definitions_text(newer.graph) == "Definition: " + link("Softmax-13") + ", " + link("Transpose-13") + ".\n");
    CHECK(opset_words(old.graph) == " at opset 12");
    CHECK(opset_words(newer.graph).empty());
    CHECK(title_of(newer.request(), short_model(newer.request())) ==
          "Flatten(Transpose<perm=[1, 0, 2]>(Softmax(Reshape(Identity(x), shape=[1, 2, 1])))) of float[1, 2] gives 2, "
          "expected 1");
}

TEST_CASE("short programs: of a long title the pass is first, and types are left out, or else operands") {
    const Case one = pooled();
    const ShortModel model = short_model(one.request());
    CHECK(title_of(one.request(), model, {.when = ", from ORT_ENABLE_BASIC on", .pass = "Pad_Fusion"}) ==
          "Pad_Fusion: MaxPool<kernel_shape=[2]>(Pad(x, pads=[0, 0, 1, 0, 0, 0])) gives -1, expected 0, from "
          "ORT_ENABLE_BASIC on");
    CHECK(title_of(one.request(), model, {.when = ", from ORT_ENABLE_BASIC on", .pass = std::string(60, 'P')}) ==
          std::string(60, 'P') + ": MaxPool<…>(Pad(x, pads=[0, 0, 1, 0, 0, 0])) gives -1, expected 0");
    CHECK(title_of(one.request(), model, {.when = ", from ORT_ENABLE_BASIC on", .pass = std::string(70, 'P')}) ==
          std::string(70, 'P') + ": MaxPool<…>(Pad(x, …)) gives -1, expected 0");
    CHECK(title_of(one.request(), model, {.when = ", from ORT_ENABLE_BASIC on", .pass = std::string(150, 'P')}) ==
          std::string(150, 'P') + ": Pad, MaxPool of float[1, 1, 1] gives -1...");
}

TEST_CASE("short programs: a long title says what the nearest graph that is right tells") {
    const Case one = pooled();
    const ShortModel model = short_model(one.request());
    ShortRequest request = one.request();
    const NodeId pool = model.graph.calls().at(1);
    request.near = NearCase{.change = NearCase::Change::without_attribute, .node = pool, .attribute = "kernel_shape"};
    CHECK(title_of(request, model, {.pass = std::string(50, 'P')}) ==
          std::string(50, 'P') + ": MaxPool<kernel_shape=[2]>(Pad(x, …)) gives -1, expected 0");
    request.near = NearCase{.change = NearCase::Change::swapped, .node = model.graph.calls().at(0)};
    CHECK(title_of(request, model, {.pass = std::string(50, 'P')}) ==
          std::string(50, 'P') + " with Pad(x, w0) gives -1, expected 0, but right with Pad(w0, x)");
    request.near->same_result = true;
    CHECK(title_of(request, model, {.pass = std::string(50, 'P')}) ==
          std::string(50, 'P') + " mistakes Pad(x, w0) for Pad(w0, x) and gives -1, expected 0");
}

TEST_CASE("short programs: an exception's words are cut in a title, not the formula") {
    const Case one = failing(kSoftplus, {Tensor::of<float>({0, 0}, {1, 2})}, {"exception", "compile", "no kernel"});
    const ShortModel model = short_model(one.request());
    const std::string message =
        "found a type, expected another one: " + std::string(90, 'a') + " and " + std::string(90, 'b');
    const std::string title = title_of(one.request(), model, {.message = message, .when = std::string(60, 'w')});
    CHECK(title ==
          "Softplus(x) of float[1, 2] fails to load: found a type, expected another one..." + std::string(60, 'w'));
    for (const std::size_t length : {80, 150, 400})
        CHECK(title_of(one.request(), model, {.message = message, .when = ", " + std::string(length, 'w')}).size() <=
              200);
}

namespace {

constexpr const char* kScan = R"(graph user_model opset("": 17) {
  @user_body = graph user_body opset("": 17) {
    %user_scale = placeholder["user_scale"] : f32[2]
    %user_row = placeholder["user_row"] : f32[2]
    %user_sum = onnx.Add(%user_row, %user_scale) : f32[2]
    return (%user_scale, %user_sum)
  }
  %scale = placeholder["scale"] : f32[2]
  %rows = placeholder["rows"] : f32[3, 2]
  %s = onnx.Scan([%scale, %rows], num_scan_inputs=1, body=@user_body) : (f32[2], f32[3, 2])
  %y = getitem(%s, 0) : f32[2]
  return (%y)
}
)";

}  // namespace

TEST_CASE("short programs: a nested graph is shown under other names, one with parameters is not") {
    Case one = failing(kScan, {Tensor::of<float>({1, 2}, {2}), Tensor::of(std::vector<float>(6, 1.0F), {3, 2})},
                       {"mismatch", "run", "value"});
    one.got = {Tensor::of<float>({0, 0}, {2})};
    CHECK(not_in_short_model(one.request()).empty());
    const ShortModel model = short_model(one.request());
    CHECK(model.text.find("user") == std::string::npos);
    CHECK(model.files.front().text.find("user") == std::string::npos);
    CAPTURE(model.text);
    CHECK(model.text.find("= body (float[2] x0_1, float[2] x1_1) => (float[2] x0_1, float[2] add)") !=
          std::string::npos);

    Graph body = *one.graph.subgraphs.at("user_body");
    body.attributes["w"] = Tensor::of<float>({1}, {1});
    one.graph.subgraphs["user_body"] = std::make_shared<const Graph>(std::move(body));
    CHECK(not_in_short_model(one.request()) ==
          "a nested graph of the model has parameters or nested graphs of its own");
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
