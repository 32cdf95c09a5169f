// How C++ programs that use PyTorch's libraries spell tensors, and compare them with what is expected.
#pragma once

#include <cstddef>
#include <string>

#include "graph/emitter.h"

namespace whittle::printers {

/// Statements that define a tensor of this name, with its strides.
std::string torch_definition(const std::string& name, const Tensor& tensor);

/// A statement that prints the difference and returns 1 where `value` is not what is expected of this output: in sizes
/// or dtype where the failure is one of these, else in values. `right`: the name of the expected tensor, which is then
/// defined first.
std::string torch_comparison(const ShortRequest& request, std::size_t output, const std::string& value,
                             const std::string& right);

/// A program that runs package.pt2 of AOTInductor, and where it is run with "control" control.pt2. `graph`: under short
/// names; `about`: what is wrong, as lines of a comment; `build`: the command line that builds and runs the program.
std::string torch_package_program(const ShortRequest& request, const Graph& graph, const std::string& about,
                                  const std::string& build, bool has_control);

}  // namespace whittle::printers
