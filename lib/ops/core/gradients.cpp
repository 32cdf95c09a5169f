#include "ops/core/gradients.h"

#include "base/error.h"
#include "tensor/dtype.h"

namespace whittle {

CallGradients::CallGradients(GraphBuilder& builder, const Arguments<NodeValue>& args,
                             const std::vector<NodeValue>& results, const std::vector<std::optional<NodeValue>>& grads,
                             Needed needed)
    : b_(builder), args_(args), results_(results), grads_(grads), needed_(std::move(needed)) {}

void CallGradients::check(DType dtype) const {
    if (is_complex(dtype) && !takes_complex_)
        throw Error("found a complex gradient in aten." + args_.schema().name +
                        ", expected a real gradient: the op has no gradient rule for complex numbers",
                    "call detach() on the inputs of the op");
}

NodeValue CallGradients::grad(std::size_t index) {
    check(results_.at(index).meta.dtype);
    if (const std::optional<NodeValue>& given = grads_.at(index)) return *given;
    const ValueMeta& meta = results_.at(index).meta;
    return b_.call("aten.zeros.default", {Arg::ints(meta.sizes)}, {{"dtype", meta.dtype}});
}

bool CallGradients::needed(const NodeValue& operand) const {
    return is_inexact(operand.meta.dtype) && needed_(operand.ref);
}

std::optional<NodeValue> CallGradients::operand(std::string_view parameter) const {
    if (!args_.has(parameter)) return std::nullopt;
    const std::variant<NodeValue, Scalar> value = args_.operand(parameter);
    const NodeValue* tensor = std::get_if<NodeValue>(&value);
    return tensor ? std::optional(*tensor) : std::nullopt;
}

bool CallGradients::needed(std::string_view parameter) const {
    const std::optional<NodeValue> tensor = operand(parameter);
    return tensor && needed(*tensor);
}

void CallGradients::set(std::string_view parameter, const NodeValue& gradient) {
    if (const std::optional<NodeValue> tensor = operand(parameter)) set(*tensor, gradient);
}

void CallGradients::set(const NodeValue& operand, const NodeValue& gradient) {
    if (!needed(operand)) return;
    check(operand.meta.dtype);
    check(gradient.meta.dtype);
    NodeValue sum = sum_to_size(b_, gradient, operand.meta.sizes);
    if (is_complex(sum.meta.dtype) && !is_complex(operand.meta.dtype)) sum = b_.call("aten.real.default", {arg(sum)});
    parts_.push_back({operand.ref, b_.convert(sum, operand.meta.dtype)});
}

void no_gradient(GraphBuilder&, CallGradients&) {}

void zero_gradient(GraphBuilder& builder, CallGradients& call) {
    call.takes_complex();
    call.set("self", builder.call("aten.zeros_like.default", {arg(call.grad())}));
}

NodeValue sum_to_size(GraphBuilder& builder, const NodeValue& value, const Sizes& sizes) {
    const Sizes& from = value.meta.sizes;
    if (from == sizes) return value;
    const auto misfit = [&] {
        return Error("found a gradient of sizes " + to_string(from) + " for an operand of sizes " + to_string(sizes) +
                     ", expected sizes to which the operand broadcasts");
    };
    if (from.size() < sizes.size()) throw misfit();
    const std::size_t added = from.size() - sizes.size();
    std::vector<std::int64_t> leading, stretched;
    for (std::size_t i = 0; i < from.size(); ++i) {
        if (i < added)
            leading.push_back(static_cast<std::int64_t>(i));
        else if (sizes[i - added] == 1 && from[i] != 1)
            stretched.push_back(static_cast<std::int64_t>(i - added));
        else if (sizes[i - added] != from[i])
            throw misfit();
    }
    NodeValue sum = value;
    if (!leading.empty()) sum = builder.call("aten.sum.dim_IntList", {arg(sum), Arg::ints(leading), false});
    if (!stretched.empty()) sum = builder.call("aten.sum.dim_IntList", {arg(sum), Arg::ints(stretched), true});
    return sum;
}

}  // namespace whittle
