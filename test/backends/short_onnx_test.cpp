// The models of short programs, and the titles of their reports.
#include "backends/command/short_onnx.h"

#include <catch2/catch.hpp>

#include "backends/command/definitions.h"
#include "backends/command/script_text.h"
#include "backends/short_cases.h"
#include "printers/formula.h"

namespace whittle::short_programs {

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

}  // namespace whittle::short_programs
