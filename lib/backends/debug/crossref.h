// The interpreter of crossref: each call is run, and inferred anew, and both are compared.
#pragma once

#include <memory>

#include "backends/debug/op_checks.h"

namespace whittle {

/// Holds what is inferred of a call (dtype, sizes and strides of its results) and what its schema says of writes and
/// shared memory against what happens. `all`: of every op; else of ops from outside (ops/core/custom.h) alone.
std::unique_ptr<HoldingInterpreter> make_crossref_interpreter(bool all);

}  // namespace whittle
