#include "capture/memory.h"

#include <algorithm>

#include "tensor/reach.h"

namespace whittle::capture {

MemoryId Memories::of_input(TensorKey input, StorageKey storage, bool writable) {
    const auto [known, added] = by_input_.try_emplace(input, static_cast<MemoryId>(memories_.size()));
    if (added) memories_.push_back({.storage = storage, .input = input, .writable = writable});
    return known->second;
}

MemoryId Memories::of_result(NodeRef root, const ValueMeta& meta) {
    const auto [known, added] = by_root_.try_emplace(root.id, static_cast<MemoryId>(memories_.size()));
    if (added) memories_.push_back({.root = root, .root_meta = meta});
    return known->second;
}

MemoryId Memories::of(const Held& value) const {
    if (value.place.memory != kOwn) return value.place.memory;
    const auto known = by_root_.find(value.node.id);
    return known == by_root_.end() ? kOwn : known->second;
}

void Memories::resize(std::size_t count) {
    for (; memories_.size() > count; memories_.pop_back()) {
        const Memory& last = memories_.back();
        if (last.input)
            by_input_.erase(last.input);
        else
            by_root_.erase(last.root.id);
    }
}

Extent Extent::of(const ValueMeta& meta, std::int64_t offset) {
    const std::optional<Reach> reached = reach(meta.sizes, meta.strides);
    if (!reached) return {};
    const auto width = static_cast<std::int64_t>(size_of(meta.dtype));
    return {(offset + reached->first) * width, (offset + reached->last + 1) * width - 1};
}

void Memories::write(StorageKey storage, TensorKey by, const Extent& bytes) {
    const auto [known, added] = writes_[storage].try_emplace(by, bytes);
    if (added) return;
    known->second = {std::min(known->second.first, bytes.first), std::max(known->second.last, bytes.last)};
}

bool Memories::is_stale(StorageKey storage, TensorKey reader, const ValueMeta& meta, std::int64_t offset) const {
    const auto written = writes_.find(storage);
    if (written == writes_.end()) return false;
    const Extent read = Extent::of(meta, offset);
    return std::ranges::any_of(written->second, [&](const auto& write) {
        return write.first != reader && write.second.first <= read.last && write.second.last >= read.first;
    });
}

HeldOutputs Memories::outputs(std::span<const Held> held) const {
    HeldOutputs outputs;
    std::map<MemoryId, int> shown;
    for (const Held& value : held) {
        outputs.nodes.push_back(value.node);
        if (const MemoryId memory = of(value); memory >= 0 && !at(memory).storage) ++shown[memory];
    }
    for (const Held& value : held) {
        const MemoryId memory = of(value);
        const auto count = shown.find(memory);
        if (count == shown.end() || count->second < 2 || outputs.whole.contains(memory)) continue;
        const auto root = std::find(outputs.nodes.begin(), outputs.nodes.end(), at(memory).root);
        outputs.whole[memory] = static_cast<std::size_t>(root - outputs.nodes.begin());
        if (root == outputs.nodes.end()) outputs.nodes.push_back(at(memory).root);
    }
    return outputs;
}

}  // namespace whittle::capture
