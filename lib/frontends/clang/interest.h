// What is worth a probe. Internal: includes Clang's headers.
#pragma once

#include "frontends/clang/semantics.h"

namespace whittle::cpp {

/// Whether a function's body has tensors, effects, calls of the program's own functions, or dependent code.
bool worth_probes(const Semantics& semantics, const clang::Stmt* body);

/// Whether a lambda's body can be a constant expression: then the lambda, constexpr without saying so, may be used as
/// one, and a probe would take that away.
bool may_be_constant(const clang::Stmt* body);

/// Conditions on tensors, on what the program's functions return and, but for loops, on parameters. Comparisons of
/// local numbers, the bulk of loop conditions, are not worth a call each time.
bool worth_telling(const Semantics& semantics, const clang::Expr* condition, bool loop);

}  // namespace whittle::cpp
