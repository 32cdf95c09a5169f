#include "formats/json_text.h"

#include <cmath>

#include "base/error.h"
#include "base/number_text.h"
#include "base/words.h"
#include "tensor/shape.h"

namespace whittle {
namespace {

/// Bytes of the well-formed UTF-8 sequence that `text` starts with, else 0. Unicode 15, table 3-7.
std::size_t sequence_length(std::string_view text) {
    const auto byte = [&](std::size_t i) { return i < text.size() ? static_cast<unsigned char>(text[i]) : 0u; };
    const auto continues = [&](std::size_t i) { return (byte(i) & 0xc0u) == 0x80u; };
    const unsigned first = byte(0), second = byte(1);
    if (first < 0x80) return 1;
    if (first >= 0xc2 && first <= 0xdf) return continues(1) ? 2 : 0;
    if (first >= 0xe0 && first <= 0xef) {
        const bool overlong = first == 0xe0 && second < 0xa0, surrogate = first == 0xed && second > 0x9f;
        return continues(1) && continues(2) && !overlong && !surrogate ? 3 : 0;
    }
    if (first >= 0xf0 && first <= 0xf4) {
        const bool overlong = first == 0xf0 && second < 0x90, beyond = first == 0xf4 && second > 0x8f;
        return continues(1) && continues(2) && continues(3) && !overlong && !beyond ? 4 : 0;
    }
    return 0;
}

}  // namespace

bool is_utf8(std::string_view text) {
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        if (length == 0) return false;
        text.remove_prefix(length);
    }
    return true;
}

std::string as_utf8(std::string_view text) {
    std::string result;
    result.reserve(text.size());
    while (!text.empty()) {
        const std::size_t length = sequence_length(text);
        result += length ? text.substr(0, length) : std::string_view("\xef\xbf\xbd");
        text.remove_prefix(length ? length : 1);
    }
    return result;
}

std::string html_escaped(std::string_view text) {
    constexpr std::string_view kSpecial = "&<>\"", kEntities[] = {"&amp;", "&lt;", "&gt;", "&quot;"};
    std::string result;
    for (const char c : as_utf8(text)) {
        const std::size_t special = kSpecial.find(c);
        if (special == std::string_view::npos)
            result += c;
        else
            result += kEntities[special];
    }
    return result;
}

std::string as_line(std::string_view text, std::size_t limit) {
    const bool clipped = text.size() > limit;
    std::size_t end = clipped ? limit : text.size();
    while (clipped && end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;  // inside a character
    if (const std::size_t blank = clipped ? text.rfind(' ', end) : 0; blank > 0 && blank != text.npos) end = blank;
    std::string line = as_utf8(text.substr(0, end));
    for (char& c : line)
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
    return clipped ? line + " ..." : line;
}

std::string json_quote(std::string_view text) {
    static constexpr char digits[] = "0123456789abcdef";
    if (!is_utf8(text))
        throw Error("found the name \"" + as_utf8(text) + "\", expected a name in UTF-8, as JSON requires",
                    "change the name in the model");
    std::string out;
    out.reserve(text.size() + 2);
    out += '"';
    for (const char c : text) {
        if (c == '"' || c == '\\') {
            out += '\\';
            out += c;
        } else if (c == '\n') {
            out += "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
            out += "\\u00";
            out += digits[static_cast<unsigned char>(c) >> 4];
            out += digits[c & 15];
        } else {
            out += c;
        }
    }
    return out += '"';
}

std::string json_text(std::string_view text) { return json_quote(as_utf8(text)); }

std::string json_number(double value) {
    if (std::isnan(value)) return R"({"float": "nan"})";
    if (std::isinf(value)) return value > 0 ? R"({"float": "inf"})" : R"({"float": "-inf"})";
    return shortest_real(value);
}

}  // namespace whittle
