// profile(): what compiling and running a subject's graphs takes, as far as anybody measured it.
#pragma once

#include <vector>

#include "judge/frame.h"
#include "judge/suspect.h"
#include "report/subject.h"
#include "trace/profile.h"

namespace whittle::report {

inline constexpr std::size_t kMostProfiled = 32;  ///< graphs

/// Compiles and runs the first kMostProfiled frames with different graphs on the suspect, one behind the other
/// (run/profile.h). `code`: with the texts of kernels. Throws Error for a backend that is not there.
Profile profile(const std::vector<LoadedFrame>& frames, const Suspect& suspect, bool code);

/// Into subject.profile: `measured`, behind what the program itself did when it was captured; graphs that nobody ran
/// have their memory by liveness.
void add_profile(Subject& subject, Profile measured = {});

}  // namespace whittle::report
