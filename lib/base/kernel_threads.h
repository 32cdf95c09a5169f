// On how many threads kernels run.
#pragma once

namespace whittle {

/// Returns $HL_NUM_THREADS, at most 256 as Halide has it, else one per processor; at least one. Throws Error where the
/// variable is no such number.
int kernel_threads();

}  // namespace whittle
