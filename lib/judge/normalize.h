// normalized(): a failure's words without what differs between runs of one bug. Signatures are compared by it, and a
// repro compares by it what it sees: what stands between the two lines below is part of repro.cpp, too (text_of.cmake
// makes a string of it), so that there is one rule.
#pragma once

#include <cctype>
#include <string>
#include <string_view>

namespace whittle {

// ---- text of repro.cpp ----
// A failure's words without what differs between runs of one bug: numbers and lists of them become #, paths <path>,
// names of values %_, "conv_12" becomes "conv", white space one blank.
struct Normalizer {
    const std::string& text;
    std::string out = {};
    size_t at = 0;

    static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }
    static bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)); }
    char ahead(size_t n = 0) const { return at + n < text.size() ? text[at + n] : '\0'; }

    std::string run() {
        while (at < text.size()) step();
        while (!out.empty() && out.back() == ' ') out.pop_back();
        return out;
    }

    void step() {
        const char c = text[at];
        if (std::isspace(static_cast<unsigned char>(c))) {
            if (!out.empty() && out.back() != ' ') out += ' ';
            at++;
        } else if (c == '%' && is_word(ahead(1))) {
            at++;
            word();
            out += "%_";
        } else if (c == '/' && is_word(ahead(1))) {
            while (is_word(ahead()) || ahead() == '/' || ahead() == '.' || ahead() == '-' || ahead() == '+') at++;
            out += "<path>";
        } else if (is_digit(c)) {
            word();
            number();
        } else if (is_word(c)) {
            out += without_number(word());
        } else {
            out += c;
            at++;
        }
    }

    std::string word() {
        const size_t begin = at;
        while (is_word(ahead())) at++;
        return text.substr(begin, at - begin);
    }

    // One # for a number, and for a list of them, whose length changes with the rank.
    void number() {
        // A fraction, and an exponent's sign: "1.5e-07".
        while (is_digit(ahead(1)) && (ahead() == '.' || (text[at - 1] == 'e' && (ahead() == '-' || ahead() == '+')))) {
            at++;
            word();
        }
        while (!out.empty() && out.back() == '-') out.pop_back();
        const auto ends_with = [this](const std::string& end) {
            return out.size() >= end.size() && out.compare(out.size() - end.size(), end.size(), end) == 0;
        };
        if (ends_with("#, "))
            out.erase(out.size() - 2);
        else if (ends_with("# "))
            out.pop_back();
        else
            out += '#';
        if (ends_with(" ")) out.pop_back();
    }

    // A suffix tells temporaries apart.
    static std::string without_number(const std::string& word) {
        size_t end = word.size();
        while (end > 0 && is_digit(word[end - 1])) end--;
        if (end < word.size() && end > 0 && word[end - 1] == '_') end--;
        return word.substr(0, end);
    }
};

[[maybe_unused]] static inline std::string normalized(const std::string& text) { return Normalizer{text}.run(); }
// ---- end ----

/// The text between the two lines.
std::string_view normalizer_text();

}  // namespace whittle
