// The directives that may be left out, as items of the search.
#pragma once

#include <vector>

#include "frontends/halide/program.h"
#include "reduce/search/search.h"

namespace whittle::reduce {

/// A problem without its test: which directives use loops that others make, and which are likely to matter together.
Problem problem_of(const std::vector<halide_program::Directive>& items);

}  // namespace whittle::reduce
