#include "frontends/libtorch/capture/ring_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

namespace whittle::libtorch {

namespace {

std::uint64_t aligned(std::uint64_t size) { return (size + kRingAlignment - 1) / kRingAlignment * kRingAlignment; }

/// Reserves the blocks first: a full disk must not become a SIGBUS of the program. Null where it cannot be had.
char* map_file(const char* events, std::uint64_t bytes) {
    char path[4096 + 16];
    rlimit largest{};
    if (std::strlen(events) + sizeof kRingSuffix > sizeof path || ::getrlimit(RLIMIT_FSIZE, &largest) != 0)
        return nullptr;
    if (largest.rlim_cur != RLIM_INFINITY && bytes > largest.rlim_cur) return nullptr;
    std::strcat(std::strcpy(path, events), kRingSuffix);
    const int file = ::open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return nullptr;
    void* const memory = ::posix_fallocate(file, 0, static_cast<off_t>(bytes)) == 0
                             ? ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0)
                             : MAP_FAILED;
    ::close(file);
    return memory == MAP_FAILED ? nullptr : static_cast<char*>(memory);
}

}  // namespace

bool RingFile::start(const char* events, std::uint64_t bytes) {
    busy_.clear();
    header_ = nullptr;  // in a child it is the parent's, and stays mapped
    begin_ = 0;
    end_ = 0;
    bytes -= bytes % kRingHeaderSize;
    if (bytes <= kRingHeaderSize) return false;
    const int saved = errno;  // the program's own
    char* const memory = map_file(events, bytes);
    errno = saved;
    if (!memory) return false;
    entries_ = memory + kRingHeaderSize;
    capacity_ = bytes - kRingHeaderSize;
    header_ = reinterpret_cast<RingHeader*>(memory);
    header_->capacity = capacity_;
    std::memcpy(header_->magic, kRingMagic, sizeof kRingMagic);
    return true;
}

void RingFile::put(const RingEntry& entry, const char* record, std::uint64_t size) {
    char* const at = entries_ + end_ % capacity_;
    std::memcpy(at, &entry, sizeof entry);
    if (size) std::memcpy(at + sizeof entry, record, size);
    end_ += entry.size;
}

/// The oldest entries are given up before anything is written over them.
void RingFile::make_room(std::uint64_t size) {
    while (end_ + size - begin_ > capacity_) {
        RingEntry oldest;
        std::memcpy(&oldest, entries_ + begin_ % capacity_, sizeof oldest);
        begin_ += oldest.size;
    }
    __atomic_store_n(&header_->begin, begin_, __ATOMIC_RELAXED);
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

bool RingFile::append(std::uint32_t thread, const char* record, std::uint64_t size) {
    while (busy_.test_and_set(std::memory_order_acquire)) {
    }
    const std::uint64_t needed = aligned(sizeof(RingEntry) + size);
    const bool fits = header_ && needed <= capacity_ / kRingParts;
    if (fits) {
        const std::uint64_t left = capacity_ - end_ % capacity_, filler = left < needed ? left : 0;
        make_room(filler + needed);
        if (filler) put({filler, kRingFiller, 0}, nullptr, 0);
        put({needed, thread, 0}, record, size);
        __atomic_store_n(&header_->end, end_.load(), __ATOMIC_RELEASE);
    }
    busy_.clear(std::memory_order_release);
    return fits;
}

}  // namespace whittle::libtorch
