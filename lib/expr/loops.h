// The second reader: the group as plain C++17 loops that need nothing but the standard library.
#pragma once

#include <string>

#include "expr/group.h"

namespace whittle::expr {

/// C++ type of a dtype in generated code: "float", "int64_t"; f16 and bf16 are the structs `half` and `bfloat` of
/// support_cpp().
std::string cpp_type(DType dtype);

/// Helper functions and types that the loops of `groups` use (Euclidean division, half conversion …), and only those.
/// Empty when none are needed.
std::string support_cpp(const std::vector<const Group*>& groups);

/// A function
///   static void NAME(const T0* in0, const T1* in1, ..., U0* out0, ...)
/// where pointers to inputs are to their first logical element (strides as declared) and outputs are row-major.
/// Readable: one loop nest per stage, the stage's origin as a comment, shared subexpressions as local constants.
std::string to_loops_cpp(const Group& group, const std::string& function_name);

}  // namespace whittle::expr
