// Programs that go on as another release of a backend's compiler.
#pragma once

#include "backends/spec.h"
#include "graph/backend.h"

namespace whittle::cli {

/// Where the release that `options` choose takes the place of a library of this process (Releases in
/// graph/releases.h), starts this program again, with the same arguments, as that release: to be called before
/// anything is written. Else returns. Throws Error where the release cannot be used.
void continue_in_release(const BackendSpec& spec, const BackendOptions& options);

}  // namespace whittle::cli
