// What a repro shows: how a graph fails, and the data that it is shown to fail with.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "judge/frame.h"
#include "judge/suspect.h"
#include "repro/repro.h"

namespace whittle::repro {

/// What the reference computes of the frame's inputs. Throws Error where it cannot run it.
std::vector<Tensor> reference_outputs(const LoadedFrame& frame);

/// How the frame fails on the suspect, asked once; nothing where it does not. Throws Error as reference_outputs(), and
/// where the suspect says that it does not support it.
std::optional<Failure> failure_of(const LoadedFrame& frame, const Suspect& suspect);

/// With such inputs and floating-point parameters, and what the reference computes of them; integers among the
/// parameters stay, they may be sizes. Throws Error when the reference cannot run it.
Repro with_data(Repro repro, Data data);

/// With the smallest data that fails in the same way. What a program does not make up by itself is tried where it is
/// little.
Repro with_smallest_data(Repro repro, Backend& backend, const Options& options);

/// "zeros", "the recorded values; it does not fail with zeros, ones".
std::string data_text(const Repro& repro);

}  // namespace whittle::repro
