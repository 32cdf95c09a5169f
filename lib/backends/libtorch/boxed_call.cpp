#include "backends/libtorch/boxed_call.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/ivalue.h>
#include <ATen/core/jit_type.h>
#include <ATen/ops/empty_strided.h>
#include <ATen/ops/real.h>

#include <locale>
#include <sstream>

#include "backends/libtorch/operators.h"
#include "backends/libtorch/values.h"
#include "base/error.h"
#include "ops/aten/earlier.h"

namespace whittle::aten {
namespace {

/// A result's tensors: one, or a list of them.
void flatten(const c10::IValue& value, Memory& memory, std::vector<std::optional<Tensor>>& results) {
    if (value.isTensor()) {
        const at::Tensor& tensor = value.toTensor();
        results.push_back(tensor.defined() ? std::optional(memory.take(tensor)) : std::nullopt);
    } else if (value.isTensorList()) {
        for (const at::Tensor& tensor : value.toTensorVector()) results.push_back(memory.take(tensor));
    } else {
        throw Error("found a result of LibTorch's type " + value.tagKind() +
                    ", expected a tensor or a list of tensors");
    }
}

void check_writable(const c10::Argument& parameter, const Arg& arg, const Operands& operands) {
    if (!parameter.alias_info() || !parameter.alias_info()->isWrite() || !arg.node()) return;
    if (Memory::writable(operands(*arg.node()))) return;
    throw Error(
        "the op writes to argument '" + parameter.name() +
        "': found a tensor with negative strides or in read-only memory, expected a tensor that can be written to");
}

c10::OperatorHandle require(std::string_view target) {
    if (const auto op = find_operator(target)) return *op;
    throw Error("LibTorch has no op '" + std::string(target) + "'");
}

/// The arguments as the dispatcher takes them.
std::vector<c10::IValue> stack_of(const c10::OperatorHandle& op, const Node& call, const Lend& lend) {
    const c10::FunctionSchema& schema = op.schema();
    const std::vector<const Arg*> bound = bind(call, schema);
    std::vector<c10::IValue> stack;
    for (std::size_t i = 0; i < bound.size(); ++i) {
        const c10::Argument& parameter = schema.arguments()[i];
        stack.push_back(bound[i] ? boxed(*bound[i], parameter, lend) : default_of(call, parameter));
    }
    return stack;
}

/// The call's results as the dispatcher gives them.
std::vector<c10::IValue> run_dispatched(const c10::OperatorHandle& op, const Node& call, const Operands& operands,
                                        const Lend& lend) {
    const std::vector<const Arg*> bound = bind(call, op.schema());
    for (std::size_t i = 0; i < bound.size(); ++i)
        if (bound[i]) check_writable(op.schema().arguments()[i], *bound[i], operands);
    std::vector<c10::IValue> stack = stack_of(op, call, lend);
    op.callBoxed(stack);
    return stack;
}

/// A result's kinds of tensors, as flatten() has it.
void flatten(const c10::IValue& value, std::vector<ValueMeta>& metas) {
    const auto add = [&](const at::Tensor& tensor) {
        metas.push_back({.dtype = dtype_of(tensor.scalar_type()),
                         .sizes = Sizes(tensor.sizes().begin(), tensor.sizes().end()),
                         .strides = Strides(tensor.strides().begin(), tensor.strides().end())});
    };
    if (value.isTensor()) return add(value.toTensor());
    for (const at::Tensor& tensor : value.toTensorVector()) add(tensor);
}

}  // namespace

std::optional<std::string> schema_of(std::string_view target) {
    auto op = find_operator(target);
    if (!op) op = find_operator(earlier_target(target));
    if (!op) return std::nullopt;
    std::ostringstream text;
    text.imbue(std::locale::classic());  // not the program's, which may write 0,5
    text << op->schema();
    return text.str().substr(text.str().find("::") + 2);
}

std::vector<std::optional<Tensor>> call_boxed(const Node& named, const Operands& operands) {
    const Node call = spelled(named);
    const c10::OperatorHandle op = require(call.target);
    return in_libtorch([&] {
        const at::NoGradGuard no_grad;
        Memory memory;
        std::vector<std::optional<Tensor>> results;
        for (const c10::IValue& value :
             run_dispatched(op, call, operands, [&](NodeRef operand) { return memory.lend(operands(operand)); }))
            flatten(value, memory, results);
        return results;
    });
}

std::optional<std::vector<ValueMeta>> infer_boxed(const Node& named,
                                                  const std::function<ValueMeta(NodeRef)>& operands) {
    const Node call = spelled(named);
    const c10::OperatorHandle op = require(call.target);
    const auto without_elements = [&](NodeRef operand) {
        const ValueMeta meta = operands(operand);
        return at::empty_strided(meta.sizes, meta.strides,
                                 at::TensorOptions().device(at::kMeta).dtype(scalar_type(meta.dtype)));
    };
    // There is no autograd of such tensors for ops that say nothing of one.
    const c10::impl::ExcludeDispatchKeyGuard no_autograd(c10::autograd_dispatch_keyset);
    std::vector<c10::IValue> stack = in_libtorch([&] { return stack_of(op, call, without_elements); });
    try {
        op.callBoxed(stack);
        std::vector<ValueMeta> metas;
        for (const c10::IValue& value : stack) flatten(value, metas);
        return metas;
    } catch (const std::exception&) {  // LibTorch's own errors, and those of the library's kernel
        return std::nullopt;
    }
}

BoxedGradients differentiate_boxed(const Node& call, const Operands& operands, const std::vector<Tensor>& tangents,
                                   const std::set<NodeId>& wanted) {
    const c10::OperatorHandle op = require(call.target);
    return in_libtorch([&] {
        const at::AutoGradMode grad(true);
        Memory memory;
        std::map<NodeId, at::Tensor> leaves;
        const auto lend = [&](NodeRef operand) {
            const auto [found, is_new] = leaves.try_emplace(operand.id);
            if (is_new) found->second = memory.lend(operands(operand).with_requires_grad(wanted.contains(operand.id)));
            return found->second;
        };
        std::vector<at::Tensor> results;
        for (const c10::IValue& value : run_dispatched(op, call, operands, lend)) {
            if (value.isTensorList())
                for (const at::Tensor& tensor : value.toTensorVector()) results.push_back(tensor);
            else
                results.push_back(value.toTensor());
        }
        BoxedGradients found;
        at::Tensor loss;
        for (std::size_t i = 0; i < results.size(); ++i) {
            found.differentiable.push_back(results[i].defined() && results[i].requires_grad());
            if (!found.differentiable[i]) continue;
            // By it, and for complex numbers as PyTorch has it, the gradient of this real loss is the tangent.
            const at::Tensor term = at::real(results[i].mul(memory.lend(tangents.at(i)).conj())).sum();
            loss = loss.defined() ? loss.add(term) : term;
        }
        if (loss.defined()) loss.backward();
        for (const auto& [operand, leaf] : leaves)
            if (leaf.grad().defined()) found.gradients.emplace(operand, memory.take(leaf.grad()));
        return found;
    });
}

}  // namespace whittle::aten
