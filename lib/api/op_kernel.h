// Operations of the program's own: what their functions are given, and how they are run.
#pragma once

#include <whittle/api/custom.h>

#include <functional>
#include <string>
#include <vector>

#include "ops/core/arguments.h"

namespace whittle::api::detail {

/// How the schema spells the alternative of OpValue: "Tensor", "int?".
std::string type_of(std::size_t kind);

/// The call's arguments in the order of its schema; `wrapped` makes its tensors.
template <class T>
std::vector<OpValue> values_of(const Arguments<T>& arguments, const std::vector<std::size_t>& kinds,
                               const std::function<Tensor(const T&)>& wrapped);

/// Runs the kernel, of which nothing is recorded. Throws Error for an undefined tensor among its results.
std::vector<whittle::Tensor> run_kernel(const OpKernel& kernel, const std::vector<OpValue>& values,
                                        const std::string& target);

}  // namespace whittle::api::detail
