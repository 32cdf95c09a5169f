// print_later() and check(): output and checks in a compiled function that do not end its graph.
#ifndef WHITTLE_API_LATER_H
#define WHITTLE_API_LATER_H

#include <whittle/api/tensor.h>

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>

WHITTLE_API_BEGIN

/// Prints `format` to standard output with the tensors in place of its "{}", as operator<< shows them; "{{" and "}}"
/// are braces. In a compiled function that is once their values are there, the line's own order kept: when the graph
/// ends, at the latest when the function returns. So it is no graph break, and the tensors are outputs of the graph.
/// Each is shown as it is now, whatever is written to it afterwards. Elsewhere it prints at once. Throws where there
/// are not as many "{}" as tensors, and for an undefined tensor.
WHITTLE_API_CALL void print_later(const std::string& format, const TensorList& tensors);
/// A condition of check() did not hold; what() has the message, and where the check is.
struct CheckError : std::runtime_error {
    using std::runtime_error::runtime_error;
};

/// Throws CheckError unless the condition, a boolean of one element, is true. In a compiled function that is, as with
/// print_later(), once its value is there: it breaks no graph, and what is computed meanwhile has no effect outside but
/// writes to inputs.
WHITTLE_API_CALL void check(const Tensor& condition, const std::string& message);
/// At once, as the others of host values.
WHITTLE_API_CALL void check(bool condition, const std::string& message);
/// The number, an integer of one element, can be a size: it is not negative.
WHITTLE_API_CALL void check_is_size(const Tensor& number);
WHITTLE_API_CALL void check_is_size(std::int64_t number);
/// Of a symbol (Tensor::item() with .capture_scalar_outputs) as of the tensor that it is.
WHITTLE_API_CALL void check_is_size(const Scalar& number);
/// The number is at least `least` and at most `most`, where they are given. Of a size that may vary (it has one symbol
/// only) that is a guard, too: what is compiled for sizes in the range serves no other.
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
