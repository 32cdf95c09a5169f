#include "base/memory_file.h"

#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>

#include "base/error.h"

namespace whittle {

MemoryFile::MemoryFile() : fd_(static_cast<int>(::memfd_create("whittle-answer", MFD_CLOEXEC))) {
    if (fd_ < 0) throw_errno("create a file for the child's answer");
}

MemoryFile::~MemoryFile() { ::close(fd_); }

bool MemoryFile::write(std::string_view bytes) const {
    while (!bytes.empty()) {
        const ssize_t written = ::write(fd_, bytes.data(), bytes.size());
        if (written < 0 && errno != EINTR) return false;
        if (written > 0) bytes.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
}

MemoryFile::Mapping::Mapping(int fd) {
    const off_t size = ::lseek(fd, 0, SEEK_END);
    if (size <= 0) return;
    void* mapped = ::mmap(nullptr, static_cast<std::size_t>(size), PROT_READ, MAP_PRIVATE, fd, 0);
    if (mapped == MAP_FAILED) throw_errno("map the child's answer");
    bytes = {static_cast<const char*>(mapped), static_cast<std::size_t>(size)};
}

MemoryFile::Mapping::~Mapping() {
    if (!bytes.empty()) ::munmap(const_cast<char*>(bytes.data()), bytes.size());
}

}  // namespace whittle
