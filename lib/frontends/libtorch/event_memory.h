// EventMemory: the bytes of an event file at one moment, though the program may still be writing it.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <span>

namespace whittle::libtorch {

class EventMemory {
  public:
    /// Chunks that are used again and again are as they were then; of others more may have come behind what their
    /// headers told. Throws Error when the file cannot be read.
    static std::shared_ptr<const EventMemory> open(const std::filesystem::path& path);
    ~EventMemory();
    EventMemory(const EventMemory&) = delete;
    EventMemory& operator=(const EventMemory&) = delete;

    std::span<const std::byte> bytes() const { return {data_, size_}; }

  private:
    explicit EventMemory(const std::filesystem::path& path);

    std::byte* data_ = nullptr;
    std::size_t size_ = 0;
};

}  // namespace whittle::libtorch
