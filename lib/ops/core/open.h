// Input for which PyTorch's or ONNX's text leaves the result of a graph open, or which it forbids: two implementations
// that differ on it may both be right. Each op's rule is in its record (OpDef::open).
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graph/graph.h"
#include "ops/core/arguments.h"

namespace whittle {

struct RegisteredOp;

/// One call with an open result.
struct OpenInput {
    std::string node;    ///< name of the call, in the graph or in one of its nested graphs
    std::string op;      ///< its target, as the user knows it: "onnx.Gather"
    std::string reason;  ///< a sentence: "index 7 of onnx.Gather is out of range: expected -4 to 3"
};

/// Returns what the op's rule says of one call with these operands; nothing where the definition gives the result.
std::optional<std::string> open_result(const Node& call, const RegisteredOp& op, const Arguments<Tensor>& arguments);

/// Returns the first call of `graph`, in the order of its nodes, whose definition leaves the result open for `inputs`,
/// one tensor per placeholder. Floats that an integer dtype does not hold leave it open only if the results of the
/// graph depend on what they are converted to, as far as runs with several such values show. Asks the calls as they
/// stand, composites before they are decomposed, those of nested graphs each time that they run. The reference computes
/// only what the asked calls read; nothing where no op of the graph has a rule. Never throws Error: what the reference
/// cannot run, random numbers, and what depends on either is passed over. `differ`: a backend's results are not the
/// expected ones (OpenRule::if_different).
std::optional<OpenInput> open_input(const Graph& graph, std::span<const Tensor> inputs, bool differ = true);

}  // namespace whittle
