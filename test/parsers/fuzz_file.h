// For fuzz targets whose parser takes a path: the input as a file in memory.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <string>

#include "base/error.h"

namespace whittle::fuzz {

/// Calls f(path) on a file that holds the bytes; an Error is the answer that bad input deserves.
template <class F>
void with_file(const std::uint8_t* data, std::size_t size, F&& f) {
    const int fd = ::memfd_create("fuzz", MFD_CLOEXEC);
    if (fd < 0 || ::write(fd, data, size) != static_cast<ssize_t>(size)) std::abort();
    try {
        f(std::filesystem::path("/proc/self/fd/" + std::to_string(fd)));
    } catch (const Error&) {
    }
    ::close(fd);
}

}  // namespace whittle::fuzz
