// read_ring(): which records of a ring file (events.h) are of the last operations.
#pragma once

#include <map>
#include <vector>

#include "frontends/libtorch/cursor.h"
#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

/// The bytes at which records begin, for each thread in order: from the last `most` operations with a kernel on what
/// happened, and before those what belongs to them: elements and names. The file's ops must be known. Fills in
/// EventFile::last. Throws Error for a damaged file.
std::map<std::uint32_t, std::vector<std::size_t>> read_ring(Cursor in, std::size_t most, EventFile& file);

}  // namespace whittle::libtorch
