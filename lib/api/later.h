// print_later() and check(): output and checks in a compiled function that do not end its graph.
#ifndef WHITTLE_API_LATER_H
#define WHITTLE_API_LATER_H

#include <whittle/api/tensor.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

WHITTLE_API_BEGIN

/// Prints `format` to standard output, with the tensors in place of its "{}", as operator<< prints them; "{{" and "}}"
/// are braces. A compiled function prints when the values are known: when the graph ends, or at the latest when the
/// function returns, in the order of the calls. So this does not break the graph; the tensors become its outputs. Each
/// tensor is printed with its present value, even if it is written later. Elsewhere it prints at once. Throws if the
/// numbers of "{}" and tensors differ, and for an undefined tensor.
WHITTLE_API_CALL void print_later(const std::string& format, const TensorList& tensors);
/// A condition of check() was false; what() has the message and the place of the check.
struct CheckError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws CheckError unless the condition, a boolean of one element, is true. A compiled function checks it when the
/// value is known, as with print_later(), so the graph does not break; what is computed until then has no outside
/// effect except writes to inputs.
WHITTLE_API_CALL void check(const Tensor& condition, const std::string& message);
/// Checks at once, as all checks of host values do.
WHITTLE_API_CALL void check(bool condition, const std::string& message);
/// Checks that the number, an integer of one element, can be a size: that it is not negative.
WHITTLE_API_CALL void check_is_size(const Tensor& number);
WHITTLE_API_CALL void check_is_size(std::int64_t number);
/// Checks a symbol (Tensor::item() with .capture_scalar_outputs) in the same way.
WHITTLE_API_CALL void check_is_size(const Scalar& number);
/// Checks that the number is at least `least` and at most `most`, as far as they are given. For a size that may vary
/// (one symbol) the range becomes a guard, too: graphs compiled for sizes in the range are not used for others.
WHITTLE_API_CALL void constrain_range(const Tensor& number, std::optional<std::int64_t> least = {},
                                      std::optional<std::int64_t> most = {});
WHITTLE_API_CALL void constrain_range(std::int64_t number, std::optional<std::int64_t> least = {},
                                      std::optional<std::int64_t> most = {});
WHITTLE_API_CALL void constrain_range(const Scalar& number, std::optional<std::int64_t> least = {},
                                      std::optional<std::int64_t> most = {});

template <class... Tensors>
void print_later(const std::string& format, const Tensors&... tensors) {
    print_later(format, TensorList{tensors...});
}

WHITTLE_API_END

#endif
