#include "tensor/alike.h"

#include <cstring>

namespace whittle {

bool all_alike(const Tensor& tensor) {
    const Tensor contiguous = tensor.contiguous();
    const auto bytes = contiguous.contiguous_bytes();
    const std::size_t width = size_of(tensor.dtype());
    return bytes.size() <= width || std::memcmp(bytes.data(), bytes.data() + width, bytes.size() - width) == 0;
}

}  // namespace whittle
