// module_paths(): which module of the program each step belongs to, "features.0". LibTorch does not say. It is seen in
// the parameters that an op reads, and in the stack: the steps of one execution of X::forward belong to one module of
// type X, the one whose parameters they read, or the only one of its type, or the only one of its type that was
// registered between the modules that ran before and after it.
#pragma once

#include <string>
#include <vector>

#include "frontends/libtorch/symbolizer.h"
#include "frontends/libtorch/values.h"

namespace whittle::libtorch {

/// Per step; "" for what belongs to no module, to the outermost one, or to one that cannot be told.
std::vector<std::string> module_paths(const EventFile& file, const std::vector<Step>& steps, const Values& values,
                                      Symbolizer& symbolizer);

}  // namespace whittle::libtorch
