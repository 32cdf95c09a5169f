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
    std::function<void(Gradients&)> grad = {};  ///< as OpDef::grad; empty: there is none
    bool left_to_reference = false;  ///< where a backend lacks it, the reference runs it, and the backend the rest
    std::string library = {};        ///< of an op of LibTorch's: the shared library that registers it there
};

/// Registers it, or replaces the functions of one with the same target and schema. The result lives as long as the
/// process; calls from several threads are fine. Throws Error for a target that is no NAMESPACE.NAME or
/// NAMESPACE.NAME.OVERLOAD, that belongs to a dialect of ours, or that has another schema already.
const RegisteredOp& register_op(CustomOp op);

/// nullptr for a target that nobody registered.
const RegisteredOp* custom_op(std::string_view target);

/// Runs its function on the operands themselves, to which one of a library may do what it does not declare; `eval`
/// hands such a function copies, and what it may write to.
std::vector<Tensor> run_custom(const RegisteredOp& op, const Arguments<Tensor>& arguments);

/// Of one that was registered so.
bool left_to_reference(std::string_view target);
/// The shared library that registers the op with LibTorch; empty: none does.
std::string op_library(std::string_view target);
/// The shared libraries that ops of the registry come from, each once, in order of name. What they do to LibTorch
/// beside (kernels of other ops, passes of TorchScript) counts as well.
std::vector<std::string> op_libraries();

}  // namespace whittle
