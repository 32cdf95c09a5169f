// Where a test puts a bug into a compilation: each application of a pass is handed to a hook, which may change what the
// pass made. Nothing in the library or the programs sets a hook; tests do, in their own process or in one that preloads
// them (test/planted).
#pragma once

#include "passes/pass.h"

namespace whittle::program {

/// Of this process; not to be set while something is compiled.
const AfterPass& after_pass();
void set_after_pass(AfterPass hook);

}  // namespace whittle::program
