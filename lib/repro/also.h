// What other backends make of a failing graph: the compiler's newer releases, which a tracker's form asks for.
#pragma once

#include <string>

#include "repro/repro.h"
#include "repro/subject.h"

namespace whittle::repro {

/// What those of Options::also say, each in the version that it says that it has. One that does not know an op, or
/// fails otherwise, cannot tell. Throws Error where one cannot be started.
Also ask_also(const Subject& subject, const Options& options);

}  // namespace whittle::repro
