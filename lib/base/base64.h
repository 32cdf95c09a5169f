// Bytes as text that survives any channel.
#pragma once

#include <string>
#include <string_view>

namespace whittle {

/// RFC 4648, section 4, in lines of 76 characters as MIME and base64(1) have them, each with its line break.
std::string base64(std::string_view bytes);

}  // namespace whittle
