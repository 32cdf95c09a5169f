// What the samples of ONNX's ops share.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ops/samples/families.h"

namespace whittle::samples {

using Kwargs = std::vector<std::pair<std::string, Arg>>;
using Operands = std::vector<std::optional<Tensor>>;

/// Calls op(operands...) with these attributes at an opset. An operand that is nothing is left out; those at the
/// positions `constants` are constants of the graph.
Sample at_opset(std::int64_t opset, const std::string& label, const Operands& operands, Kwargs kwargs = {},
                const std::vector<std::size_t>& constants = {});
/// Calls op([operands...]), for an op whose only parameter takes them all.
Sample list_at_opset(std::int64_t opset, const std::string& label, const Operands& operands, Kwargs kwargs = {});

/// They call op(x) with a few tensors, at the newest opset.
Samples unary_samples(DType dtype);
/// They call op(a, b) with a few tensors of one dtype, which broadcast, at the newest opset.
Samples binary_samples(DType dtype);
/// They call op(x) with values in (0, 1), for functions that are not defined everywhere.
Samples unit_samples(DType dtype);

}  // namespace whittle::samples
