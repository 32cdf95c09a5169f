#include "frontends/libtorch/capture/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>

namespace whittle::libtorch {

namespace {

constexpr std::uint64_t kFirstChunk = 64 << 10, kLargestChunk = 4 << 20, kPage = 4096;

std::uint64_t round_up(std::uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

}  // namespace

std::uint64_t now_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u + static_cast<std::uint64_t>(time.tv_nsec);
}

void ThreadChunk::unmap() {
    if (begin) ::munmap(begin, capacity);
    begin = nullptr;
    capacity = used = 0;
}

/// Blocks are reserved before they are touched: a full disk must not become a SIGBUS of the program, nor the largest
/// file it may write (RLIMIT_FSIZE) a SIGXFSZ. The file is opened and closed each time, so that the program's own
/// descriptors have the numbers they would have.
void* Recorder::map(std::uint64_t offset, std::uint64_t size) {
    const int saved_errno = errno;
    void* result = nullptr;
    rlimit largest{};
    const bool allowed = ::getrlimit(RLIMIT_FSIZE, &largest) == 0 &&
                         (largest.rlim_cur == RLIM_INFINITY || offset + size <= largest.rlim_cur);
    const int file = allowed ? ::open(path_, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
    if (file >= 0) {
        if (::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(size)) == 0)
            result = ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
        if (result == MAP_FAILED) result = nullptr;
        ::close(file);
    }
    errno = saved_errno;
    return result;
}

bool Recorder::start(const char* file, std::uint64_t max_bytes, double max_seconds, std::uint64_t flags) {
    if (std::strlen(file) >= sizeof path_) return false;
    std::strcpy(path_, file);
    max_bytes_ = max_bytes;
    with_data_ = (flags & kWithData) != 0;
    with_times_ = (flags & kWithTimes) != 0;
    deadline_ns_ = max_seconds > 0 ? now_ns() + static_cast<std::uint64_t>(max_seconds * 1e9) : 0;
    header_ = static_cast<FileHeader*>(map(0, kFileHeaderSize));
    if (!header_) return false;
    std::memcpy(header_->magic, kFileMagic, sizeof kFileMagic);
    header_->version = kFileVersion;
    header_->header_size = kFileHeaderSize;
    header_->pid = static_cast<std::uint64_t>(::getpid());
    header_->flags = flags;
    on_ = true;
    return true;
}

bool Recorder::has_room_for(std::uint64_t bytes) const {
    constexpr std::uint64_t kLargestRecord = UINT32_MAX - 4096;  // beside the elements: what tensor they are of
    const std::uint64_t end = end_, most = max_bytes_ - max_bytes_ / 8;
    return bytes <= kLargestRecord && end < most && bytes <= most - end;
}

void Recorder::leave_out() {
    if (header_) __atomic_fetch_add(&header_->left_out, 1, __ATOMIC_RELAXED);
}

void Recorder::lose() {
    if (header_) __atomic_fetch_add(&header_->lost, 1, __ATOMIC_RELAXED);
}

bool Recorder::new_chunk(ThreadChunk& chunk, std::uint64_t needed) {
    if (!chunk.numbered) {
        chunk.thread = threads_.fetch_add(1);
        chunk.numbered = true;
        chunk.next_size = kFirstChunk;
    }
    std::uint64_t size = std::max(round_up(sizeof(ChunkHeader) + needed), chunk.next_size);
    chunk.next_size = std::min(chunk.next_size * 4, kLargestChunk);
    chunk.unmap();
    // Chunks follow each other without gaps, so a chunk that cannot be had must not take its place: one at a time.
    while (growing_.test_and_set(std::memory_order_acquire)) {
    }
    const std::uint64_t offset = end_;
    void* memory = offset + size <= max_bytes_ ? map(offset, size) : nullptr;
    if (memory) {
        auto* header = static_cast<ChunkHeader*>(memory);
        *header = {kChunkMagic, chunk.thread, size, 0};
        end_ = offset + size;
    }
    growing_.clear(std::memory_order_release);
    if (!memory) {
        cut(offset + size <= max_bytes_ ? kCutDisk : kCutSize);
        return false;
    }
    chunk.begin = static_cast<char*>(memory);
    chunk.capacity = size;
    chunk.used = 0;
    return true;
}

bool Recorder::commit(ThreadChunk& chunk, RecordBuffer& record) {
    if (!on()) return false;
    const std::uint64_t size = record.size();
    if (size > UINT32_MAX) {
        cut(kCutSize);
        return false;
    }
    if (!chunk.begin || sizeof(ChunkHeader) + chunk.used + size > chunk.capacity)
        if (!new_chunk(chunk, size)) return false;
    const RecordHeader header{static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(record.kind_),
                              order_.fetch_add(1, std::memory_order_relaxed)};
    record.patch(0, header);
    std::memcpy(chunk.begin + sizeof(ChunkHeader) + chunk.used, record.bytes_.data(), size);
    chunk.used += size;
    __atomic_store_n(&reinterpret_cast<ChunkHeader*>(chunk.begin)->used, chunk.used, __ATOMIC_RELEASE);
    if (record.bytes_.capacity() > kLargestChunk) std::vector<char>().swap(record.bytes_);  // it held a large tensor
    return true;
}

void Recorder::cut(CutReason reason) {
    if (on_.exchange(false) && header_) header_->cut = reason;
}

void Recorder::check_time() {
    if (deadline_ns_ && now_ns() > deadline_ns_) cut(kCutTime);
}

void Recorder::miss() {
    if (header_) __atomic_fetch_add(child_ ? &header_->child_ops : &header_->missed, 1, __ATOMIC_RELAXED);
}

void Recorder::finish() {
    on_ = false;
    if (child_) return;
    if (header_) header_->finished = 1;
}

}  // namespace whittle::libtorch
