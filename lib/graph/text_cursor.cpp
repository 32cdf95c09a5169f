#include "graph/text_cursor.h"

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/error.h"
#include "base/number_text.h"

namespace whittle {

void TextCursor::fail_at(std::size_t pos, const std::string& found, const std::string& expected) const {
    std::size_t line = 1, start = 0;
    for (std::size_t i = 0; i < pos && i < text_.size(); ++i)
        if (text_[i] == '\n') {
            ++line;
            start = i + 1;
        }
    throw Error({"", "line " + std::to_string(line) + ", column " + std::to_string(pos - start + 1)},
                "found " + found + ", expected " + expected);
}

void TextCursor::fail(const std::string& expected) const {
    std::string found = "the end";
    if (pos_ < text_.size()) {
        const std::string_view rest = text_.substr(pos_, std::min<std::size_t>(text_.find('\n', pos_) - pos_, 20));
        found = rest.empty() ? "the end of the line" : "'" + std::string(rest) + "'";
    }
    fail_at(pos_, found, expected);
}

void TextCursor::skip_lines() {
    for (;;) {
        skip_blanks();
        if (peek() == '#')
            while (pos_ < text_.size() && text_[pos_] != '\n') ++pos_;
        if (peek() != '\n') return;
        ++pos_;
    }
}

bool TextCursor::accept(std::string_view token) {
    if (!text_.substr(pos_).starts_with(token)) return false;
    pos_ += token.size();
    skip_blanks();
    return true;
}

std::string TextCursor::word(const std::string& what) {
    const std::string_view result = peek_word();
    if (result.empty()) fail(what);
    pos_ += result.size();
    skip_blanks();
    return std::string(result);
}

std::string TextCursor::in_parentheses() {
    const std::size_t start = pos_;
    int depth = 0;
    do {
        if (pos_ == text_.size() || text_[pos_] == '\n') fail_at(start, "a '(' alone", "a ')' on the same line");
        depth += text_[pos_] == '(' ? 1 : text_[pos_] == ')' ? -1 : 0;
    } while (++pos_, depth > 0);
    std::string result(text_.substr(start, pos_ - start));
    skip_blanks();
    return result;
}

std::string TextCursor::dotted(const std::string& what) {
    const std::size_t start = pos_;
    while (pos_ < text_.size() && (is_word(text_[pos_]) || text_[pos_] == '.')) ++pos_;
    if (pos_ == start) fail(what);
    std::string result(text_.substr(start, pos_ - start));
    skip_blanks();
    return result;
}

std::string TextCursor::quoted() {
    const std::size_t start = pos_;
    if (peek() != '"') fail("a quoted string");
    std::string result;
    for (++pos_; pos_ < text_.size() && text_[pos_] != '"' && text_[pos_] != '\n'; ++pos_)
        result += text_[pos_] == '\\' ? escaped() : text_[pos_];
    if (peek() != '"') fail_at(start, "a string without a closing quote", "'\"' on the same line");
    ++pos_;
    skip_blanks();
    return result;
}

std::string_view TextCursor::number_token() {
    const std::size_t start = pos_;
    while (pos_ < text_.size()) {
        const char c = text_[pos_];
        const bool sign = (c == '-' || c == '+') && (pos_ == start || text_[pos_ - 1] == 'e' || text_[pos_ - 1] == 'E');
        if (!is_word(c) && c != '.' && !sign) break;
        ++pos_;
    }
    return text_.substr(start, pos_ - start);
}

std::int64_t TextCursor::integer() {
    const std::size_t start = pos_;
    const std::string_view token = number_token();
    const auto value = number_of<std::int64_t>(token);
    if (!value) fail_at(start, "'" + std::string(token) + "'", "an integer that fits in 64 bits");
    skip_blanks();
    return *value;
}

std::vector<std::int64_t> TextCursor::integers() {
    std::vector<std::int64_t> values;
    expect("[");
    if (accept("]")) return values;
    do values.push_back(integer());
    while (accept(","));
    expect("]");
    return values;
}

std::string TextCursor::rest_of_line() {
    std::size_t end = std::min(text_.find('\n', pos_), text_.size());
    std::string_view rest = text_.substr(pos_, end - pos_);
    pos_ = end;
    while (!rest.empty() && (rest.back() == ' ' || rest.back() == '\r')) rest.remove_suffix(1);
    return std::string(rest);
}

char TextCursor::escaped() {
    ++pos_;
    switch (peek()) {
        case 'n':
            return '\n';
        case 't':
            return '\t';
        case 'r':
            return '\r';
        case '"':
        case '\\':
            return peek();
        case 'x': {
            unsigned value = 0;
            const char* first = text_.data() + pos_ + 1;
            const char* last = text_.data() + std::min(pos_ + 3, text_.size());
            const auto [end, error] = std::from_chars(first, last, value, 16);
            if (error != std::errc{} || end != first + 2) fail("two hexadecimal digits");
            pos_ += 2;
            return static_cast<char>(value);
        }
        default:
            fail("an escape: \\n \\t \\r \\\" \\\\ \\xHH");
    }
}

}  // namespace whittle
