// Ops that a program brings along (allow_in_graph() and register_op() of the API). Opaque: they have a kernel and no
// lowering, and only the process that registered them knows them. Registry finds them behind its own.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "ops/core/registry.h"

namespace whittle {

struct CustomOp {
    std::string target = {};  ///< "mylib.scale", "mylib.scale.default"
    std::string schema = {};  ///< "scale(Tensor x0, float x1) -> Tensor"
    std::function<std::vector<ValueMeta>(const Arguments<ValueMeta>&)> infer = {};
    std::function<std::vector<Tensor>(const Arguments<Tensor>&)> eval = {};
    std::function<void(GraphBuilder&, CallGradients&)> grad = {};  ///< as OpDef::grad; empty: there is none
    bool left_to_reference = false;  ///< where a backend lacks it, the reference runs it, and the backend the rest
};

/// Registers it, or replaces the functions of one with the same target and schema. The result lives as long as the
/// process; calls from several threads are fine. Throws Error for a target that is no NAMESPACE.NAME or
/// NAMESPACE.NAME.OVERLOAD, that belongs to a dialect of ours, or that has another schema already.
const RegisteredOp& register_op(CustomOp op);

/// nullptr for a target that nobody registered.
const RegisteredOp* custom_op(std::string_view target);

/// Of one that was registered so.
bool left_to_reference(std::string_view target);

}  // namespace whittle
