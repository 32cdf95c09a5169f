// Who runs the parallel loops of kernels, in place of Halide's own pool, whose threads sleep at once and take as long
// to wake as many a kernel to run.
#pragma once

#include <cstdint>

namespace whittle::halide {

/// One step of a loop, as Halide's halide_task_t; 0, or its error.
using LoopTask = int (*)(void* context, int step, std::uint8_t* closure);

/// Runs steps [first, first + count) as halide_do_par_for() does, by the calling thread and those of the pool: as many
/// as $HL_NUM_THREADS says, else one per processor. A step's error, or 0. While another thread's loop runs, or in a
/// step of one, the calling thread does it all. A copy of the process (fork) has a pool of its own.
int run_loop(void* context, LoopTask task, int first, int count, std::uint8_t* closure);

}  // namespace whittle::halide
