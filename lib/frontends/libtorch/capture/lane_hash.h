// Hashes of numbers, and of bytes as fast as memory is read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace whittle::libtorch {

inline std::uint64_t hash(std::uint64_t seed, std::uint64_t value) {
    seed ^= value + 0x9e3779b97f4a7c15ull + (seed << 12) + (seed >> 4);
    return seed * 0xff51afd7ed558ccdull;
}

/// Four lanes, so that it is as fast as memory.
class LaneHash {
  public:
    /// Adds as many of the bytes as fill all lanes evenly. Returns how many these are; the caller hashes the others.
    std::size_t add(const char* data, std::size_t size) {
        constexpr std::size_t kStride = kLanes * sizeof(std::uint64_t);
        std::uint64_t lanes[kLanes], words[kLanes];
        std::memcpy(lanes, lanes_, sizeof lanes);
        std::size_t at = 0;
        for (; at + kStride <= size; at += kStride) {
            std::memcpy(words, data + at, kStride);
            for (std::size_t i = 0; i < kLanes; ++i)
                lanes[i] = (lanes[i] ^ words[i]) * 0x9e3779b97f4a7c15ull + (lanes[i] >> 29);
        }
        std::memcpy(lanes_, lanes, sizeof lanes);
        return at;
    }

    std::uint64_t value(std::uint64_t seed) const {
        for (const std::uint64_t lane : lanes_) seed = hash(seed, lane);
        return seed;
    }

  private:
    static constexpr std::size_t kLanes = 4;
    std::uint64_t lanes_[kLanes] = {1, 2, 3, 4};
};

}  // namespace whittle::libtorch
