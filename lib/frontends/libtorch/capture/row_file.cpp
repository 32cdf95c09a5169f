#include "frontends/libtorch/capture/row_file.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>

namespace whittle::libtorch {

namespace {

/// A row may lie across the end of a window: it is copied in two parts.
constexpr std::uint64_t kWindow = 1 << 20;

/// The program's errno is its own.
struct SavedErrno {
    const int saved = errno;
    ~SavedErrno() { errno = saved; }
};

}  // namespace

/// Reserves the blocks first: a full disk must not become a SIGBUS of the program.
bool RowFile::map_next(int file) {
    const std::uint64_t offset = window_ ? offset_ + kWindow : 0, end = offset + kWindow;
    rlimit largest{};
    if (end > max_bytes_ || ::getrlimit(RLIMIT_FSIZE, &largest) != 0) return false;
    if (largest.rlim_cur != RLIM_INFINITY && end > largest.rlim_cur) return false;
    if (::posix_fallocate(file, static_cast<off_t>(offset), static_cast<off_t>(kWindow)) != 0) return false;
    void* const memory = ::mmap(nullptr, kWindow, PROT_READ | PROT_WRITE, MAP_SHARED, file, static_cast<off_t>(offset));
    if (memory == MAP_FAILED) return false;
    // The first window has the header, and stays.
    if (window_ && window_ != reinterpret_cast<char*>(header_)) ::munmap(window_, kWindow);
    window_ = static_cast<char*>(memory);
    offset_ = offset;
    at_ = 0;
    return true;
}

bool RowFile::start(const char* events, std::uint64_t max_bytes) {
    const SavedErrno errno_stays;
    busy_.clear();
    header_ = nullptr;  // in a child it is the parent's, and stays mapped
    window_ = nullptr;
    rows_ = 0;
    max_bytes_ = max_bytes;
    if (std::strlen(events) + sizeof kRowsSuffix > sizeof path_) return false;
    std::strcat(std::strcpy(path_, events), kRowsSuffix);
    const int file = ::open(path_, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return false;
    const bool mapped = map_next(file);
    ::close(file);
    if (!mapped) return false;
    header_ = reinterpret_cast<RowFileHeader*>(window_);
    *header_ = {.magic = {}, .version = kRowVersion, .row_size = sizeof(HashRow), .rows = 0, .unused = 0};
    std::memcpy(header_->magic, kRowMagic, sizeof kRowMagic);
    at_ = sizeof(RowFileHeader);
    return true;
}

std::uint32_t RowFile::append(const HashRow* rows, std::uint32_t count) {
    while (busy_.test_and_set(std::memory_order_acquire)) {
    }
    const auto* from = reinterpret_cast<const char*>(rows);
    std::uint64_t left = count * sizeof(HashRow);
    bool fits = header_ && rows_ + count < UINT32_MAX;
    while (fits && left > 0) {
        if (at_ == kWindow) {
            const SavedErrno errno_stays;
            const int file = ::open(path_, O_RDWR | O_CLOEXEC);
            fits = file >= 0 && map_next(file);
            if (file >= 0) ::close(file);
            if (!fits) break;
        }
        const std::uint64_t part = std::min(left, kWindow - at_);
        std::memcpy(window_ + at_, from, part);
        at_ += part;
        from += part;
        left -= part;
    }
    const auto first = static_cast<std::uint32_t>(rows_ + 1);
    if (fits) {
        rows_ += count;
        __atomic_store_n(&header_->rows, rows_, __ATOMIC_RELEASE);
    } else {
        header_ = nullptr;  // a row may be there in part: no further one can be
    }
    busy_.clear(std::memory_order_release);
    return fits ? first : 0;
}

}  // namespace whittle::libtorch
