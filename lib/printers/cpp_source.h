// A captured graph as C++ source: one function on whittle::Tensor, to be read and stepped through.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace whittle::printers {

/// `Values NAME(const Tensor& x, …, const Parameters& parameters)`: parameters of the function are the placeholders, in
/// order, then (if the graph has any) the map of its attributes by qualified name; `Values` is std::vector<Tensor>.
/// Each operation is one statement, with what its values are and the user's source line behind it. An operation that
/// the API has no function for throws when it is reached, by name. Nested graphs are functions before it, NAME_GRAPH.
/// The graph is in the ATen dialect (Error else).
std::string to_cpp(const Graph& graph, const std::string& name);

/// Those operations, the nested graphs' too, each once: a program's own, whose functions no other file can call.
std::vector<std::string> ops_without_code(const Graph& graph);

/// `__unsupported(op)`, which to_cpp() calls.
std::string unsupported_ops_code();

/// The same as a file of its own, which begins with the line `about` as a comment, and exports kStepSymbol, a
/// StepFunction of whittle::Tensor (the API's).
std::string cpp_file(const Graph& graph, const std::string& about);
inline constexpr const char* kStepSymbol = "whittle_step";
template <class Tensor>
using StepFunction = void(const std::vector<Tensor>& inputs, const std::map<std::string, Tensor>& parameters,
                          std::vector<Tensor>& outputs);

/// A node's name as a C++ variable.
std::string variable(const std::string& node_name);

}  // namespace whittle::printers
