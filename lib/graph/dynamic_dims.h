// The sizes of a model file that vary, by name.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>

namespace whittle {

/// Throws Error, of the model's file, for a size that is asked for of something else than its dynamic dimensions.
void check_dims(const std::string& file, const std::map<std::string, std::int64_t>& asked,
                std::span<const std::string> dynamic);

}  // namespace whittle
