// What a line of the program's source says about the value that it reads of a tensor.
#pragma once

#include <string_view>

namespace whittle::libtorch {

/// Does the statement decide anything? Only Python's bool() is an operation of its own, is_nonzero: of a boolean that
/// item() gave, the line that asked for it shows whether the program branches on it. TorchScript writes bool() before
/// an if.
bool branches(std::string_view statement);

/// Does it branch on a comparison with the value: "if h.sum().item() > 9:"?
bool compares_a_read_value(std::string_view statement);

/// Is it an assertion, whose other outcome is an error?
bool asserts(std::string_view statement);

}  // namespace whittle::libtorch
