#include "base/words.h"

#include <algorithm>
#include <vector>

namespace whittle {

std::string trimmed(std::string_view text) {
    constexpr std::string_view kBlanks = " \t\r";
    const std::size_t first = text.find_first_not_of(kBlanks);
    if (first == std::string_view::npos) return {};
    return std::string(text.substr(first, text.find_last_not_of(kBlanks) - first + 1));
}

std::vector<std::string> split(std::string_view text, char separator) {
    std::vector<std::string> words;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find(separator), text.size());
        words.emplace_back(text.substr(0, end));
        text.remove_prefix(std::min(end + 1, text.size()));
    }
    return words;
}

std::string replaced(std::string text, std::string_view word, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += by.size())
        text.replace(at, word.size(), by);
    return text;
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
    return static_cast<std::size_t>(std::ranges::count_if(text, begins_character));
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

std::size_t edit_distance(std::string_view a, std::string_view b) {
    // Three rows of the table: two back for swaps, one back, and the current one.
    std::vector<std::size_t> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
    for (std::size_t j = 0; j <= b.size(); ++j) last[j] = j;
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            const std::size_t substitute = last[j - 1] + (a[i - 1] == b[j - 1] ? 0 : 1);
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, substitute});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(last);
        last.swap(row);
    }
    return last[b.size()];
}

std::string message_in_line(std::string message) {
    std::ranges::replace(message, '\n', ' ');
    while (!message.ends_with("...") && (message.ends_with('.') || message.ends_with(' '))) message.pop_back();
    return message;
}

std::string did_you_mean(std::string_view name, std::span<const std::string> known) {
    if (name.empty() || name.size() > 256) return {};
    const std::string* best = nullptr;
    std::size_t best_distance = 0;
    for (const std::string& candidate : known) {
        const bool starts = candidate.size() > name.size() && candidate.compare(0, name.size(), name) == 0;
        const std::size_t distance = starts ? 1 : edit_distance(name, candidate);
        const std::size_t letters = candidate.size() - std::min(candidate.find_first_not_of('-'), candidate.size());
        if (distance > std::max<std::size_t>(1, candidate.size() / 3) || (!starts && distance >= letters)) continue;
        if (!best || distance < best_distance) {
            best = &candidate;
            best_distance = distance;
        }
    }
    return best ? "did you mean '" + *best + "'?" : std::string();
}

std::string next_line(const std::string& command, std::size_t width) {
    return command.empty() ? std::string() : pad_right("next:", width) + command + "\n";
}

}  // namespace whittle
