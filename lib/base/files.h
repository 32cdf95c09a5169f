// Files: read whole, map, write atomically, temporary folders.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/error.h"
#include "base/interrupt.h"

namespace whittle {

class Descriptor {
  public:
    Descriptor() = default;
    explicit Descriptor(int fd) : fd_(fd) {}
    ~Descriptor() { reset(); }
    Descriptor(Descriptor&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
    Descriptor& operator=(Descriptor&& other) noexcept {
        reset();
        fd_ = std::exchange(other.fd_, -1);
        return *this;
    }
    int get() const { return fd_; }
    bool open() const { return fd_ >= 0; }
    void reset() {
        if (fd_ >= 0) ::close(fd_);
        fd_ = -1;
    }

  private:
    int fd_ = -1;
};

/// The whole file as text. Throws Error naming the path when it cannot be read or is larger than `limit` bytes.
std::string read_file(const std::filesystem::path& path, std::size_t limit = std::size_t(2) << 30);

/// Writes to a temporary file in the same folder, flushes it to disk and renames it: readers see the old file or the
/// new one, never a part; a killed writer's leftovers of it go. Creates missing parent folders. Throws Error.
void write_file(const std::filesystem::path& path, std::string_view contents);

/// What tells a file's contents from other ones: a hash, or, of more than 64 MiB, the size and the time of the last
/// change; empty when it cannot be read.
std::string fingerprint(const std::filesystem::path& path);

/// A read-only, private mapping of a file; pages are read when touched. Kept alive by shared_ptr by whoever views it.
class MappedFile {
  public:
    /// Throws Error when the file cannot be opened or mapped. An empty file has an empty view.
    static std::shared_ptr<const MappedFile> open(const std::filesystem::path& path);
    ~MappedFile();
    MappedFile(const MappedFile&) = delete;
    MappedFile& operator=(const MappedFile&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_}; }

  private:
    MappedFile() = default;
    const std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

/// What the machine calls itself; empty where it does not say.
std::string host_name();

/// Eight hexadecimal digits: a hash of the host's name, its boot and the space in which process numbers are unique.
std::string this_machine();

/// Makes `to`, which is not there yet, another name of the file `from`, or a copy where the file system has no links.
/// Throws Error.
void link_or_copy(const std::filesystem::path& from, const std::filesystem::path& to);

/// A fresh folder under $TMPDIR (or /tmp), removed with everything in it on destruction unless kept. Its name says
/// whose it is: PREFIX.MACHINE-PID-…, MACHINE being this_machine(), and it is locked while it lives. Those of a process
/// that was killed are removed by the next process on the same machine that makes a folder of the same prefix, if that
/// begins with "whittle-". Another machine's are left alone: locks may not reach from one to the other.
class TempDir {
  public:
    explicit TempDir(std::string_view prefix = "whittle");
    ~TempDir();
    TempDir(const TempDir&) = delete;
    TempDir& operator=(const TempDir&) = delete;

    const std::filesystem::path& path() const { return path_; }
    void keep() { keep_ = true; }

  private:
    CleanUpScope scope_;
    std::filesystem::path path_;
    int lock_ = -1;
    bool keep_ = false;
};

/// Throws Error when `contents` of `path` are such a pointer.
inline void refuse_lfs_pointer(std::string_view contents, const std::filesystem::path& path) {
    if (contents.starts_with("version https://git-lfs.github.com/spec/"))
        throw Error({path.string(), {}}, "found a Git LFS pointer, expected the contents of the file",
                    "download the file: git lfs pull");
}

/// Writes the pieces one behind the other, as write_file() writes one.
void write_pieces(const std::filesystem::path& path, std::span<const std::string_view> pieces);

}  // namespace whittle
