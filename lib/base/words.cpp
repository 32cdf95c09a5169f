#include "base/words.h"

#include <algorithm>

namespace whittle {

std::string trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

std::string listed(std::span<const std::string> items, std::size_t most, std::string_view last) {
    const std::size_t shown = shown_of(items.size(), most), left = items.size() - shown;
    std::string text;
    for (std::size_t i = 0; i < shown; ++i)
        text.append(i == 0 ? "" : left || i + 1 < shown ? ", " : last).append(items[i]);
    return left ? text + " and " + std::to_string(left) + " more" : text;
}

bool has_word(std::string_view list, std::string_view word) {
    while (!list.empty()) {
        const std::size_t end = std::min(list.find(' '), list.size());
        if (list.substr(0, end) == word) return true;
        list.remove_prefix(std::min(end + 1, list.size()));
    }
    return false;
}

std::string join(std::span<const std::string> words, std::string_view separator) {
    std::string text;
    for (const std::string& word : words) {
        if (&word != words.data()) text += separator;
        text += word;
    }
    return text;
}

std::string join(std::span<const std::int64_t> numbers, std::string_view separator) {
    return join(
        numbers, [](std::int64_t number) { return std::to_string(number); }, separator);
}

namespace {
bool begins_character(char byte) { return (static_cast<unsigned char>(byte) & 0xC0) != 0x80; }
}  // namespace

std::string lower_case(std::string text) {
    for (char& c : text)
        if ('A' <= c && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return text;
}

std::size_t columns_of(std::string_view text) {
    return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), begins_character));
}

std::string first_words(const std::string& text, std::size_t most) {
    constexpr std::string_view kCut = "...";
    if (text.size() <= most) return text;
    const std::size_t room = most - std::min(most, kCut.size());
    std::size_t end = text.rfind(' ', room);
    if (end == std::string::npos || end == 0) {
        for (end = room; end > 0 && !begins_character(text[end]);) end--;
        return text.substr(0, end) + std::string(kCut);
    }
    const auto count = [&](char c) { return std::ranges::count(text.substr(0, end), c); };
    if (const std::size_t open = text.rfind('(', end); open > 0 && count('(') > count(')')) end = open;
    while (end > 0 && std::string_view(" ,;:.").find(text[end - 1]) != std::string_view::npos) end--;
    return text.substr(0, end) + std::string(kCut);
}

std::string shortened(std::string_view text, std::size_t columns) {
    if (columns == 0 || columns_of(text) <= columns) return std::string(text);
    std::size_t end = 0, kept = 0;
    for (; end < text.size(); ++end)
        if (begins_character(text[end]) && ++kept == columns) break;
    return std::string(text.substr(0, end)) + "…";
}

}  // namespace whittle
