#include "frontends/libtorch/elements.h"

#include <algorithm>
#include <cstring>

#include "tensor/reach.h"

namespace whittle::libtorch {

Elements::Elements(const EventFile& file) : file_(file) {
    for (std::size_t i = 0; i < file.snapshots.size(); ++i)
        if (file.snapshots[i].tensor.has(kHasStorage)) of_storage_[file.snapshots[i].tensor.storage].push_back(i);
    for (auto& [storage, list] : of_storage_)
        std::ranges::sort(list, {}, [&](std::size_t i) { return file.snapshots[i].order; });
}

std::optional<Tensor> Elements::before(const TensorRef& tensor, std::uint64_t order) const {
    const auto list = of_storage_.find(tensor.storage);
    if (list == of_storage_.end() || !tensor.dtype || !tensor.has(kHasStorage)) return std::nullopt;
    const std::size_t width = size_of(*tensor.dtype);
    std::size_t bytes = 0;
    for (const std::size_t i : list->second) bytes += file_.snapshots[i].bytes.size();
    if (static_cast<std::size_t>(element_count(tensor.sizes)) > bytes / width) return std::nullopt;
    // A picture of the memory from the first to the last element that is asked for.
    const std::optional<Reach> reached = reach(tensor.sizes, tensor.strides);
    if (!reached) return std::nullopt;
    const std::int64_t first = tensor.offset + reached->first, last = tensor.offset + reached->last;
    enum : unsigned char { kUnwanted, kMissing, kKnown };
    Tensor memory(*tensor.dtype, {reached->count()});
    auto* const bytes_there = static_cast<std::byte*>(memory.mutable_raw());
    std::vector<unsigned char> states(static_cast<std::size_t>(reached->count()), kUnwanted);
    std::size_t missing = 0;
    for_each_position(tensor, [&](std::int64_t position) {
        unsigned char& state = states[static_cast<std::size_t>(position - first)];
        missing += state == kUnwanted;
        state = kMissing;
    });
    for (auto i = list->second.rbegin(); i != list->second.rend() && missing > 0; ++i) {
        const Snapshot& snapshot = file_.snapshots[*i];
        if (snapshot.order >= order || snapshot.tensor.dtype != tensor.dtype) continue;
        const std::byte* element = snapshot.bytes.data();
        for_each_position(snapshot.tensor, [&](std::int64_t position) {
            const auto at = static_cast<std::size_t>(position - first);
            if (position >= first && position <= last && states[at] == kMissing) {
                std::memcpy(bytes_there + at * width, element, width);
                states[at] = kKnown;
                --missing;
            }
            element += width;
        });
    }
    if (missing > 0) return std::nullopt;
    return memory.as_strided(tensor.sizes, tensor.strides, -reached->first)
        .contiguous()
        .with_requires_grad(tensor.has(kRequiresGrad));
}

}  // namespace whittle::libtorch
