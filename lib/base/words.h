// Words of messages: numbers with what they count, lists, and lines that fit a screen.
#pragma once

#include <algorithm>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <iterator>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace whittle {

/// "1 query", "2 queries".
std::string plural(std::integral auto count, const std::string& one, const std::string& several) {
    return std::to_string(count) + " " + (count == 1 ? one : several);
}
/// "1 graph", "2 graphs".
std::string plural(std::integral auto count, const std::string& noun) { return plural(count, noun, noun + "s"); }

/// "9 calls", "9 calls (guessed)"; "" for one that is certain.
inline std::string call_count(std::integral auto calls, bool guessed) {
    return calls == 1 && !guessed ? std::string() : plural(calls, "call") + (guessed ? " (guessed)" : "");
}

/// An ASCII letter, an ASCII digit or "_".
constexpr bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
}

/// The text with f(word) in place of each word; f("") must be "".
template <class F>
std::string with_words(std::string_view text, F&& f) {
    std::string result, word;
    for (const char c : text) {
        if (is_word(c)) {
            word += c;
            continue;
        }
        result += f(std::exchange(word, {})) + c;
    }
    return result + f(word);
}

/// Whether a list of words with blanks between them has the word.
bool has_word(std::string_view list, std::string_view word);

/// "a, b, c".
std::string join(std::span<const std::string> words, std::string_view separator = ", ");
/// "2, 3".
std::string join(std::span<const std::int64_t> numbers, std::string_view separator = ", ");
/// The same of what f gives for each item.
template <class Range, class F>
std::string join(Range&& items, F&& f,
                 std::string_view separator = ", ") requires(!std::convertible_to<F, std::string_view>) {
    std::vector<std::string> words;
    for (const auto& item : items) words.emplace_back(std::invoke(f, item));
    return join(words, separator);
}

/// "a", "b" and "c" of "a,b,c"; nothing of an empty text, and no empty word behind the last separator.
std::vector<std::string> split(std::string_view text, char separator);

/// With `by` in the place of each `word`.
std::string replaced(std::string text, std::string_view word, std::string_view by);
/// A message as a part of a line: without line ends, and without the full stop or blank at its end.
std::string message_in_line(std::string message);

template <class T, class List = std::vector<T>>
void append(std::vector<T>& to, const List& more) {
    to.insert(to.end(), std::ranges::begin(more), std::ranges::end(more));
}
template <class T>
void append(std::vector<T>& to, std::vector<T>&& more) {
    std::ranges::move(more, std::back_inserter(to));
}

/// At the end, where the list does not have it yet.
template <class T, class One>
void add_once(std::vector<T>& to, One&& one) {
    if (std::ranges::find(to, one) == to.end()) to.push_back(std::forward<One>(one));
}

/// How many items of a list are shown where `most` fit: nothing is gained by leaving out one.
constexpr std::size_t shown_of(std::size_t all, std::size_t most) {
    return all <= most || all - most == 1 ? all : most;
}
/// "a, b and 4 more": of a list of which `most` fit. `last`: before the last item where all are shown.
std::string listed(std::span<const std::string> items, std::size_t most, std::string_view last = ", ");

/// Without the blanks around it.
std::string trimmed(std::string_view text);

/// With ASCII's capitals as small letters.
std::string lower_case(std::string text);

/// With blanks before or behind it, `width` characters at least.
inline std::string pad_left(const std::string& text, std::size_t width) {
    return std::string(width > text.size() ? width - text.size() : 0, ' ') + text;
}
inline std::string pad_right(const std::string& text, std::size_t width) {
    return text + std::string(width > text.size() ? width - text.size() : 0, ' ');
}

/// Columns that UTF-8 text takes on a terminal, without wide characters.
std::size_t columns_of(std::string_view text);

/// Whole words of the text, and "..." behind what is cut: `most` bytes in all, and not from the middle of a
/// parenthesis. Of a word that is longer its beginning.
std::string first_words(const std::string& text, std::size_t most);

/// At most `columns` columns of it, the last of them "…" where something is left out; 0: all of it.
std::string shortened(std::string_view text, std::size_t columns);

/// Damerau-Levenshtein distance in its "optimal string alignment" form: insertions, deletions, substitutions and swaps
/// of neighbours that turn a into b.
std::size_t edit_distance(std::string_view a, std::string_view b);

/// "did you mean 'halide'?" for the closest of `known` (at most a third of its letters differ, and not the only one of
/// an option "-o"; or it starts with `name`), else "".
std::string did_you_mean(std::string_view name, std::span<const std::string> known);

/// "next: COMMAND\n", the label as wide as those of the report. Empty without a command: callers have none where the
/// command would not work.
std::string next_line(const std::string& command, std::size_t width = 6);

}  // namespace whittle
