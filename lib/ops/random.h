// The generator behind random ops: one for the process, so that a seed fixes every draw of a run that follows.
#pragma once

#include <cstdint>

namespace whittle {

/// As torch.manual_seed: the next draws are those of this seed. The first seed of a process is 0.
void seed_random_ops(std::uint64_t seed);

}  // namespace whittle
