#include "capture/memory.h"

#include <algorithm>

namespace whittle::capture {

MemoryId Memories::of_input(StorageKey storage, bool writable) {
    const auto [known, added] = by_storage_.try_emplace(storage, static_cast<MemoryId>(memories_.size()));
    if (added) memories_.push_back({.storage = storage, .writable = writable});
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
        if (last.storage)
            by_storage_.erase(last.storage);
        else
            by_root_.erase(last.root.id);
    }
}

bool Memories::is_stale(StorageKey storage, TensorKey reader) const {
    if (writers_.empty()) return false;
    const auto written = writers_.find(storage);
    return written != writers_.end() && written->second != reader;
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
