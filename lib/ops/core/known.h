// Composites whose results' sizes are data of an operand: what such an op needs to know, and how it is told. A call of
// one that is told nothing keeps the results that it has, those that were observed when it ran (infer()); without any
// it cannot be inferred.
#pragma once

#include <functional>

#include "ops/core/not_implemented.h"
#include "ops/core/registry.h"

namespace whittle {

/// Thrown by `infer` and `decompose`: the results' sizes are data of an operand that is no constant, known only while
/// the graph runs.
class NeedsConstant final : public NotImplemented {
  public:
    NeedsConstant(std::string operand, const std::string& message, const std::string& hint)
        : NotImplemented(message, hint), operand_(std::move(operand)) {}
    /// The parameter's name in the op's schema.
    const std::string& operand() const { return operand_; }

  private:
    std::string operand_;
};

/// A constant of the graph; of another operand a NeedsConstant is thrown.
inline Tensor known_operand(const Call& call, std::string_view name) {
    if (std::optional<Tensor> value = call.builder().known(call.tensor(name))) return *value;
    throw NeedsConstant(std::string(name),
                        "the operand '" + std::string(name) + "' is computed at run time, expected a constant",
                        "make this operand a constant: the sizes of the result depend on the value of the operand");
}

/// The value of an operand that is known although it is computed; null when it is not.
using KnownValue = std::function<const Tensor*(NodeRef)>;

/// expand(); operands with a known value are constants of the expansion. `attributes`: whether those of the graph are,
/// too; else they are operands like others, for they may have been written to.
Expansion expand(const Graph& graph, const Node& call, const KnownValue& known, bool attributes = true);
/// The same by the parts that bound how the call rounds, where its op has such.
Expansion expand_for_bound(const Graph& graph, const Node& call, const KnownValue& known = {});

}  // namespace whittle
