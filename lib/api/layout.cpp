#include "api/layout.h"

#include "base/error.h"
#include "capture/memory.h"
#include "ops/core/memory.h"

namespace whittle::api {

std::shared_ptr<Storage> laid_out(const whittle::Tensor& value, const ValueMeta& meta) {
    const auto elements = capture::reach(meta);
    WHITTLE_CHECK(elements.has_value(), "a root with negative strides");
    auto storage = Storage::allocate(static_cast<std::size_t>(*elements) * size_of(meta.dtype));
    whittle::Tensor shown(storage, meta.dtype, meta.sizes, meta.strides);
    write_into(shown, value);
    return storage;
}

whittle::Tensor with_layout(const whittle::Tensor& value, const ValueMeta& meta) {
    if (value.strides() == meta.strides || value.numel() == 0) return value;
    return {laid_out(value, meta), meta.dtype, meta.sizes, meta.strides};
}

}  // namespace whittle::api
