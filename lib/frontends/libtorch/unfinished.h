// end_unfinished(): an operation inside which the program ended, with the results that it would have had.
#pragma once

#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

/// If the last operation with a kernel that began did not end, and Whittle can infer its results: adds its end, so that
/// a graph has it, and sets EventFile::unfinished. Its results have no elements.
void end_unfinished(EventFile& file);

}  // namespace whittle::libtorch
