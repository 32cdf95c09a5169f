#include "backends/halide/scratch.h"

#include <cstdlib>
#include <mutex>
#include <new>
#include <vector>

namespace whittle::halide {
namespace {

constexpr std::size_t kAlignment = 128;               // halide_malloc's on x86
constexpr std::size_t kLarge = std::size_t{1} << 16;  // what is smaller the C library keeps itself
constexpr std::size_t kMostKept = std::size_t{32} << 20;
constexpr std::size_t kMostWaste = 4;  // a block may be as many times as large as what it is taken for

/// In front of what the kernel sees.
struct alignas(kAlignment) Header {
    std::size_t bytes;  ///< behind it
};
static_assert(sizeof(Header) == kAlignment);

struct Kept {
    std::mutex mutex;
    std::vector<Header*> blocks;
    std::size_t bytes = 0;
};

/// Never destroyed: Halide's threads may outlive what is.
Kept& kept_blocks() {
    static Kept* const all = new Kept;
    return *all;
}

/// The smallest that is large enough. Another thread may hold the list, one that a fork has left behind for ever: then
/// none is.
Header* take_kept(std::size_t bytes) {
    Kept& all = kept_blocks();
    const std::unique_lock lock(all.mutex, std::try_to_lock);
    if (!lock) return nullptr;
    Header** best = nullptr;
    for (Header*& block : all.blocks)
        if (block->bytes >= bytes && block->bytes / kMostWaste <= bytes && (!best || block->bytes < (*best)->bytes))
            best = &block;
    if (!best) return nullptr;
    Header* const found = *best;
    *best = all.blocks.back();
    all.blocks.pop_back();
    all.bytes -= found->bytes;
    return found;
}

bool keep(Header* block) {
    Kept& all = kept_blocks();
    const std::unique_lock lock(all.mutex, std::try_to_lock);
    if (!lock || all.bytes + block->bytes > kMostKept) return false;
    all.blocks.push_back(block);
    all.bytes += block->bytes;
    return true;
}

}  // namespace

void* take_scratch(void*, std::size_t bytes) {
    if (bytes >= kLarge)
        if (Header* found = take_kept(bytes)) return found + 1;
    if (bytes > static_cast<std::size_t>(-1) - 2 * kAlignment) return nullptr;
    const std::size_t whole = (bytes + kAlignment - 1) / kAlignment * kAlignment;
    void* const memory = std::aligned_alloc(kAlignment, sizeof(Header) + whole);
    return memory ? new (memory) Header{whole} + 1 : nullptr;
}

void give_scratch(void*, void* memory) {
    if (!memory) return;
    Header* const block = static_cast<Header*>(memory) - 1;
    if (block->bytes < kLarge || !keep(block)) std::free(block);
}

}  // namespace whittle::halide
