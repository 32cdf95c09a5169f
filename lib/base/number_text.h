// Floating-point numbers as text that reads back as the same number.
#pragma once

#include <charconv>
#include <concepts>
#include <string>

namespace whittle {

/// The shortest text that reads back as the same number of its type: "0.1", "1e+20", "2", "inf", "nan".
template <std::floating_point T>
std::string shortest(T value) {
    char buffer[64];  // of a double at most 24
    return {buffer, std::to_chars(buffer, buffer + sizeof buffer, value).ptr};
}

/// The same of a finite number, never to be taken for an integer: "2.0".
template <std::floating_point T>
std::string shortest_real(T value) {
    std::string text = shortest(value);
    return text.find_first_of(".e") == std::string::npos ? text + ".0" : text;
}

}  // namespace whittle
