// How the C++ API spells what ATen's schemas say: shared by the generator of the API's functions and by the C++ written
// of captured graphs, which has to call just those.
#pragma once

#include <string>

#include "graph/schema.h"

namespace whittle::printers {

/// Parameters that the API leaves out: there is one device, one layout, one generator.
bool api_leaves_out(const Param& param);

/// "kFloat", in namespace whittle.
std::string api_dtype(DType dtype);

/// A double literal, the shortest that reads back as the same number: "0.5", "2.0", "1e-05", "INFINITY", "NAN".
std::string cpp_number(double value);

}  // namespace whittle::printers
