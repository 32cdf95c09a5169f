// The memory that kernels take for their own stages while they run.
#pragma once

#include <cstddef>

namespace whittle::halide {

/// Halide's halide_malloc and halide_free, for any thread. Large blocks are kept for the next kernel that asks, some
/// megabytes of them altogether: given back, each page of them would have to be cleared by the system at every run.
/// Null where there is no memory.
void* take_scratch(void* context, std::size_t bytes);
void give_scratch(void* context, void* memory);

}  // namespace whittle::halide
