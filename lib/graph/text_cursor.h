// The text of a graph as it is parsed: characters, words and literals, with the place of each for messages.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/words.h"

namespace whittle {

class TextCursor {
  public:
    explicit TextCursor(std::string_view text) : text_(text) {}

    [[noreturn]] void fail_at(std::size_t pos, const std::string& found, const std::string& expected) const;

    [[noreturn]] void fail(const std::string& expected) const;

    std::size_t pos() const { return pos_; }
    bool at_end() const { return pos_ == text_.size(); }
    char peek() const { return pos_ < text_.size() ? text_[pos_] : '\0'; }

    void skip_blanks() {
        while (pos_ < text_.size() && (text_[pos_] == ' ' || text_[pos_] == '\t' || text_[pos_] == '\r')) ++pos_;
    }

    /// Blanks, ends of lines and lines that are only a comment.
    void skip_lines();

    bool accept(std::string_view token);
    void expect(std::string_view token) {
        if (!accept(token)) fail("'" + std::string(token) + "'");
    }

    /// The word at the cursor without consuming it.
    std::string_view peek_word() const {
        std::size_t end = pos_;
        while (end < text_.size() && is_word(text_[end])) ++end;
        return text_.substr(pos_, end - pos_);
    }
    std::string word(const std::string& what);
    /// "(f32)", what is in it included; nested ones match.
    std::string in_parentheses();
    std::string word_or_quoted(const std::string& what) { return peek() == '"' ? quoted() : word(what); }
    /// A word with dots in it.
    std::string dotted(const std::string& what);

    std::string quoted();

    /// The characters of a number, with its sign and exponent.
    std::string_view number_token();

    std::int64_t integer();

    std::vector<std::int64_t> integers();

    std::string rest_of_line();

  private:
    char escaped();

    std::string_view text_;
    std::size_t pos_ = 0;
};

}  // namespace whittle
