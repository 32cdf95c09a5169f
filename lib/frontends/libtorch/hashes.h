// What an event file of hashes says of the rows beside it: forms with the user's stacks.
#pragma once

#include <filesystem>

#include "capture/hash_index.h"
#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

/// The file of rows that the recorder wrote beside an event file; empty where there is none.
std::filesystem::path rows_beside(const std::filesystem::path& events);

/// Without the name of the file of rows.
HashedProcess hashed_process(const EventFile& file);

}  // namespace whittle::libtorch
