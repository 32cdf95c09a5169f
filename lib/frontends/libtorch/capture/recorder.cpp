#include "frontends/libtorch/capture/recorder.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "frontends/libtorch/capture/event_files.h"

namespace whittle::libtorch {

namespace {

constexpr std::uint64_t kFirstChunk = 64 << 10, kReusedChunk = 512 << 10, kLargestBuffer = 4 << 20, kPage = 4096;

/// What others refer to, at any time later. Everything else happened at a moment.
bool is_definition(RecordKind kind) {
    switch (kind) {
        case RecordKind::thread:
        case RecordKind::mapping:
        case RecordKind::op_def:
        case RecordKind::stack_def:
        case RecordKind::name:
        case RecordKind::note:
        case RecordKind::module:
        case RecordKind::source_place:
        case RecordKind::forked_at:
        case RecordKind::library_folder:
        case RecordKind::form:
            return true;
        default:
            return false;
    }
}

std::uint64_t round_up(std::uint64_t size) { return (size + kPage - 1) / kPage * kPage; }

bool write_at(int file, const void* data, std::uint64_t size, std::uint64_t offset) {
    for (const char* from = static_cast<const char*>(data); size > 0;) {
        const ssize_t written = ::pwrite(file, from, size, static_cast<off_t>(offset));
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        from += written;
        offset += static_cast<std::uint64_t>(written);
        size -= static_cast<std::uint64_t>(written);
    }
    return true;
}

/// The program's arguments, separated by blanks.
template <std::size_t kSize>
void read_command_line(char (&to)[kSize]) {
    const int file = ::open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
    if (file < 0) return;
    const ssize_t length = ::read(file, to, kSize - 1);
    ::close(file);
    for (ssize_t i = 0; i + 1 < length; ++i)
        if (to[i] == 0 || to[i] == '\n') to[i] = ' ';
}

/// The program's errno is its own.
class KeepErrno {
  public:
    KeepErrno() = default;
    ~KeepErrno() { errno = saved_; }
    KeepErrno(const KeepErrno&) = delete;
    KeepErrno& operator=(const KeepErrno&) = delete;

  private:
    int saved_ = errno;
};

}  // namespace

std::uint64_t now_ns() {
    timespec time{};
    ::clock_gettime(CLOCK_MONOTONIC, &time);
    return static_cast<std::uint64_t>(time.tv_sec) * 1000000000u + static_cast<std::uint64_t>(time.tv_nsec);
}

void ThreadChunk::unmap() {
    if (begin) ::munmap(begin, capacity);
    begin = records = nullptr;
    capacity = room = used = 0;
}

/// To write up to `end`; -1 where that is more than the largest file that the program may write (RLIMIT_FSIZE), which
/// would be a SIGXFSZ. The file is opened and closed each time, so that the program's own descriptors have the numbers
/// they would have.
int Recorder::open_file(const char* path, std::uint64_t end) const {
    rlimit largest{};
    const bool allowed =
        ::getrlimit(RLIMIT_FSIZE, &largest) == 0 && (largest.rlim_cur == RLIM_INFINITY || end <= largest.rlim_cur);
    return allowed ? ::open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
}

/// Null where it cannot be had. Its memory is there before it is touched, whichever process comes first.
FileHeader* Recorder::make_header(const char* path) const {
    const KeepErrno errno_stays;
    const int events = open_file(path, kFileHeaderSize);
    if (events < 0) return nullptr;
    void* const header = ::posix_fallocate(events, 0, kFileHeaderSize) == 0
                             ? ::mmap(nullptr, kFileHeaderSize, PROT_READ | PROT_WRITE, MAP_SHARED, events, 0)
                             : MAP_FAILED;
    ::close(events);
    return header == MAP_FAILED ? nullptr : static_cast<FileHeader*>(header);
}

bool Recorder::open(const char* file, bool forked, std::uint64_t began) {
    FileHeader* const header = make_header(file);
    if (!header) return false;
    const std::uint64_t parent = forked ? header_->pid : static_cast<std::uint64_t>(::getppid());
    std::strcpy(path_, file);
    if (forked) std::memcpy(header->interpreter, header_->interpreter, sizeof header->interpreter);
    header_ = header;
    header_->version = kFileVersion;
    header_->header_size = kFileHeaderSize;
    header_->pid = static_cast<std::uint64_t>(::getpid());
    header_->parent = parent;
    header_->forked = forked;
    header_->flags = flags_;
    header_->began = began;
    read_command_line(header_->command_line);
    std::memcpy(header_->magic, kFileMagic, sizeof kFileMagic);
    end_ = kFileHeaderSize;
    return true;
}

bool Recorder::start(const char* base, const char* file, std::uint64_t max_bytes, double max_seconds,
                     std::uint64_t flags) {
    if (std::strlen(base) >= sizeof base_ || std::strlen(file) >= sizeof path_) return false;
    std::strcpy(base_, base);
    max_bytes_ = max_bytes;
    flags_ = flags;
    deadline_ns_ = max_seconds > 0 ? now_ns() + static_cast<std::uint64_t>(max_seconds * 1e9) : 0;
    if (!open(file, false, now_ns())) return false;
    first_ = std::strcmp(base, file) == 0 ? header_ : make_header(base);
    begin();
    return true;
}

void Recorder::begin() {
    on_ = true;
    if (with_ring() && !ring_.start(path_, max_bytes_)) cut(kCutDisk);
}

void Recorder::name_interpreter(const char* path) {
    if (std::strlen(path) < sizeof header_->interpreter) std::strcpy(header_->interpreter, path);
}

bool Recorder::start_child(std::uint64_t forked_at) {
    if (!may_start_.exchange(false)) return on();
    const KeepErrno errno_stays;
    char file[sizeof path_];
    if (!take_event_file(base_, file, sizeof file)) return count_other_process(base_, kTooMany), false;
    if (!open(file, true, forked_at)) return false;
    threads_ = 0;
    growing_.clear();
    child_ = false;
    begin();
    return true;
}

std::uint64_t Recorder::taken() const {
    return kFileHeaderSize + (first_ ? __atomic_load_n(&first_->taken, __ATOMIC_RELAXED) : end_ - kFileHeaderSize);
}

bool Recorder::has_room_for(std::uint64_t bytes) const {
    if (with_ring()) return bytes <= ring_.capacity() / 8;
    constexpr std::uint64_t kLargestRecord = UINT32_MAX - 4096;  // beside the elements: what tensor they are of
    const std::uint64_t end = taken(), most = max_bytes_ - max_bytes_ / 8;
    return bytes <= kLargestRecord && end < most && bytes <= most - end;
}

void Recorder::leave_out() {
    if (header_) __atomic_fetch_add(&header_->left_out, 1, __ATOMIC_RELAXED);
}

void Recorder::lose() {
    if (header_) __atomic_fetch_add(&header_->lost, 1, __ATOMIC_RELAXED);
}

void Recorder::trace() {
    if (header_) __atomic_fetch_add(&header_->traced, 1, __ATOMIC_RELAXED);
}

/// A chunk of its own at the end of the file, empty so far. Blocks are reserved before they are touched: a full disk
/// must not become a SIGBUS of the program. Who has it closes the file.
Recorder::Region Recorder::reserve(std::uint32_t thread, std::uint64_t size) {
    // Chunks follow each other without gaps, so a chunk that cannot be had must not take its place: one at a time.
    while (growing_.test_and_set(std::memory_order_acquire)) {
    }
    Region region{.offset = end_, .size = size};
    const bool fits = taken() + size <= max_bytes_;
    const ChunkHeader header{kChunkMagic, thread, size, 0};
    if (fits) region.file = open_file(path_, region.offset + size);
    if (region.file >= 0 &&
        (::posix_fallocate(region.file, static_cast<off_t>(region.offset), static_cast<off_t>(size)) != 0 ||
         !write_at(region.file, &header, sizeof header, region.offset))) {
        ::close(region.file);
        region.file = -1;
    }
    if (region.file >= 0) {
        end_ = region.offset + size;
        if (first_) __atomic_fetch_add(&first_->taken, size, __ATOMIC_RELAXED);
    }
    growing_.clear(std::memory_order_release);
    if (region.file < 0) cut(fits ? kCutDisk : kCutSize);
    return region;
}

bool Recorder::map(ThreadChunk& chunk, std::uint64_t size, bool reused) {
    const Region region = reserve(chunk.thread, size);
    if (region.file < 0) return false;
    void* const memory =
        ::mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, region.file, static_cast<off_t>(region.offset));
    ::close(region.file);
    if (memory == MAP_FAILED) {
        cut(kCutDisk);
        return false;
    }
    chunk.begin = static_cast<char*>(memory);
    chunk.records = chunk.begin + sizeof(ChunkHeader) + (reused ? sizeof(ReusedHeader) : 0);
    chunk.capacity = size;
    chunk.room = size - static_cast<std::uint64_t>(chunk.records - chunk.begin);
    chunk.used = 0;
    chunk.reused = reused;
    if (reused) reinterpret_cast<ChunkHeader*>(chunk.begin)->magic = kReusedMagic;
    return true;
}

/// Who reads meanwhile, or after a crash, finds the records in one of the two chunks, or in both.
bool Recorder::write_chunk(std::uint32_t thread, const char* records, std::uint64_t size) {
    const Region region = reserve(thread, round_up(sizeof(ChunkHeader) + size));
    if (region.file < 0) return false;
    const bool written = write_at(region.file, records, size, region.offset + sizeof(ChunkHeader)) &&
                         write_at(region.file, &size, sizeof size, region.offset + offsetof(ChunkHeader, used));
    ::close(region.file);
    if (!written) cut(kCutDisk);
    return written;
}

bool Recorder::empty(ThreadChunk& chunk) {
    if (chunk.used > 0 && !write_chunk(chunk.thread, chunk.records, chunk.used)) return false;
    auto* const emptied = &reinterpret_cast<ReusedHeader*>(chunk.begin + sizeof(ChunkHeader))->emptied;
    __atomic_fetch_add(emptied, 1, __ATOMIC_SEQ_CST);
    __atomic_store_n(&reinterpret_cast<ChunkHeader*>(chunk.begin)->used, 0, __ATOMIC_SEQ_CST);
    __atomic_fetch_add(emptied, 1, __ATOMIC_SEQ_CST);
    chunk.used = 0;
    return true;
}

/// For a record of `needed` bytes; one that is larger than any chunk that is mapped finds the thread's chunk empty, or
/// none.
bool Recorder::make_room(ThreadChunk& chunk, std::uint64_t needed) {
    const KeepErrno errno_stays;
    const bool first = !chunk.numbered;
    if (first) {
        chunk.thread = threads_.fetch_add(1);
        chunk.numbered = true;
    }
    if (chunk.begin && chunk.reused) return empty(chunk);
    chunk.unmap();
    const bool alone = needed > kReusedChunk - sizeof(ChunkHeader) - sizeof(ReusedHeader);
    if (alone) return true;
    const bool small = first && needed <= kFirstChunk - sizeof(ChunkHeader);
    return map(chunk, small ? kFirstChunk : kReusedChunk, !small);
}

bool Recorder::commit(ThreadChunk& chunk, RecordBuffer& record) {
    if (!on()) return false;
    const std::uint64_t size = record.size();
    if (size > UINT32_MAX) {
        cut(kCutSize);
        return false;
    }
    const bool in_ring = with_ring() && !is_definition(record.kind_);
    if (!in_ring && chunk.used + size > chunk.room && !make_room(chunk, size)) return false;
    const RecordHeader header{static_cast<std::uint32_t>(size), static_cast<std::uint32_t>(record.kind_),
                              order_.fetch_add(1, std::memory_order_relaxed)};
    record.patch(0, header);
    bool written = true;
    if (in_ring) {
        if (!ring_.append(chunk.thread, record.bytes_.data(), size)) lose();
    } else if (size > chunk.room) {
        const KeepErrno errno_stays;
        written = write_chunk(chunk.thread, record.bytes_.data(), size);
    } else {
        std::memcpy(chunk.records + chunk.used, record.bytes_.data(), size);
        chunk.used += size;
        __atomic_store_n(&reinterpret_cast<ChunkHeader*>(chunk.begin)->used, chunk.used, __ATOMIC_RELEASE);
    }
    if (record.bytes_.capacity() > kLargestBuffer) std::vector<char>().swap(record.bytes_);  // it held a large tensor
    return written;
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
