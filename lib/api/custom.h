// allow_in_graph(): makes a function of the program one operation of a graph, into which capture does not look. For
// hand-written kernels and calls into other libraries, which would break the graph or, worse, not be captured.
//
//   const auto scale = whittle::allow_in_graph("mylib.scale", [](Tensor x, double by) { return my_scale(x, by); });
//   Tensor y = scale(x, 0.5);
//
// The function takes tensors, numbers, bools, strings and lists, returns a tensor or a tuple of tensors, and only
// computes: its results depend on its arguments alone and share no memory with them. To find the sizes and dtypes of
// its results, Whittle runs it on zeros when a call of it is recorded.
//
// A backend that cannot compile the operation fails with a message of its own and does not break the graph; `eager`
// runs it. Only this program's process can replay records of such graphs. register_op.h has operations with schemas.
#ifndef WHITTLE_API_CUSTOM_H
#define WHITTLE_API_CUSTOM_H

#include <whittle/api/tensor.h>

#include <functional>
#include <variant>

WHITTLE_API_BEGIN

namespace detail {

/// In the order of their schema types, which are in op_kernel.cpp.
using OpValue = std::variant<Tensor, std::int64_t, double, bool, std::string, Scalar, ScalarType, TensorList,
                             std::vector<std::int64_t>, std::vector<double>, OptionalTensor,
                             std::optional<std::int64_t>, std::optional<double>>;
using OpKernel = std::function<TensorList(const std::vector<OpValue>&)>;

/// Returns the operation's name, for the life of the process. `kinds`: alternatives of OpValue, one per parameter.
const char* allow_op(const std::string& name, const std::vector<std::size_t>& kinds, std::size_t results,
                     OpKernel kernel);
TensorList call_op(const char* op, const std::vector<OpValue>& arguments, void* pc);

/// The position of T among the alternatives of OpValue; how many there are if it is none.
template <class T, std::size_t i = 0>
constexpr std::size_t op_position() {
    if constexpr (i == std::variant_size_v<OpValue>)
        return i;
    else if constexpr (std::is_same_v<T, std::variant_alternative_t<i, OpValue>>)
        return i;
    else
        return op_position<T, i + 1>();
}

/// Numbers of all widths are int64_t and double.
template <class T>
constexpr std::size_t op_kind() {
    if constexpr (op_position<T>() != std::variant_size_v<OpValue>)
        return op_position<T>();
    else if constexpr (std::is_integral_v<T>)
        return op_position<std::int64_t>();
    else {
        static_assert(std::is_floating_point_v<T>,
                      "expected a Tensor, a number, a bool, a std::string, a Scalar, a ScalarType, a std::vector of "
                      "Tensors, std::int64_t or double, or a std::optional Tensor, std::int64_t or double");
        return op_position<double>();
    }
}

/// The alternative of OpValue that stands for a T.
template <class T>
using OpStored = std::variant_alternative_t<op_kind<T>(), OpValue>;

template <class T>
struct OpResults {
    static_assert(std::is_same_v<T, Tensor>, "expected a function that returns a Tensor or a std::tuple of Tensors");
    static constexpr std::size_t count = 1;
    static TensorList list(T value) { return {std::move(value)}; }
    static T from(const TensorList& values) { return values.at(0); }
};
template <>
struct OpResults<void> {
    static constexpr std::size_t count = 0;
    static void from(const TensorList&) {}
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

template <class... T, std::size_t... i>
std::tuple<T...> op_arguments(const std::vector<OpValue>& values, std::index_sequence<i...>) {
    return {static_cast<T>(std::get<op_kind<T>()>(values.at(i)))...};
}

/// The kernel that calls the function.
template <class R, class... Args>
OpKernel op_kernel(std::function<R(Args...)> function) {
    return [function = std::move(function)](const std::vector<OpValue>& values) {
        auto arguments = op_arguments<std::decay_t<Args>...>(values, std::index_sequence_for<Args...>());
        if constexpr (std::is_void_v<R>)
            return std::apply(function, arguments), TensorList();
        else
            return OpResults<std::decay_t<R>>::list(std::apply(function, arguments));
    };
}

/// The argument as the call takes it.
template <class T>
OpValue op_value(const T& argument) {
    return OpValue(std::in_place_index<op_kind<T>()>, static_cast<const OpStored<T>&>(argument));
}

}  // namespace detail

/// The result of allow_in_graph(), called like the function itself.
template <class R, class... Args>
class AllowedInGraph {
    static_assert(detail::OpResults<R>::count > 0, "expected a function that returns something");

  public:
    AllowedInGraph(const std::string& name, std::function<R(Args...)> function)
        : op_(detail::allow_op(name, {detail::op_kind<std::decay_t<Args>>()...}, detail::OpResults<R>::count,
                               detail::op_kernel(std::move(function)))) {}

    WHITTLE_API_CALL R operator()(const std::decay_t<Args>&... arguments) const {
        return detail::OpResults<R>::from(
            detail::call_op(op_, {detail::op_value(arguments)...}, __builtin_return_address(0)));
    }

  private:
    const char* op_;
};

/// Returns the function as an operation of that name. Throws std::exception for a name that is not NAMESPACE.NAME, or
/// that is taken by an operation with another schema.
template <class F>
auto allow_in_graph(const std::string& name, F function) {
    return AllowedInGraph(name, std::function(std::move(function)));
}

WHITTLE_API_END

#endif
