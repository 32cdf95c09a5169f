// On how many threads kernels run.
#pragma once

namespace whittle {

/// $HL_NUM_THREADS, as Halide has it, else one per processor; at least one.
int kernel_threads();

}  // namespace whittle
