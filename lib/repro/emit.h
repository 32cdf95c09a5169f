// The text of a harness, from a failing graph.
#pragma once

#include <string>

#include "repro/repro.h"

namespace whittle::repro {

/// The harness of a repro, whose data are known. The suspect's part is `emitter`'s. The header says that it is not
/// verified.
ReproProgram emit(const Repro& repro, Emitter& emitter, const Options& options);

/// Its header says, in place of that, what became of it: "verified: 3 of 3 runs fail, the control passes".
void claim(ReproProgram& program, const std::string& what);

}  // namespace whittle::repro
