// What the ONNX dialect's decompositions share: writing ATen calls and operands that must be constants.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/error.h"
#include "ops/onnx/families.h"

namespace whittle::onnx_dialect {

using Ints = std::vector<std::int64_t>;
using Results = std::vector<NodeRef>;

/// One call of an ONNX op on its way to ATen calls: its arguments and the graph they are written to.
class Rewrite {
  public:
    Rewrite(GraphBuilder& builder, const Arguments<NodeValue>& arguments) : builder_(builder), arguments_(arguments) {}

    const Arguments<NodeValue>& arguments() const { return arguments_; }
    GraphBuilder& builder() const { return builder_; }
    /// Version of ai.onnx; the newest that Whittle reads when the graph does not say.
    std::int64_t opset() const;

    NodeValue tensor(std::string_view name) const { return arguments_.tensor(name); }
    bool has(std::string_view name) const { return arguments_.has(name); }
    /// The attribute, or what stands for a missing one.
    std::int64_t integer(std::string_view name) const { return arguments_.integer(name); }
    /// Float attributes have 32 bits, their defaults too.
    double number(std::string_view name) const { return static_cast<float>(arguments_.number(name)); }

    /// op(x, y, 1.5): a call with one result; values become references.
    template <class... Args>
    NodeValue operator()(std::string_view target, const Args&... args) const {
        ArgList list;
        list.reserve(sizeof...(args));
        (list.push_back(as_arg(args)), ...);
        return builder_.call(target, std::move(list));
    }

    NodeValue constant(const Tensor& value) const { return builder_.constant(value); }
    NodeValue ints(const Ints& values) const;
    /// The value as `dtype`, itself when it is that already.
    NodeValue cast(const NodeValue& value, DType dtype) const;
    NodeValue reshape(const NodeValue& value, const Sizes& sizes) const;
    NodeValue permute(const NodeValue& value, const Ints& dims) const;
    NodeValue full(const Sizes& sizes, const Scalar& value, DType dtype) const;
    /// Elements start, start + step … before end of one dimension; start and end in bounds, step > 0.
    NodeValue slice(const NodeValue& value, std::int64_t dim, std::int64_t start, std::int64_t end,
                    std::int64_t step = 1) const;
    NodeValue concat(const std::vector<NodeValue>& values, std::int64_t dim) const;

    /// The operand's elements. Throws Error naming it when they are computed while the graph runs.
    Tensor known(std::string_view name) const;
    Ints known_ints(std::string_view name) const;
    /// Nothing when the operand is missing.
    std::optional<Ints> known_ints_if(std::string_view name) const;

    /// Throws Error unless the attribute is missing: it became an input, or means nothing, since that opset.
    void no_attribute(std::string_view name, std::int64_t since) const;

  private:
    static Arg as_arg(const NodeValue& value) { return Arg(value.ref); }
    static Arg as_arg(const std::vector<NodeValue>& values) { return args_list(values); }
    static Arg as_arg(const Ints& values) { return Arg::ints(values); }
    template <class T>
    static Arg as_arg(const T& value) {
        return Arg(value);
    }

    GraphBuilder& builder_;
    const Arguments<NodeValue>& arguments_;
};

/// 0 … rank-1.
Ints all_dims(std::int64_t rank);
/// Dimensions in 0 … rank-1, each once, in ascending order. Throws Error for others.
Ints wrap_dims(const Ints& dims, std::int64_t rank);
/// The size of dimension dim, which is not negative. Throws Error where there is none (wrap_dim allows 0 for 0-d
/// values).
std::int64_t size_of_dim(const NodeValue& value, std::int64_t dim);
/// TensorProto.DataType to dtype. Throws Error for types Whittle does not have.
DType dtype_of_code(std::int64_t code);

/// The same of an attribute that says which float is computed in. Throws Error naming it for other types.
DType float_of_code(std::string_view attribute, std::int64_t code);

/// A compile-time string, so that a decomposition can be a template over its ATen op.
template <std::size_t N>
struct Name {
    char text[N] = {};
    constexpr Name(const char (&name)[N]) { std::copy_n(name, N, text); }
    constexpr operator std::string_view() const { return {text, N - 1}; }
};

/// Ops that ATen has under another name, with the same operands in the same order.
template <Name Target>
Results same_as_unary(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op(Target, op.tensor(arguments.schema().params[0].name)).ref};
}
template <Name Target>
Results same_as_binary(GraphBuilder& builder, const Arguments<NodeValue>& arguments) {
    const Rewrite op(builder, arguments);
    return {op(Target, op.tensor(arguments.schema().params[0].name), op.tensor(arguments.schema().params[1].name)).ref};
}

}  // namespace whittle::onnx_dialect
