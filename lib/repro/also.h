// What other backends make of a failing graph: the compiler's newer releases, which a tracker's form asks for.
#pragma once

#include <string>

#include "repro/repro.h"
#include "repro/subject.h"

namespace whittle::repro {

/// "also wrong in 4.12.0, 5.0.0; right in 5.1.0", by Options::also, each in the version that it says that it has; empty
/// where there is none. Of a failure that ends the program it says "also fails". One that does not know an op, or fails
/// otherwise, cannot tell. Throws Error where one cannot be started.
std::string also_text(const Subject& subject, const Options& options);

}  // namespace whittle::repro
