#include "frontends/libtorch/elements.h"

#include <algorithm>
#include <cstring>

namespace whittle::libtorch {

namespace {

/// Calls f(position in the storage) for each element in row-major order.
template <class F>
void for_each_position(const TensorRef& tensor, F&& f) {
    const std::int64_t count = element_count(tensor.sizes);
    std::vector<std::int64_t> index(tensor.sizes.size());
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t position = tensor.offset;
        for (std::size_t d = 0; d < index.size(); ++d) position += index[d] * tensor.strides[d];
        f(position);
        for (std::size_t d = index.size(); d-- > 0;) {
            if (++index[d] < tensor.sizes[d]) break;
            index[d] = 0;
        }
    }
}

}  // namespace

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
    std::unordered_map<std::int64_t, const std::byte*> known;  // where each element that is asked for lies in the file
    for_each_position(tensor, [&](std::int64_t position) { known.emplace(position, nullptr); });
    std::size_t missing = known.size();
    for (auto i = list->second.rbegin(); i != list->second.rend() && missing > 0; ++i) {
        const Snapshot& snapshot = file_.snapshots[*i];
        if (snapshot.order >= order || snapshot.tensor.dtype != tensor.dtype) continue;
        const std::byte* element = snapshot.bytes.data();
        for_each_position(snapshot.tensor, [&](std::int64_t position) {
            const auto wanted = known.find(position);
            if (wanted != known.end() && !wanted->second) {
                wanted->second = element;
                --missing;
            }
            element += width;
        });
    }
    if (missing > 0) return std::nullopt;
    Tensor result(*tensor.dtype, tensor.sizes);
    auto* to = static_cast<std::byte*>(static_cast<void*>(result.mutable_raw()));
    for_each_position(tensor, [&](std::int64_t position) {
        std::memcpy(to, known.at(position), width);
        to += width;
    });
    return result.with_requires_grad(tensor.has(kRequiresGrad));
}

}  // namespace whittle::libtorch
