// Memories: the one model of memory that tensors share while a graph is captured. A value lies in memory of its own
// until somebody views it; an input lies where the program has it. What the model answers: what an operation must not
// read for it was written through another tensor, and which memory is an output as a whole, with the values that show
// parts of it as its views.
#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "capture/naming.h"
#include "graph/graph.h"

namespace whittle::capture {

/// Identity of memory outside of the graph; 0: none.
using StorageKey = std::uint64_t;

/// Memory that values of one graph show, by number.
using MemoryId = std::int32_t;
inline constexpr MemoryId kOwn = -1;      ///< the value's own, whether or not others show it
inline constexpr MemoryId kOutside = -2;  ///< of what is around the body of a higher-order operation

/// Where a value lies.
struct Place {
    MemoryId memory = kOwn;
    std::int64_t offset = 0;  ///< in elements
    bool operator==(const Place&) const = default;
};

/// Bytes of a memory, from the first to the last that a tensor shows; by default all of it.
struct Extent {
    std::int64_t first = std::numeric_limits<std::int64_t>::min(), last = std::numeric_limits<std::int64_t>::max();
    /// Of a tensor whose element at index 0 is the memory's at `offset`.
    static Extent of(const ValueMeta& meta, std::int64_t offset);
};

struct Memory {
    StorageKey storage = 0;  ///< of an input …
    TensorKey input = 0;     ///< … which is this tensor
    bool writable = true;
    NodeRef root = {};  ///< else: the node that made it, which shows it from its first element
    ValueMeta root_meta = {};
};

/// A value that the program still has when its graph ends.
struct Held {
    NodeRef node = {};
    Place place = {};
};

/// What a graph gives: the values that are held, in order, then memory that is held only in parts.
struct HeldOutputs {
    std::vector<NodeRef> nodes = {};
    std::map<MemoryId, std::size_t> whole = {};  ///< memory that several values show: its position among `nodes`
};

class Memories {
  public:
    MemoryId of_input(TensorKey input, StorageKey storage, bool writable);
    /// Of a result that somebody views.
    MemoryId of_result(NodeRef root, const ValueMeta& meta);
    /// Where a value lies; kOwn: nobody ever viewed it.
    MemoryId of(const Held& value) const;
    const Memory& at(MemoryId id) const { return memories_.at(static_cast<std::size_t>(id)); }
    std::size_t size() const { return memories_.size(); }
    /// Forgets those that came later.
    void resize(std::size_t count);

    /// The graph writes these bytes of an input's memory, through the tensor `by`.
    void write(StorageKey storage, TensorKey by, const Extent& bytes);
    /// Its elements are not yet what the program has by now.
    bool is_written(StorageKey storage) const { return writes_.contains(storage); }
    /// An input that is read now would be read as it was before the graph: another one wrote to its bytes.
    bool is_stale(StorageKey storage, TensorKey reader, const ValueMeta& meta, std::int64_t offset) const;

    HeldOutputs outputs(std::span<const Held> held) const;

  private:
    std::vector<Memory> memories_;
    std::unordered_map<TensorKey, MemoryId> by_input_;
    std::unordered_map<NodeId, MemoryId> by_root_;
    std::unordered_map<StorageKey, std::map<TensorKey, Extent>> writes_;  ///< by whom they were made
};

}  // namespace whittle::capture
