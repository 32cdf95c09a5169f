// RowFile: the rows of a recording of hashes, one after the other in the file beside the event file. Mapped while it is
// written, so that a crash loses nothing; memory is bounded by the window that is mapped. Like the Recorder, nothing
// here throws or keeps a file descriptor.
#pragma once

#include <atomic>
#include <cstdint>

#include "capture/hash_row.h"

namespace whittle::libtorch {

/// Behind the name of the event file.
inline constexpr char kRowsSuffix[] = ".rows";

class RowFile {
  public:
    /// Of the process whose event file that is; in a forked child, again. False when it cannot be had.
    bool start(const char* events, std::uint64_t max_bytes);
    /// Appends rows that belong together. Returns the number of the first, from 1; 0 where there is no room.
    std::uint32_t append(const HashRow* rows, std::uint32_t count);

  private:
    bool map_next(int file);

    char path_[4096 + 16] = {};
    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    RowFileHeader* header_ = nullptr;
    char* window_ = nullptr;                        ///< that is written next
    std::uint64_t offset_ = 0, at_ = 0, rows_ = 0;  ///< of the window in the file, in the window; written
    std::uint64_t max_bytes_ = 0;
};

}  // namespace whittle::libtorch
