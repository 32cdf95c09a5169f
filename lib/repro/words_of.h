// Names in texts: a word is letters, digits and '_'.
#pragma once

#include <cctype>
#include <string>

namespace whittle::repro {

/// The text with f(word) in place of each word; f("") must be "".
template <class F>
std::string with_words(const std::string& text, F&& f) {
    const auto in_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; };
    std::string result, word;
    for (std::size_t i = 0; i <= text.size(); i++) {
        const char c = i < text.size() ? text[i] : '\0';
        if (c && in_word(c)) {
            word += c;
            continue;
        }
        result += f(word);
        word.clear();
        if (c) result += c;
    }
    return result;
}

}  // namespace whittle::repro
