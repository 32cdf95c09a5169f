// The gradients of one operation, or of one compiled graph, as a graph of their own.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "api/impl.h"
#include "ops/core/interpreter.h"
#include "passes/partition.h"

namespace whittle::api {

/// parts.backward gives the gradients, from what parts.saved lists of the forward graph and a tangent for each of
/// `tangents`.
struct Derivative {
    Derivative() = default;
    Derivative(const Joint& joint, Partition cut);

    std::size_t outputs = 0;                 ///< of the forward graph; behind them is what is only saved
    std::vector<std::size_t> tangents = {};  ///< the outputs that they are of
    std::vector<ValueMeta> tangent_metas = {};
    std::vector<std::size_t> gradients = {};  ///< the inputs that they are of
    Partition parts = {};
    std::string error = {};  ///< why there are no gradients
};

/// Of a call whose NodeRefs are positions in `operands`: its outputs are the call's results, and only operands and
/// results are saved. The op has a rule, or there are no gradients.
struct CallDerivative : Derivative {
    using Derivative::Derivative;
    std::optional<PreparedGraph> prepared = {};  ///< parts.backward
};
std::shared_ptr<const CallDerivative> derivative_of(const Node& call, const std::vector<ImplPtr>& operands);

}  // namespace whittle::api
