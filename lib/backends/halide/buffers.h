// Where the values that live only while a program runs lie in one block of memory.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "compile/plan.h"

namespace whittle::halide {

struct Lifetime {
    std::size_t bytes = 0;
    std::size_t first = 0, last = 0;  ///< steps of the program, the last one included
};

struct BufferPlan {
    std::vector<std::size_t> offsets;  ///< one per lifetime, multiples of kBufferAlignment
    std::size_t bytes = 0;             ///< of the block
};

inline constexpr std::size_t kBufferAlignment = 64;

/// Values that are alive at one step share no byte. Each is put into the smallest gap that it fits in, the largest
/// first ("greedy by size" of Y. Pisarchyk, J. Lee, "Efficient Memory Management for Deep Neural Net Inference", 2020),
/// or the one that lives longest, where that takes less. Takes the square of the number of values.
BufferPlan plan_buffers(std::span<const Lifetime> lifetimes);

/// The most bytes that are alive at one step, each value rounded up to the alignment: no plan needs less.
std::size_t most_alive(std::span<const Lifetime> lifetimes);

struct ValueLife : Lifetime {
    ValueRef value;
    bool is_written = false;  ///< by a kernel; else it is given
    bool is_seen = false;     ///< an output, or checked by the host; not only read by kernels
    bool is_temporary() const { return is_written && !is_seen; }
};
/// Of what the plan's kernels read and write, its inputs and its outputs. The steps are the kernels: the first is that
/// which writes the value, or 0; the last is the last that reads it, or the number of kernels where it stays.
std::vector<ValueLife> lives_of(const program::Plan& plan);

}  // namespace whittle::halide
