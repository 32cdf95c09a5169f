// One ONNX node on its way into a graph: what is read of it (bind.h), and what becomes of it (results.h). Internal.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "frontends/onnx/proto.h"
#include "graph/graph.h"
#include "ops/core/registry.h"

namespace whittle::onnx_proto {

struct PendingNode {
    onnx::NodeProto& proto;
    int position;
    Location where;
    std::string domain;
    std::int64_t opset;
    const RegisteredOp* op;  ///< nullptr when Whittle does not know it
    int outputs;             ///< up to the last that has a name
    Node call = {};
    std::string problem = {}, hint = {};  ///< why it cannot be described; empty when it can
    std::string opaque = {};              ///< what is unknown of an op that is kept; empty: it is none
    bool unknown_operand = false;         ///< metas of an operand, or of what a graph of the node gives, are not known
    std::optional<Expansion> expansion = {};  ///< what a composite's results were inferred by

    /// Says why it cannot be described, unless something else has been said.
    void refuse(std::string why, std::string advice = {}) {
        if (!problem.empty()) return;
        problem = std::move(why);
        hint = std::move(advice);
    }
    bool is_refused() const { return !problem.empty(); }
    /// Its results can be inferred: the op is known, and so are the metas of what it computes with.
    bool can_be_inferred() const { return !is_refused() && opaque.empty() && !unknown_operand; }
};

}  // namespace whittle::onnx_proto
