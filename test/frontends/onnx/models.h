// Small ONNX models for the tests, in the text form of libonnx's parser:
//   https://github.com/onnx/onnx/blob/main/docs/Syntax.md
#pragma once

#include <onnx/defs/parser.h>

#include <catch2/catch.hpp>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "base/error.h"
#include "frontends/onnx/load.h"
#include "ops/core/interpreter.h"

namespace whittle::test {

/// A model of one graph at an opset of ai.onnx: "g (float[2] x) => (float[2] y) { y = Relu(x) }".
inline onnx::ModelProto model(const std::string& graph, int opset = 13) {
    onnx::ModelProto model;
    const std::string text = "<ir_version: 8, opset_import: [\"\" : " + std::to_string(opset) + "]> " + graph;
    const auto status = onnx::OnnxParser::Parse(model, text.c_str());
    INFO(status.ErrorMessage());
    REQUIRE(status.IsOK());
    return model;
}

inline std::span<const std::byte> bytes_of(const std::string& text) { return std::as_bytes(std::span(text)); }

inline LoadedModel load(const onnx::ModelProto& model, const LoadOptions& options = {}) {
    return load_onnx_bytes(bytes_of(model.SerializeAsString()), "test.onnx", {}, options);
}

/// The message of the Error that `f` throws, "" when it throws none.
template <class F>
std::string error_of(F&& f) {
    try {
        f();
    } catch (const Error& error) {
        return error.what();
    }
    return {};
}

inline std::string load_error(const onnx::ModelProto& model, const LoadOptions& options = {}) {
    return error_of([&] { load(model, options); });
}

/// Of its calls, in order.
inline std::vector<std::string> targets(const Graph& graph) {
    std::vector<std::string> result;
    for (const NodeId id : graph.calls()) result.push_back(graph.node({id}).target);
    return result;
}

/// What one output is.
inline std::vector<double> run(const Graph& graph, const std::vector<Tensor>& inputs, std::size_t output = 0) {
    return evaluate(graph, inputs).at(output).values<double>();
}

}  // namespace whittle::test
