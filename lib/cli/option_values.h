// How words of the command line become a value, and what kind of value an option has, from the type of its target;
// `place` is the option's name, for messages.
#pragma once

#include <charconv>
#include <chrono>
#include <concepts>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <vector>

#include "base/error.h"
#include "cli/usage.h"

namespace whittle::cli {

inline void convert(const std::string& word, const std::string& place, std::string& target) {
    if (word.empty()) throw Error({place, {}}, "the value is empty", "to use the default value, leave out the option");
    target = word;
}

inline void convert(const std::string& word, const std::string& place, std::filesystem::path& target) {
    if (word.empty()) throw Error({place, {}}, "the path is empty");
    target = word;
}

template <class Number>
void convert_number(const std::string& word, const std::string& place, Number& target, const char* why) {
    const auto [end, status] = std::from_chars(word.data(), word.data() + word.size(), target);
    const bool fits = target >= 0 && target <= std::numeric_limits<Number>::max();  // which NaN does not
    if (status == std::errc::result_out_of_range) throw invalid_value(word, place, "the number is too large");
    if (status != std::errc() || end != word.data() + word.size() || !fits) throw invalid_value(word, place, why);
}
template <std::integral Number>
void convert(const std::string& word, const std::string& place, Number& target) {
    convert_number(word, place, target, "expected a whole number, 0 or more");
}
inline void convert(const std::string& word, const std::string& place, double& target) {
    convert_number(word, place, target, "expected a number, 0 or more");
}

/// "90s", "10m", "2h", "1d", as timeout(1) has it; a number alone is seconds.
inline void convert(const std::string& word, const std::string& place, std::chrono::seconds& target) {
    constexpr std::string_view kUnits = "smhd";
    constexpr double kSeconds[] = {1, 60, 3600, 86400};
    const std::size_t unit = word.empty() ? kUnits.npos : kUnits.find(word.back());
    const char* const last = word.data() + word.size() - (unit == kUnits.npos ? 0 : 1);
    double number = 0;
    const auto [end, status] = std::from_chars(word.data(), last, number);
    number *= unit == kUnits.npos ? 1 : kSeconds[unit];
    if (status != std::errc() || end != last || !(number >= 1 && number <= 1e9))
        throw invalid_value(word, place, "expected a time such as 90s, 10m or 2h");
    target = std::chrono::seconds(static_cast<std::int64_t>(number));
}

template <class T>
void convert(const std::string& word, const std::string& place, std::optional<T>& target) {
    target.emplace();
    convert(word, place, *target);
}

template <class T>
inline constexpr bool is_list = false;
template <class T>
inline constexpr bool is_list<std::vector<T>> = true;

template <class T>
inline constexpr bool is_path = std::is_same_v<T, std::filesystem::path>;
template <class T>
inline constexpr bool is_path<std::optional<T>> = is_path<T>;
template <class T>
inline constexpr bool is_path<std::vector<T>> = is_path<T>;

template <class T>
void assign(const std::vector<std::string>& words, const std::string& place, T& target) {
    if constexpr (is_list<T>) {
        target.resize(words.size());
        for (std::size_t i = 0; i < words.size(); ++i) convert(words[i], place, target[i]);
    } else {
        convert(words.front(), place, target);
    }
}

}  // namespace whittle::cli
