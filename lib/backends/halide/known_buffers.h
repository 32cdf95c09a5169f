// A pass over what Halide lowered a kernel to, run last: the kernel is called with buffers that are made for it
// (CompiledGroup::run), so what Halide would ask of each of them at every call is known. Half of a kernel's compile
// time goes into those questions.
#pragma once

#include <Halide.h>

namespace whittle::halide {

/// Adds the pass. Assertions on buffers themselves go: on type, rank, strides, host and device memory. Those that an
/// access is out of bounds stay where they do not hold for the bounds that are set, as does all else. `inputs` and the
/// pipeline's outputs have bounds, from 0 on.
void add_known_buffers(Halide::Pipeline& pipeline, const std::vector<Halide::ImageParam>& inputs);

}  // namespace whittle::halide
