#include "frontends/libtorch/event_memory.h"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/error.h"
#include "frontends/libtorch/events.h"

namespace whittle::libtorch {
namespace {

/// A chunk that is used again, with all its headers, as it was at a moment.
struct Copy {
    std::size_t at = 0;
    std::vector<std::byte> bytes;
};

/// Empty where the program set it back each time that we looked: then what it held has moved, and is read there.
std::vector<std::byte> copy_of_reused(const std::byte* chunk, std::size_t most) {
    constexpr int kTries = 100;
    constexpr std::size_t kHeads = sizeof(ChunkHeader) + sizeof(ReusedHeader);
    const auto load = [chunk](std::size_t offset) {
        return __atomic_load_n(reinterpret_cast<const std::uint64_t*>(chunk + offset), __ATOMIC_SEQ_CST);
    };
    for (int i = 0; i < kTries; ++i) {
        const std::uint64_t emptied = load(sizeof(ChunkHeader)), used = load(offsetof(ChunkHeader, used));
        if (used > most - kHeads) return {};  // damaged, which the reader tells
        std::vector<std::byte> bytes(chunk, chunk + kHeads + used);
        std::memcpy(bytes.data() + offsetof(ChunkHeader, used), &used, sizeof used);
        if (load(sizeof(ChunkHeader)) == emptied) return bytes;
    }
    std::vector<std::byte> none(chunk, chunk + kHeads);
    std::memset(none.data() + offsetof(ChunkHeader, used), 0, sizeof(ChunkHeader::used));
    return none;
}

std::vector<Copy> copies(std::span<const std::byte> file) {
    std::vector<Copy> found;
    FileHeader header{};
    if (file.size() < kFileHeaderSize) return found;
    std::memcpy(&header, file.data(), sizeof header);
    if (header.header_size != kFileHeaderSize) return found;
    for (std::size_t at = kFileHeaderSize; file.size() - at >= sizeof(ChunkHeader);) {
        ChunkHeader chunk{};
        std::memcpy(&chunk, file.data() + at, sizeof chunk);
        const bool reused = chunk.magic == kReusedMagic;
        if ((!reused && chunk.magic != kChunkMagic) || chunk.size > file.size() - at || chunk.size < sizeof chunk)
            break;
        if (reused && chunk.size >= sizeof chunk + sizeof(ReusedHeader) && at % alignof(std::uint64_t) == 0)
            if (std::vector<std::byte> bytes = copy_of_reused(file.data() + at, chunk.size); !bytes.empty())
                found.push_back({at, std::move(bytes)});
        at += chunk.size;
    }
    return found;
}

}  // namespace

EventMemory::EventMemory(const std::filesystem::path& path) {
    const auto fail = [&path](const char* doing) {
        throw Error({path.string(), {}}, std::string("cannot ") + doing + " it: " + std::strerror(errno));
    };
    const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
    if (file < 0) fail("open");
    struct stat status {};
    const bool known = ::fstat(file, &status) == 0;
    size_ = known ? static_cast<std::size_t>(status.st_size) : 0;
    void* data = nullptr;
    if (size_) data = ::mmap(nullptr, size_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, file, 0);
    ::close(file);
    if (!known) fail("read");
    if (data == MAP_FAILED) fail("map");
    data_ = static_cast<std::byte*>(data);
}

EventMemory::~EventMemory() {
    if (data_) ::munmap(data_, size_);
}

/// First what may move, then where it may have moved to meanwhile: so nothing is missed, and what is there twice is
/// told by its numbers.
std::shared_ptr<const EventMemory> EventMemory::open(const std::filesystem::path& path) {
    const std::vector<Copy> moving = copies(EventMemory(path).bytes());
    const std::shared_ptr<EventMemory> memory(new EventMemory(path));
    for (const Copy& copy : moving)
        if (copy.at + copy.bytes.size() <= memory->size_)
            std::memcpy(memory->data_ + copy.at, copy.bytes.data(), copy.bytes.size());
    return memory;
}

}  // namespace whittle::libtorch
