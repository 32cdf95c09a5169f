#include "frontends/libtorch/statement.h"

#include <algorithm>
#include <cstddef>
#include <span>

#include "base/words.h"

namespace whittle::libtorch {
namespace {

/// One of them stands in the text, as a word of its own.
bool has_word(std::string_view text, std::span<const std::string_view> words) {
    for (std::size_t begin = 0; begin < text.size();) {
        std::size_t end = begin;
        while (end < text.size() && is_word(text[end])) ++end;
        if (std::ranges::find(words, text.substr(begin, end - begin)) != words.end()) return true;
        begin = std::max(end, begin + 1);
    }
    return false;
}

bool has_char(std::string_view text, std::string_view chars) { return text.find_first_of(chars) != text.npos; }

/// Where an expression ends, outside of brackets; not at the colons of torch::max.
bool ends_expression(std::string_view text, std::size_t at) {
    const char before = at > 0 ? text[at - 1] : ' ', behind = at + 1 < text.size() ? text[at + 1] : ' ';
    return text[at] == ':' ? before != ':' && behind != ':' : std::string_view(",;?&|").find(text[at]) != text.npos;
}

/// The operand that ends before `end`.
std::string_view left_operand(std::string_view text, std::size_t end) {
    std::size_t begin = end;
    for (int depth = 0; begin > 0; --begin) {
        const char c = text[begin - 1];
        if (c == ')' || c == ']') ++depth;
        if ((c == '(' || c == '[') && depth-- == 0) break;
        if (depth == 0 && ends_expression(text, begin - 1)) break;
    }
    return text.substr(begin, end - begin);
}

/// The one that begins at `begin`.
std::string_view right_operand(std::string_view text, std::size_t begin) {
    std::size_t end = begin;
    for (int depth = 0; end < text.size(); ++end) {
        const char c = text[end];
        if (c == '(' || c == '[') ++depth;
        if ((c == ')' || c == ']') && depth-- == 0) break;
        if (depth == 0 && ends_expression(text, end)) break;
    }
    return text.substr(begin, end - begin);
}

/// How many characters at `at` are an operator that compares. <<, >>, Python's -> and the brackets of item<float>() are
/// none.
std::size_t comparison_at(std::string_view text, std::size_t at) {
    const char c = text[at], before = at > 0 ? text[at - 1] : ' ', next = at + 1 < text.size() ? text[at + 1] : ' ';
    if (c == '=' || c == '!') return next == '=' ? 2 : 0;
    if ((c != '<' && c != '>') || next == c || before == c || before == '-') return 0;
    if (c == '>') return is_word(before) && next == '(' ? 0 : next == '=' ? 2 : 1;
    std::size_t end = at + 1;
    while (end < text.size() && (is_word(text[end]) || text[end] == ':')) ++end;
    return end > at + 1 && end < text.size() && text[end] == '>' ? 0 : next == '=' ? 2 : 1;
}

}  // namespace

bool branches(std::string_view statement) {
    constexpr std::string_view kWords[] = {"if",     "elif", "while", "for", "assert",
                                           "switch", "and",  "or",    "not", "bool"};
    return has_word(statement, kWords) || has_char(statement, "?!") || statement.find("&&") != statement.npos ||
           statement.find("||") != statement.npos;
}

bool asserts(std::string_view statement) {
    constexpr std::string_view kWords[] = {"assert", "TORCH_CHECK"};
    return has_word(statement, kWords);
}

bool compares_a_read_value(std::string_view statement) {
    constexpr std::string_view kBranches[] = {"if", "elif", "while", "assert"}, kReads[] = {"item", "float", "int"};
    if (!has_word(statement, kBranches) && !has_char(statement, "?")) return false;
    for (std::size_t at = 0; at < statement.size(); ++at)
        if (const std::size_t size = comparison_at(statement, at))
            if (has_word(left_operand(statement, at), kReads) || has_word(right_operand(statement, at + size), kReads))
                return true;
    return false;
}

}  // namespace whittle::libtorch
