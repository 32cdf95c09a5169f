// Values in an event file: arguments and results of operations, as the capture wrote them down.
#pragma once

#include <vector>

#include "frontends/libtorch/cursor.h"
#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

/// Each throws Error naming the position for what no capture writes: a tensor beyond its memory, a list that is nested
/// too deep or longer than the file.
EventValue read_value(Cursor& in);
/// With their count before them.
std::vector<EventValue> read_values(Cursor& in);

}  // namespace whittle::libtorch
