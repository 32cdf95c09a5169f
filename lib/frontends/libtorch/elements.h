// Elements: what a tensor held at a moment, put together from the snapshots of its memory. The capture writes down what
// each op read and wrote, so a tensor that was changed through a view is known although nobody asked for it.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "frontends/libtorch/reader.h"

namespace whittle::libtorch {

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

class Elements {
  public:
    explicit Elements(const EventFile& file);

    /// Of the tensor's place in memory just before the event `order`: for each element what the last snapshot of it
    /// says. Nothing when the snapshots do not cover it. Contiguous.
    std::optional<Tensor> before(const TensorRef& tensor, std::uint64_t order) const;

  private:
    const EventFile& file_;
    std::unordered_map<std::uint64_t, std::vector<std::size_t>> of_storage_;  ///< snapshots, in order
};

}  // namespace whittle::libtorch
