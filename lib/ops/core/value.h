// A value of the graph that is being built, and a call that is being written in other ops. Decompositions and gradient
// rules are formulas of values: x * sigmoid(x). ATen's ops are functions of values, see ops/aten/calls.h.
#pragma once

#include <array>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <vector>

#include "ops/core/arguments.h"
#include "ops/core/builder.h"

namespace whittle {

using Ints = std::vector<std::int64_t>;
using OptionalV = std::optional<V>;
using Vs = std::vector<V>;

/// What a decomposition returns: one value for each result of the call.
struct CallResults : Vs {
    CallResults(V value) : Vs{std::move(value)} {}
    CallResults(std::initializer_list<V> values) : Vs(values) {}
    CallResults(Vs values) : Vs(std::move(values)) {}
    template <std::size_t N>
    CallResults(const std::array<V, N>& values) : Vs(values.begin(), values.end()) {}
};
std::vector<NodeRef> refs_of(const Vs& values);

/// A call of an op that is being written in other ops: its arguments by the names of its parameters, and the graph that
/// it is written to.
class Call : public Arguments<V> {
  public:
    /// As Arguments; `builder` outlives this.
    template <class... Rest>
    explicit Call(GraphBuilder& builder, const Rest&... rest) : Arguments<V>(rest...), builder_(builder) {}

    GraphBuilder& builder() const { return builder_; }
    V constant(const Tensor& value, const std::string& name_hint = "constant") const {
        return builder_.constant(value, name_hint);
    }
    /// A Tensor parameter, which may have been given as a number.
    Arg given(std::string_view name) const;

  private:
    GraphBuilder& builder_;
};

/// Appends a call of `target`, registered. `args` has an argument for each parameter of the schema; those that are
/// equal to their default are left out as far as positions allow. Throws Error when arguments do not fit.
V call(GraphBuilder& builder, std::string_view target, ArgList args);
Vs call_multi(GraphBuilder& builder, std::string_view target, ArgList args);
template <std::size_t N>
std::array<V, N> call_multi(GraphBuilder& builder, std::string_view target, ArgList args) {
    const Vs results = call_multi(builder, target, std::move(args));
    std::array<V, N> array;
    for (std::size_t i = 0; i < N; ++i) array[i] = results.at(i);
    return array;
}

// What calls.h is made of.
/// The builder of the first. Throws Error where there is none.
GraphBuilder& builder_of(const Vs& values);
inline Arg as_arg(const V& value) { return Arg(value.ref); }
inline Arg as_arg(const Scalar& value) { return Arg(value); }
inline Arg as_arg(const Ints& values) { return Arg::ints(values); }
inline Arg as_arg(const std::string& text) { return Arg(text); }
template <class T>
requires std::is_arithmetic_v<T> || std::is_same_v<T, DType> || std::is_same_v<T, GraphRef> Arg as_arg(const T& value) {
    return Arg(value);
}
template <class T>
requires(!std::is_same_v<T, std::int64_t>) Arg as_arg(const std::vector<T>& values) {
    ArgList list;
    for (const T& value : values) list.push_back(as_arg(value));
    return list;
}
template <class T>
Arg as_arg(const std::optional<T>& value) {
    return value ? as_arg(*value) : Arg();
}

// Arithmetic, as aten.add.Tensor and its like; y may be a number.
V operator+(const V& x, const Arg& y);
V operator-(const V& x, const Arg& y);
V operator*(const V& x, const Arg& y);
V operator/(const V& x, const Arg& y);
V operator-(const V& x);

}  // namespace whittle
