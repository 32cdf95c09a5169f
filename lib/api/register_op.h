// register_op(): an operation of the program's own with a schema, as TORCH_LIBRARY and torch.library define one:
//
//   const auto scale = whittle::register_op("my::scale(Tensor x, float by=2) -> Tensor",
//                                           [](Tensor x, double by) { return my_scale(x, by); })
//                          .register_fake([](Tensor x, double) { return whittle::empty_like(x); })
//                          .register_autograd([](Tensor grad, Tensor, double by) { return grad * by; });
//   Tensor y = scale(x);
//
// It runs eagerly, is one operation of a graph (my.scale.default), and whatever backend does not have it compiles what
// is around it. A tensor that the schema marks as written, Tensor(a!), the function writes to; in a graph the operation
// then gives what is written (my.bump_.default_functional), and a copy_ behind it writes.
//
// The schema is a promise: that nothing else is written, and that no result shares memory with an argument or with
// another one. The backend eager_debug holds the function to it, aot_eager_decomp_partition_crossref to what
// register_fake() says, too.
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

/// What register_op() returns: called as the function itself; the last arguments may be left out where the schema has
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

    /// What kinds of tensors it gives: called with the operation's arguments, tensors that hold zeros; of what it
    /// returns only dtypes, sizes and strides count. Without one the function itself is tried on zeros.
    template <class F>
    DeclaredOp& register_fake(F fake) {
        const std::function typed(std::move(fake));
        detail::declare_fake(*op_, detail::op_signature(typed), detail::op_kernel(typed));
        return *this;
    }
    /// Its gradient: called with a gradient for each result, then the operation's arguments; returns the gradient of
    /// each Tensor and Tensor? parameter, where undefined stands for zeros. Of what it computes there is no gradient.
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
/// (numbers also of other widths), and returns a Tensor, a std::tuple of them, or nothing. An operation that is
/// registered again under the same schema has the new function. Throws std::exception, which names the column of the
/// schema, for a schema that is not understood, or that the function does not fit.
template <class F>
auto register_op(const std::string& schema, F function) {
    return DeclaredOp(schema, std::function(std::move(function)));
}

WHITTLE_API_END

#endif
