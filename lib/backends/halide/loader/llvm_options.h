// Settings of the LLVM that Halide compiles with. C++17 only: LLVM 14's headers ask for it.
#pragma once

namespace whittle::halide {

/// From now on LLVM makes no vectors but those that the schedule asks for: its SLP vectorizer makes gathers of what
/// Halide reads element by element, which take some processors tens of cycles each. $HL_LLVM_ARGS, which Halide reads
/// when it first compiles, may say otherwise.
void keep_to_written_vectors();

}  // namespace whittle::halide
