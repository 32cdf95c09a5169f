#include "backends/libtorch/boxed_call.h"

#include <ATen/core/Tensor.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/grad_mode.h>
#include <ATen/core/jit_type.h>
#include <c10/util/Exception.h>

#include <exception>
#include <sstream>

#include "backends/libtorch/values.h"
#include "base/error.h"
#include "ops/aten/earlier.h"

namespace whittle::aten {
namespace {

std::optional<c10::OperatorHandle> find(std::string_view target) {
    // NAMESPACE.NAME.OVERLOAD, or without an overload NAMESPACE.NAME.
    const std::size_t first = target.find('.'), last = target.rfind('.');
    if (first == std::string_view::npos) return std::nullopt;
    std::string overload(last == first ? "" : target.substr(last + 1));
    if (overload == "default") overload.clear();
    const std::size_t end = last == first ? target.size() : last;
    const auto found = c10::Dispatcher::singleton().findSchema(
        {std::string(target.substr(0, first)) + "::" + std::string(target.substr(first + 1, end - first - 1)),
         overload});
    if (!found) return std::nullopt;
    return *found;
}

/// The arguments in the order of the schema; null where the schema's default holds.
std::vector<const Arg*> bind(const Node& call, const c10::FunctionSchema& schema) {
    const std::vector<c10::Argument>& parameters = schema.arguments();
    std::vector<const Arg*> bound(parameters.size());
    if (call.args.size() > parameters.size())
        throw Error("found " + std::to_string(call.args.size()) + " arguments, expected at most the " +
                    std::to_string(parameters.size()) + " of LibTorch's " + call.target);
    for (std::size_t i = 0; i < call.args.size(); ++i) bound[i] = &call.args[i];
    for (const auto& [key, arg] : call.kwargs) {
        const c10::optional<int> position = schema.argumentIndexWithName(key);
        if (!position) throw Error("found an argument '" + key + "', which LibTorch's " + call.target + " has not");
        bound[static_cast<std::size_t>(*position)] = &arg;
    }
    return bound;
}

/// A result's tensors: one, or a list of them.
void flatten(const c10::IValue& value, Memory& memory, std::vector<std::optional<Tensor>>& results) {
    if (value.isTensor()) {
        const at::Tensor& tensor = value.toTensor();
        results.push_back(tensor.defined() ? std::optional(memory.take(tensor)) : std::nullopt);
    } else if (value.isTensorList()) {
        for (const at::Tensor& tensor : value.toTensorVector()) results.push_back(memory.take(tensor));
    } else {
        throw Error("found a result of LibTorch's type " + value.tagKind() + ", expected tensors");
    }
}

void check_writable(const c10::Argument& parameter, const Arg& arg, const Operands& operands) {
    if (!parameter.alias_info() || !parameter.alias_info()->isWrite() || !arg.node()) return;
    if (Memory::writable(operands(*arg.node()))) return;
    throw Error("argument '" + parameter.name() +
                "' is written to: found a tensor with negative strides or in memory that cannot be written");
}

c10::OperatorHandle require(std::string_view target) {
    if (const auto op = find(target)) return *op;
    throw Error("LibTorch has no op '" + std::string(target) + "'");
}

/// The call as this LibTorch spells it.
Node spelled(const Node& call) { return find(call.target) ? call : with_earlier_target(call); }

/// f(), with LibTorch's own words where it refuses: it throws its own errors, its libraries and its derivatives others.
template <class F>
auto in_libtorch(F f) {
    try {
        return f();
    } catch (const c10::Error& error) {
        throw Error("LibTorch: " + std::string(error.what_without_backtrace()));
    } catch (const Error&) {
        throw;
    } catch (const std::exception& error) {
        throw Error("LibTorch: " + std::string(error.what()));
    }
}

/// The call's results as the dispatcher gives them.
std::vector<c10::IValue> run(const c10::OperatorHandle& op, const Node& call, const Operands& operands,
                             const Lend& lend) {
    const c10::FunctionSchema& schema = op.schema();
    const std::vector<const Arg*> bound = bind(call, schema);
    std::vector<c10::IValue> stack;
    for (std::size_t i = 0; i < bound.size(); ++i) {
        const c10::Argument& parameter = schema.arguments()[i];
        const bool optional = parameter.real_type()->kind() == c10::TypeKind::OptionalType;
        if (!bound[i] && !parameter.default_value() && !optional)
            throw Error("found no argument '" + parameter.name() + "', which LibTorch's " + call.target + " wants");
        if (bound[i]) check_writable(parameter, *bound[i], operands);
        if (bound[i])
            stack.push_back(boxed(*bound[i], parameter, lend));
        else
            stack.push_back(parameter.default_value().value_or(c10::IValue()));
    }
    op.callBoxed(stack);
    return stack;
}

}  // namespace

std::optional<std::string> schema_of(std::string_view target) {
    auto op = find(target);
    if (!op) op = find(earlier_target(target));
    if (!op) return std::nullopt;
    std::ostringstream text;
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
             run(op, call, operands, [&](NodeRef operand) { return memory.lend(operands(operand)); }))
            flatten(value, memory, results);
        return results;
    });
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
        for (const c10::IValue& value : run(op, call, operands, lend)) {
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
            const at::Tensor term = results[i].mul(memory.lend(tangents.at(i))).sum();
            loss = loss.defined() ? loss.add(term) : term;
        }
        if (loss.defined()) loss.backward();
        for (const auto& [operand, leaf] : leaves)
            if (leaf.grad().defined()) found.gradients.emplace(operand, memory.take(leaf.grad()));
        return found;
    });
}

}  // namespace whittle::aten
