// The kernel of a failing graph that fails by itself, reduced: what the short program for its compiler shows.
#pragma once

#include <optional>
#include <string>

#include "program/kernel_programs.h"
#include "reduce/kernel/kernel_case.h"
#include "repro/repro.h"

namespace whittle::repro {

struct KernelFailure {
    reduce::KernelCase kernel;  ///< under short names
    Outcome outcome;            ///< how it fails
    Tensor expected;            ///< its output, by the interpreter of groups
    bool exact = false;         ///< without the guilty directive the output has these bits
    int tried = 0;              ///< cases that were asked about
};

/// Nothing where there is none: `why_not` then says why, as a clause: "it takes two kernels to fail". Asks in children
/// of this process. `programs`: the backend's ability.
std::optional<KernelFailure> failing_kernel(const Graph& graph, Backend& backend, program::KernelPrograms& programs,
                                            const Limits& limits, std::string& why_not);

/// Its short program; nothing where its data are more than a reader takes in.
std::optional<ReproProgram> program_of(const KernelFailure& found, program::KernelPrograms& programs,
                                       const Failure& failure, const Options& options, bool given_expected = false);

}  // namespace whittle::repro
