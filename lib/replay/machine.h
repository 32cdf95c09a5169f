// What this machine can do at most, measured in a few hundredths of a second: the roof that kernels are held against.
#pragma once

#include "trace/profile.h"

namespace whittle {

/// Of as many threads as kernels have: $HL_NUM_THREADS, else one per processor. Measured once in a process.
const MachineSpeed& machine_speed();

/// The seconds that the machine needs at the least for so much arithmetic on so much memory (Williams, Waterman and
/// Patterson 2009, Roofline).
double least_seconds(const MachineSpeed& machine, std::int64_t flops, std::int64_t bytes);

}  // namespace whittle
