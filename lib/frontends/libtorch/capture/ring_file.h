// RingFile: the last records of a process in a file of fixed size (events.h), mapped while it is written: whatever ends
// the program, the records that were whole by then are there. Like the Recorder, nothing here throws or keeps a file
// descriptor.
#pragma once

#include <atomic>
#include <cstdint>

#include "frontends/libtorch/events.h"

namespace whittle::libtorch {

class RingFile {
  public:
    /// Of the process whose event file that is; in a forked child, again. False when it cannot be had.
    bool start(const char* events, std::uint64_t bytes);
    /// In the place of the oldest ones. False where there is no file, or the record takes too much of it.
    bool append(std::uint32_t thread, const char* record, std::uint64_t size);
    std::uint64_t capacity() const { return capacity_; }
    /// Bytes that were ever appended.
    std::uint64_t end() const { return end_.load(std::memory_order_relaxed); }

  private:
    void put(const RingEntry& entry, const char* record, std::uint64_t size);
    void make_room(std::uint64_t size);

    std::atomic_flag busy_ = ATOMIC_FLAG_INIT;
    RingHeader* header_ = nullptr;
    char* entries_ = nullptr;
    std::uint64_t capacity_ = 0, begin_ = 0;
    std::atomic<std::uint64_t> end_{0};
};

}  // namespace whittle::libtorch
