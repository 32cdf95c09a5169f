#include "base/base64.h"

#include <cstdint>

namespace whittle {

std::string base64(std::string_view bytes) {
    constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    constexpr std::size_t kLine = 76;
    std::string text;
    std::size_t column = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 3) {
        const std::string_view group = bytes.substr(at, 3);
        std::uint32_t bits = 0;
        for (std::size_t i = 0; i < 3; i++)
            bits = bits << 8 | (i < group.size() ? static_cast<unsigned char>(group[i]) : 0U);
        for (std::size_t i = 0; i < 4; i++) text += i <= group.size() ? kDigits[bits >> (18 - 6 * i) & 63] : '=';
        column += 4;
        if (column == kLine || at + 3 >= bytes.size()) text += '\n', column = 0;
    }
    return text;
}

}  // namespace whittle
