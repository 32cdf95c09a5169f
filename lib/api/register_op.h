// register_op(): defines a custom operation with a schema, as TORCH_LIBRARY and torch.library do:
//
//   const auto scale = whittle::register_op("my::scale(Tensor x, float by=2) -> Tensor",
//                                           [](Tensor x, double by) { return my_scale(x, by); })
//                          .register_fake([](Tensor x, double) { return whittle::empty_like(x); })
//                          .register_autograd([](Tensor grad, Tensor, double by) { return grad * by; });
//   Tensor y = scale(x);
//
// It runs eagerly, and is one operation of a graph (my.scale.default). A backend that does not implement it compiles
// the operations around it. The function writes to tensors that the schema marks as written, Tensor(a!). In a graph the
// operation returns these values (my.bump_.default_functional), and a copy_ after it writes them.
//
// The schema promises that nothing else is written, and that no result shares memory with an argument or another
// result. The backend eager_debug checks that; aot_eager_decomp_partition_crossref also checks the results of
// register_fake().
#ifndef WHITTLE_API_REGISTER_OP_H
#define WHITTLE_API_REGISTER_OP_H

#include <whittle/api/custom.h>

#include <memory>

WHITTLE_API_BEGIN

namespace detail {

/// Types that a function takes, and how many tensors it returns.
struct OpSignature {
    std::vector<std::size_t> kinds;  ///< alternatives of OpValue
    std::size_t results;
};
template <class R, class... Args>
OpSignature op_signature(const std::function<R(Args...)>&) {
    return {{op_kind<std::decay_t<Args>>()...}, OpResults<std::decay_t<R>>::count};
}

struct DeclaredOp;
std::shared_ptr<DeclaredOp> declare_op(const std::string& schema, const OpSignature& signature, OpKernel kernel);
void declare_fake(DeclaredOp& op, const OpSignature& signature, OpKernel fake);
void declare_autograd(DeclaredOp& op, const OpSignature& signature, OpKernel backward);
TensorList call_op(const DeclaredOp& op, const std::vector<OpValue>& arguments, void* pc);

}  // namespace detail

/// The result of register_op(), called like the function itself. Arguments at the end may be left out if the schema has
/// defaults for them.
template <class R, class... Args>
class DeclaredOp {
  public:
    DeclaredOp(const std::string& schema, std::function<R(Args...)> function)
        : op_(detail::declare_op(schema, detail::op_signature(function), detail::op_kernel(std::move(function)))) {}

    WHITTLE_API_CALL std::decay_t<R> operator()(const std::decay_t<Args>&... arguments) const {
        return detail::OpResults<std::decay_t<R>>::from(
            detail::call_op(*op_, {detail::op_value(arguments)...}, __builtin_return_address(0)));
    }
    template <class... Given, class = std::enable_if_t<(sizeof...(Given) < sizeof...(Args))>>
    WHITTLE_API_CALL std::decay_t<R> operator()(const Given&... arguments) const {
        return detail::OpResults<std::decay_t<R>>::from(detail::call_op(
            *op_, leading(std::index_sequence_for<Given...>(), arguments...), __builtin_return_address(0)));
    }

    /// Sets the function that infers the results: it is called with the operation's arguments, whose tensors hold
    /// zeros, and only dtypes, sizes and strides of its results count. Without one, the operation itself runs on zeros.
    template <class F>
    DeclaredOp& register_fake(F fake) {
        const std::function typed(std::move(fake));
        detail::declare_fake(*op_, detail::op_signature(typed), detail::op_kernel(typed));
        return *this;
    }
    /// Sets the gradient: a function that takes a gradient for each result, then the operation's arguments, and returns
    /// the gradient of each Tensor and Tensor? parameter; undefined means zeros. It cannot be differentiated again.
    template <class F>
    DeclaredOp& register_autograd(F backward) {
        const std::function typed(std::move(backward));
        detail::declare_autograd(*op_, detail::op_signature(typed), detail::op_kernel(typed));
        return *this;
    }

  private:
    template <std::size_t... i, class... Given>
    static std::vector<detail::OpValue> leading(std::index_sequence<i...>, const Given&... arguments) {
        using All = std::tuple<std::decay_t<Args>...>;
        return {detail::op_value<std::tuple_element_t<i, All>>(arguments)...};
    }

    std::shared_ptr<detail::DeclaredOp> op_;
};

/// The schema is NAMESPACE::NAME or NAMESPACE::NAME.OVERLOAD with parameters and results in ATen's notation. The
/// function takes for Tensor, int, float, bool, str, Scalar, ScalarType, Tensor[], int[], float[], Tensor?, int? and
/// float? a Tensor, std::int64_t, double, bool, std::string, Scalar, ScalarType, std::vector and std::optional of them
/// (numbers also of other widths), and returns a Tensor, a std::tuple of them, or nothing. A second registration under
/// the same schema replaces the function. Throws std::exception, which names the column of the schema, for a schema
/// that cannot be read or that does not fit the function.
template <class F>
auto register_op(const std::string& schema, F function) {
    return DeclaredOp(schema, std::function(std::move(function)));
}

WHITTLE_API_END

#endif
