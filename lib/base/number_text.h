// Numbers from text, and floating-point numbers as text; neither depends on the locale of the process.
#pragma once

#include <charconv>
#include <cmath>
#include <concepts>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>

namespace whittle {

/// The number that the text is, all of it; nothing for another text, and for a number that is out of T's range.
template <class T>
std::optional<T> number_of(std::string_view text) {
    T number{};
    const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), number);
    return status == std::errc() && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

/// The shortest text that reads back as the same number of its type: "0.1", "1e+20", "2", "inf", "nan".
template <std::floating_point T>
std::string shortest(T value) {
    char buffer[64];  // of a double at most 24
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

/// The shortest text of a double, or, if `single`, of the nearest float, in the form of printf's %g: "0.0001", "1e-05".
inline std::string shortest(double value, bool single) {
    char buffer[64];
    char* const end = buffer + sizeof buffer;
    constexpr std::chars_format kForm = std::chars_format::general;
    return {buffer, (single ? std::to_chars(buffer, end, static_cast<float>(value), kForm)
                            : std::to_chars(buffer, end, value, kForm))
                        .ptr};
}

/// As printf's %.DIGITSf in the C locale, which need not be the locale of the process.
inline std::string fixed(double value, int digits) {
    char buffer[400];  // of the largest double 309 digits before the point
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::fixed, digits).ptr};
}

/// As printf's %.DIGITSg in the C locale; of NaN without its sign, which says nothing.
inline std::string significant(double value, int digits) {
    if (std::isnan(value)) return "nan";
    char buffer[64];
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value, std::chars_format::general, digits).ptr};
}

/// The text of a finite number, never to be taken for an integer: "2.0" for "2".
inline std::string with_point(const std::string& text) {
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

/// The shortest text of a finite number, never to be taken for an integer: "2.0".
template <std::floating_point T>
std::string shortest_real(T value) {
    return with_point(shortest(value));
}

}  // namespace whittle
