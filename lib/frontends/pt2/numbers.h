// Computations on sizes and numbers, which an exported program has as nodes and which are done while it is read.
#pragma once

#include <optional>
#include <string_view>

#include "graph/graph.h"

namespace whittle::pt2 {

/// "aten.sym_size.int" and its kin.
bool is_size_query(std::string_view target);
/// `dim`: of those that ask for one dimension. Throws Error for one that the tensor does not have.
Arg size_query(std::string_view target, const ValueMeta& meta, const std::optional<Arg>& dim);

/// "_operator.mul", "torch.sym_max" …
bool is_number_function(std::string_view target);
/// Throws Error for operands that it does not take.
Arg number_of(std::string_view target, const ArgList& operands);

/// Those that only check what is known here, or tell the compiler of it: "aten._assert_scalar.default".
bool is_check(std::string_view target);

}  // namespace whittle::pt2
