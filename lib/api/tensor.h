// whittle::Tensor: a handle to a strided tensor, with ATen's names and semantics. Copying a Tensor copies the handle;
// views share memory. Outside of compile() an operation runs at once, on the reference kernels; inside, it is recorded
// and runs when the program needs its value: item(), a condition, printing, a data pointer.
//
// Errors: std::exception (the library's whittle::Error), which says what was found and what was expected.
#ifndef WHITTLE_API_TENSOR_H
#define WHITTLE_API_TENSOR_H

#include <whittle/api/types.h>

#include <functional>
#include <iosfwd>
#include <memory>
#include <string>
#include <tuple>
#include <variant>

#if !defined(WHITTLE_API_IMPLEMENTATION)
namespace whittle {
class Storage;
namespace detail {
template <class T, class = void>
struct IsComplete : std::false_type {};
template <class T>
struct IsComplete<T, std::void_t<decltype(sizeof(T))>> : std::true_type {};
static_assert(
    !IsComplete<Storage>::value,
    "include either <whittle/whittle.h> or the headers of graph/, tensor/ …, not both: both define whittle::Tensor");
}  // namespace detail
}  // namespace whittle
#endif

WHITTLE_API_BEGIN

struct TensorImpl;
class Tensor;

using OptionalTensor = std::optional<Tensor>;
using TensorList = std::vector<Tensor>;

class Tensor {
  public:
    /// An undefined tensor. As an argument it means "no tensor".
    Tensor() = default;

    bool defined() const { return impl_ != nullptr; }

    // Metadata, known without running anything.
    const std::vector<std::int64_t>& sizes() const;
    std::vector<std::int64_t> strides() const;
    std::int64_t size(std::int64_t dim) const;
    std::int64_t dim() const;
    std::int64_t numel() const;
    ScalarType dtype() const;
    ScalarType scalar_type() const { return dtype(); }
    bool is_contiguous() const;
    bool requires_grad() const;
    /// Sets the flag of a leaf: a tensor that is no result of an operation whose gradients are tracked.
    Tensor& requires_grad_(bool value = true);

    // Gradients (autograd.h has more).
    /// Adds, to grad() of every leaf that this tensor depends on, the leaf's gradient. `gradient` is the gradient of
    /// this tensor; it may be left out when the tensor has one element.
    void backward(const Tensor& gradient = {}, std::optional<bool> retain_graph = std::nullopt,
                  bool create_graph = false) const WHITTLE_API_CALL;
    /// Undefined before a backward() that reaches this tensor.
    const Tensor& grad() const;
    Tensor& mutable_grad() const;
    bool is_leaf() const;
    /// Makes backward() set grad() of this tensor, although it is no leaf.
    void retain_grad() const WHITTLE_API_CALL;
    /// Calls the hook with this tensor's gradient once that is known. A defined tensor that the hook returns replaces
    /// the gradient. Returns the hook's number.
    template <class F>
    WHITTLE_API_CALL unsigned register_hook(F hook) const {
        void* const pc = __builtin_return_address(0);
        if constexpr (std::is_void_v<std::invoke_result_t<F&, const Tensor&>>)
            return add_grad_hook([hook = std::move(hook)](const Tensor& g) mutable { return hook(g), Tensor(); }, pc);
        else
            return add_grad_hook(std::move(hook), pc);
    }
    void remove_hook(unsigned number) const;

    // These need the value: a graph break inside compile().
    /// Returns the number in a tensor with one element.
    template <class T>
    WHITTLE_API_PASSES_ON T item() const {
        return item_value().template to<T>();
    }
    /// The same, as a number of any kind. With .capture_scalar_outputs it does not break the graph: the number becomes
    /// a symbol with the tensor's present value, through which no gradient flows.
    Scalar item() const WHITTLE_API_CALL;
    Scalar item_value() const WHITTLE_API_CALL;
    /// The value of a tensor with one element, as a condition.
    explicit operator bool() const WHITTLE_API_CALL;
    /// Returns a pointer to the first element. Capture does not see writes through it.
    template <class T>
    WHITTLE_API_PASSES_ON T* data_ptr() const {
        return static_cast<T*>(data_pointer(scalar_type_of<T>()));
    }
    /// Returns all elements in row-major order.
    template <class T>
    std::vector<T> to_vector() const;
    /// Returns whether sizes and elements are equal.
    bool equal(const Tensor& other) const WHITTLE_API_CALL;
    bool allclose(const Tensor& other, double rtol = 1e-5, double atol = 1e-8) const WHITTLE_API_CALL;

    // Indexing. t[0] and slices are views; tensors as indices gather.
    Tensor operator[](std::int64_t index) const WHITTLE_API_CALL;
    using Index = std::variant<std::int64_t, Slice, Ellipsis, std::nullopt_t, Tensor>;
    Tensor index(const std::vector<Index>& indices) const WHITTLE_API_CALL;
    /// Writes `value`, broadcast, to the elements at the indices.
    Tensor& index_put_(const std::vector<Index>& indices, const Tensor& value) WHITTLE_API_CALL;
    Tensor& index_put_(const std::vector<Index>& indices, const Scalar& value) WHITTLE_API_CALL;

    Tensor operator-() const WHITTLE_API_CALL;
    Tensor& operator+=(const Tensor& other) WHITTLE_API_CALL;
    Tensor& operator-=(const Tensor& other) WHITTLE_API_CALL;
    Tensor& operator*=(const Tensor& other) WHITTLE_API_CALL;
    Tensor& operator/=(const Tensor& other) WHITTLE_API_CALL;
    Tensor& operator+=(const Scalar& other) WHITTLE_API_CALL;
    Tensor& operator-=(const Scalar& other) WHITTLE_API_CALL;
    Tensor& operator*=(const Scalar& other) WHITTLE_API_CALL;
    Tensor& operator/=(const Scalar& other) WHITTLE_API_CALL;

#include <whittle/aten/methods.h>

    /// The identity of the tensor, for `trace cc`.
    const void* whittle_identity() const { return impl_.get(); }
    const std::shared_ptr<TensorImpl>& impl() const { return impl_; }
    explicit Tensor(std::shared_ptr<TensorImpl> impl) : impl_(std::move(impl)) {}

  private:
    unsigned add_grad_hook(std::function<Tensor(const Tensor&)> hook, void* pc) const;
    void* data_pointer(ScalarType type) const WHITTLE_API_CALL;

    std::shared_ptr<TensorImpl> impl_;
};

WHITTLE_API_CALL Tensor operator+(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator+(const Tensor& a, const Scalar& b);
WHITTLE_API_CALL Tensor operator+(const Scalar& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator-(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator-(const Tensor& a, const Scalar& b);
WHITTLE_API_CALL Tensor operator-(const Scalar& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator*(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator*(const Tensor& a, const Scalar& b);
WHITTLE_API_CALL Tensor operator*(const Scalar& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator/(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator/(const Tensor& a, const Scalar& b);
WHITTLE_API_CALL Tensor operator/(const Scalar& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator<(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator<(const Tensor& a, const Scalar& b);
WHITTLE_API_CALL Tensor operator<=(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator<=(const Tensor& a, const Scalar& b);
WHITTLE_API_CALL Tensor operator>(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator>(const Tensor& a, const Scalar& b);
WHITTLE_API_CALL Tensor operator>=(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator>=(const Tensor& a, const Scalar& b);
WHITTLE_API_CALL Tensor operator==(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator==(const Tensor& a, const Scalar& b);
WHITTLE_API_CALL Tensor operator!=(const Tensor& a, const Tensor& b);
WHITTLE_API_CALL Tensor operator!=(const Tensor& a, const Scalar& b);
/// Prints the values: a graph break inside compile().
WHITTLE_API_CALL std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

/// Returns a tensor with a copy of `values`, in row-major order.
template <class T>
Tensor tensor(const std::vector<T>& values, const IntList& sizes);
template <class T>
Tensor tensor(std::initializer_list<T> values) {
    return tensor(std::vector<T>(values), {static_cast<std::int64_t>(values.size())});
}
/// 0-d; of the default dtype unless the type is given.
Tensor scalar_tensor(const Scalar& value, std::optional<ScalarType> type = std::nullopt);
/// Returns a tensor with a copy of `data`, which is in row-major order.
Tensor from_data(const void* data, const IntList& sizes, ScalarType type);

/// Seeds the random operations; equal seeds give equal values, compiled or not.
void manual_seed(std::uint64_t seed);

/// The dtype of tensors that are created without one (zeros({3}), rand({3})), and of the result where integers give a
/// floating-point result (a / b): f32 unless set to another floating-point dtype. One setting for all threads; compiled
/// functions have a guard on it.
ScalarType get_default_dtype();
void set_default_dtype(ScalarType type);

/// Whether equal calls must give equal bits. A backend that is a function of the program can read it, both when it
/// compiles a graph and when the graph runs. One setting for all threads; compiled functions have a guard on it. The
/// operations of Whittle itself always give equal bits.
bool deterministic_algorithms();
void use_deterministic_algorithms(bool value);

/// Whether results require a gradient when an operand does (grad mode).
bool grad_enabled();
void set_grad_enabled(bool value);
class NoGradGuard {
  public:
    NoGradGuard() : before_(grad_enabled()) { set_grad_enabled(false); }
    ~NoGradGuard() { set_grad_enabled(before_); }
    NoGradGuard(const NoGradGuard&) = delete;
    NoGradGuard& operator=(const NoGradGuard&) = delete;

  private:
    bool before_;
};

WHITTLE_API_END

#include <whittle/aten/functions.h>

#endif
