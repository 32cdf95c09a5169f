// The short program for a failure of Halide's: in the shape of its own tests, one kernel, one comparison.
#pragma once

#include <optional>
#include <string>

#include "repro/emit.h"
#include "repro/kernel_failure.h"

namespace whittle::repro {

/// Nothing where its data are more than a reader takes in. The emission has no sidecars.
std::optional<Emission> halide_program(const KernelFailure& found, const Failure& failure, const Options& options);

}  // namespace whittle::repro
