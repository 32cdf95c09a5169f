// Graphs that fail, for which tests write short programs.
#pragma once

#include <map>
#include <optional>
#include <regex>
#include <string>
#include <vector>

#include "backends/command/short_programs.h"
#include "graph/text.h"
#include "ops/core/interpreter.h"

namespace whittle::short_programs {

inline constexpr const char* kPool = R"(graph user_model opset("": 17) {
  %secret_in = placeholder["secret.in"] : f32[1, 1, 1]
  %pads = get_attr["block.pads"] : i64[6]
  %t = onnx.Pad(%secret_in, %pads) : f32[1, 1, 2]
  %out = onnx.MaxPool(%t, kernel_shape=[2]) : f32[1, 1, 1]
  return (%out)
}
)";
inline constexpr const char* kSum = R"(graph add opset("": 17) {
  %a = placeholder["a"] : i64[3]
  %b = placeholder["b"] : i64[3]
  %c = onnx.Add(%a, %b) : i64[3]
  return (%c)
}
)";
inline constexpr const char* kLarge = R"(graph relu opset("": 17) {
  %a = placeholder["a"] : f32[4, 8]
  %b = placeholder["b"] : f32[4, 8]
  %c = onnx.Add(%a, %b) : f32[4, 8]
  %d = onnx.Relu(%c) : f32[4, 8]
  return (%d)
}
)";
inline constexpr const char* kSoftplus = R"(graph sp opset("": 17) {
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

inline Case failing(const char* text, std::vector<Tensor> inputs, const Signature& signature,
                    const std::map<std::string, Tensor>& attributes = {}) {
    Case one{parse(text), {}, {}};
    for (const auto& [name, value] : attributes) one.graph.attributes[name] = value;
    one.graph.failure = Failure{.backend = "worker:ort", .signature = signature, .message = "no kernel for it"};
    one.graph.failure->inputs = std::move(inputs);
    one.expected = evaluate(one.graph, one.graph.failure->inputs);
    return one;
}

inline Case pooled() {
    Case one = failing(kPool, {Tensor::of<float>({-1}, {1, 1, 1})}, {"mismatch", "run", "value"},
                       {{"block.pads", Tensor::of<std::int64_t>({0, 0, 1, 0, 0, 0}, {6})}});
    one.got = {Tensor::of<float>({-1}, {1, 1, 1})};
    one.blame = {.level = "level", .passes_to = 0, .fails_at = 1, .off = "Pad_Fusion"};
    one.blame.exact = true;
    return one;
}

inline Tensor ramp(float from) {
    std::vector<float> values;
    for (int i = 0; i < 32; i++) values.push_back(from + static_cast<float>(i) / 8);
    return Tensor::of(values, {4, 8});
}

inline Case large() {
    Case one =
        failing(kLarge, {ramp(-1), Tensor::of(std::vector<float>(32, 0.5F), {4, 8})}, {"mismatch", "run", "value"});
    std::vector<float> got;
    for (const double value : one.expected[0].values<double>()) got.push_back(static_cast<float>(value));
    got[5] = 2;
    one.got = {Tensor::of(got, {4, 8})};
    one.blame = {.level = "level", .passes_to = -1, .fails_at = 0};
    return one;
}

inline Case summed(const Signature& signature) {
    Case one = failing(kSum, {Tensor::of<std::int64_t>({1, 2, 3}), Tensor::of<std::int64_t>({4, 5, 6})}, signature);
    one.got = {Tensor::of<std::int64_t>({5, 0, 9})};
    one.blame = {.level = "level", .passes_to = 1, .fails_at = 2};
    return one;
}

inline const WorkerHello& said() {
    static const WorkerHello hello = [] {
        WorkerHello one;
        one.version = "1.30.0 (node 20)", one.package = "onnxruntime-node@1.30.0", one.modules = "/data/node_modules";
        return one;
    }();
    return hello;
}

/// A model's text as ONNX 1.12 prints it. Later versions print the types of attributes, and spaces around operands.
inline std::string as_first_printed(const std::string& model) {
    static const std::regex type(": ints = "), spaces(R"((= \w+) ?(<.*>)? ?\()");
    return std::regex_replace(std::regex_replace(model, type, " = "), spaces, "$1$2(");
}

inline constexpr bool kWithModel = true;  // its text in the report, which is in each golden once

/// Every text of the program; of files that are none, the size.
inline std::string shown(const std::string& name, const std::optional<ReproProgram>& program,
                         const std::string& why_not, bool with_model = false) {
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

inline std::string shown(const std::string& name, const Case& one,
                         std::optional<ReproProgram> (*write)(const ShortRequest&, const WorkerHello&, std::string&),
                         const WorkerHello& hello = said(), bool with_model = false) {
    std::string why_not;
    const std::optional<ReproProgram> program = write(one.request(), hello, why_not);
    return shown(name, program, why_not, with_model);
}

}  // namespace whittle::short_programs
