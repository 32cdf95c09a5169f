// Records of an event file as what the reader makes of them: definitions go to their tables, what happened becomes an
// event.
#pragma once

#include <cstdint>

#include "frontends/libtorch/cursor.h"
#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

/// Goes to its table; false: it is something that happened.
bool read_definition(Cursor& in, const RecordHeader& header, std::uint32_t thread, EventFile& file);

/// What happened, `times` times.
void read_happening(Cursor& in, const RecordHeader& header, std::uint32_t thread, std::int64_t times, EventFile& file);

}  // namespace whittle::libtorch
