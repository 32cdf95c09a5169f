// The versions of ai.onnx that Whittle reads and that the onnx ops are defined for.
#pragma once

#include <cstdint>

namespace whittle {

inline constexpr std::int64_t kMinOpset = 7, kMaxOpset = 24;

}  // namespace whittle
