// The second reader: the group as plain C++17 loops that need nothing but the standard library.
//
// The text means exactly what expr.h says when it is compiled without -ffast-math and without contraction of a * b + c
// into a fused multiply-add. GCC contracts by default, but only for targets that have the instruction: plain x86-64
// (no -march, no -mfma) has none, so the line that a repro is built with needs no flag there. On AArch64, or with
// -march=native, add -ffp-contract=off.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "expr/group.h"
#include "text/language.h"

namespace whittle::expr {

/// The headers that the text of support_cpp() and to_loops_cpp() needs.
inline constexpr std::string_view kLoopsIncludes =
    "#include <algorithm>\n#include <cmath>\n#include <cstdint>\n#include <cstring>\n#include <vector>\n";

/// The struct of a reduced float (language::cpp.type): its bits, and how they convert from and to float, rounding to
/// nearest even. Empty for other data types.
std::string_view half_support_cpp(DType dtype);

/// Helper functions and types that the loops of `groups` use (Euclidean division, half conversion …), and only those.
/// Empty when none are needed.
std::string support_cpp(const std::vector<const Group*>& groups);

/// A function
///   static void NAME(const T0* in0, const T1* in1, ..., U0* out0, ...)
/// where pointers to inputs are to their first logical element (strides as declared) and outputs are row-major; inputs
/// and outputs in the group's order, under their names.
/// Readable: one loop nest per stage, the stage's origin as a comment, shared subexpressions as local constants.
/// Compiles without a word under -Wall -Wextra. Throws Error for a tensor whose elements lie further apart than 2^31.
std::string to_loops_cpp(const Group& group, const std::string& function_name);

}  // namespace whittle::expr
