// allow_in_graph(): a function of the program's own as one operation of a graph, which capture does not look into. For
// hand-written kernels and calls into other libraries, which would break the graph or, worse, be missed.
//
//   const auto scale = whittle::allow_in_graph("mylib.scale", [](Tensor x, double by) { return my_scale(x, by); });
//   Tensor y = scale(x, 0.5);
//
// The function takes tensors, numbers, bools and strings, returns a tensor or a tuple of tensors, and only computes:
// its results depend on its arguments alone and share no memory with them. What kinds of tensors it returns is found
// out by running it on zeros, when a call of it is recorded.
//
// A backend that cannot compile the operation fails, with its own words, instead of breaking the graph: `eager` runs
// it. Records of such graphs can be replayed by this program's process only.
#ifndef WHITTLE_API_CUSTOM_H
#define WHITTLE_API_CUSTOM_H

#include <whittle/api/tensor.h>

#include <functional>
#include <variant>

WHITTLE_API_BEGIN

namespace detail {

using OpValue = std::variant<Tensor, std::int64_t, double, bool, std::string>;
using OpKernel = std::function<TensorList(const std::vector<OpValue>&)>;

/// Returns the operation's name, for the life of the process. `kinds`: alternatives of OpValue, one per parameter.
const char* allow_op(const std::string& name, const std::vector<std::size_t>& kinds, std::size_t results,
                     OpKernel kernel);
TensorList call_op(const char* op, const std::vector<OpValue>& arguments, void* pc);

template <class T>
constexpr std::size_t op_kind() {
    if constexpr (std::is_same_v<T, Tensor>)
        return 0;
    else if constexpr (std::is_same_v<T, bool>)
        return 3;
    else if constexpr (std::is_integral_v<T>)
        return 1;
    else if constexpr (std::is_floating_point_v<T>)
        return 2;
    else {
        static_assert(std::is_same_v<T, std::string>, "expected a Tensor, a number, a bool or a std::string");
        return 4;
    }
}

/// The alternative of OpValue that stands for a T.
template <class T>
using OpStored = std::variant_alternative_t<op_kind<T>(), OpValue>;

template <class T>
struct OpResults {
    static_assert(std::is_same_v<T, Tensor>, "expected a function that returns a Tensor or a std::tuple of them");
    static constexpr std::size_t count = 1;
    static TensorList list(T value) { return {std::move(value)}; }
    static T from(const TensorList& values) { return values.at(0); }
};
template <class... T>
struct OpResults<std::tuple<T...>> {
    static_assert((std::is_same_v<T, Tensor> && ...), "expected a tuple of Tensors");
    static constexpr std::size_t count = sizeof...(T);
    static TensorList list(const std::tuple<T...>& values) {
        return std::apply([](const auto&... each) { return TensorList{each...}; }, values);
    }
    static std::tuple<T...> from(const TensorList& values) { return from(values, std::make_index_sequence<count>()); }

  private:
    template <std::size_t... i>
    static std::tuple<T...> from(const TensorList& values, std::index_sequence<i...>) {
        return {values.at(i)...};
    }
};

}  // namespace detail

/// What allow_in_graph() returns: called as the function itself.
template <class R, class... Args>
class AllowedInGraph {
  public:
    AllowedInGraph(const std::string& name, std::function<R(Args...)> function)
        : op_(detail::allow_op(name, {detail::op_kind<std::decay_t<Args>>()...}, detail::OpResults<R>::count,
                               [function = std::move(function)](const std::vector<detail::OpValue>& values) {
                                   return run(function, values, std::index_sequence_for<Args...>());
                               })) {}

    WHITTLE_API_CALL R operator()(const std::decay_t<Args>&... arguments) const {
        const std::vector<detail::OpValue> values = {
            detail::OpValue(std::in_place_index<detail::op_kind<std::decay_t<Args>>()>,
                            static_cast<const detail::OpStored<std::decay_t<Args>>&>(arguments))...};
        return detail::OpResults<R>::from(detail::call_op(op_, values, __builtin_return_address(0)));
    }

  private:
    template <std::size_t... i>
    static TensorList run(const std::function<R(Args...)>& function, const std::vector<detail::OpValue>& values,
                          std::index_sequence<i...>) {
        return detail::OpResults<R>::list(function(
            static_cast<std::decay_t<Args>>(std::get<detail::op_kind<std::decay_t<Args>>()>(values.at(i)))...));
    }

    const char* op_;
};

/// Throws std::exception for a name that is not NAMESPACE.NAME, or that another kind of function has.
template <class F>
auto allow_in_graph(const std::string& name, F function) {
    return AllowedInGraph(name, std::function(std::move(function)));
}

WHITTLE_API_END

#endif
