// The kernel of a failing graph that fails by itself, reduced: what the short program for Halide shows.
#pragma once

#include <string>
#include <variant>

#include "reduce/kernel/kernel_case.h"
#include "repro/repro.h"

namespace whittle::repro {

struct KernelFailure {
    reduce::KernelCase kernel;  ///< under short names
    Outcome outcome;            ///< how it fails
    Tensor expected;            ///< its output, by the interpreter of groups
    bool exact = false;         ///< without the guilty directive the output has these bits
    int tried = 0;              ///< cases that were asked about
    double seconds = 0;
};

/// Or why there is none, as a clause: "it takes two kernels to fail". Asks in children of this process.
std::variant<KernelFailure, std::string> failing_kernel(const Graph& graph, Backend& backend, const Options& options);

}  // namespace whittle::repro
