// Content hashes: XXH3-128, as 32 hexadecimal digits. They name shared data and detect damage; they do not resist
// forgery.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>

namespace whittle {

std::string content_hash(std::span<const std::byte> bytes);
std::string content_hash(std::string_view text);

}  // namespace whittle
