// The textual form of a graph, for people and tests: parse(print(g)) has the same_structure as g.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace whittle {

/// One node per line:
///   graph squeeze opset("": 16) {
///     %x = placeholder["input.1"] : f32[1, 3, 96, 96]
///     %w = get_attr["features.0.weight"] : f32[64, 3, 3, 3]
///     %c = onnx.Conv(%x, %w, strides=[2, 2]) : f32[1, 64, 47, 47]   # features.0
///     return (%c)
///   }
std::string print(const Graph& graph);
/// One node's line, without indentation.
std::string print(const Graph& graph, const Node& node);
/// "%x", "[1, 2]", "\"mean\"".
std::string print(const Graph& graph, const Arg& arg);
std::string print(const ValueMeta& meta);
/// As Python prints a traceback: of each frame file, line and function, below them the source line.
std::string print(const std::vector<StackFrame>& stack);
/// The places in the program's source that issued the first calls, each once, `most` at most; of a model file none.
std::vector<StackFrame> first_places(const Graph& graph, std::size_t most);
/// "train.py:24  Net.forward  h = self.fc(x)".
std::string place_line(const StackFrame& frame);

/// "graph squeeze (1 op)", for a line of the log.
std::string summary(const Graph& graph);

/// Where a mistake is, for errors: "graph squeeze, node %c (onnx.Conv)".
std::string place_of(const Graph& graph, const Node& node);

/// Attributes parse as zeros of the stated dtype and sizes. Throws Error with line and column.
Graph parse(std::string_view text);

}  // namespace whittle
