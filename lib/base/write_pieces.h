// write_file() (files.h) for contents that lie in several places and are too large to be put together first.
#pragma once

#include <filesystem>
#include <span>
#include <string_view>

namespace whittle {

/// Writes the pieces one behind the other, as write_file() writes one.
void write_pieces(const std::filesystem::path& path, std::span<const std::string_view> pieces);

}  // namespace whittle
