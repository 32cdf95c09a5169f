#include "symbolize/text.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string_view>
#include <utility>

#include "base/words.h"

namespace whittle {

std::string without_parameters(const std::string& function) {
    // The parameter list is the last balanced (...) that only qualifiers follow; "operator()" and "(anonymous
    // namespace)" are no parameter lists.
    std::size_t end = function.size();
    for (const std::string_view suffix : {" const", " volatile", " &", " &&"})
        if (function.ends_with(suffix)) end = function.size() - suffix.size();
    if (const auto clone = function.find(" (."); clone != std::string::npos) end = std::min(end, clone);
    if (const auto clone = function.find(" [clone"); clone != std::string::npos) end = std::min(end, clone);
    if (end == 0 || function[end - 1] != ')') return function.substr(0, end);
    int depth = 0;
    for (std::size_t i = end; i-- > 0;) {
        if (function[i] == ')') ++depth;
        if (function[i] == '(' && --depth == 0) {
            const std::string name = function.substr(0, i);
            if (name.empty() || name.ends_with("operator") || name.ends_with("::")) return function.substr(0, end);
            return name;
        }
    }
    return function.substr(0, end);
}

namespace {

/// One past the bracket that closes the one at `open`; the end where none does.
std::size_t past_brackets(const std::string& text, std::size_t open, char left, char right) {
    int depth = 0;
    for (std::size_t i = open; i < text.size(); ++i) {
        if (text[i] == left) ++depth;
        if (text[i] == right && --depth == 0) return i + 1;
    }
    return text.size();
}

/// A lambda as a demangler spells it, from `begin` to `end`, and the how many-th of its function it is.
struct Lambda {
    std::size_t begin = std::string::npos, end = 0;
    std::string number = {};
};

Lambda next_lambda(const std::string& text) {
    Lambda lambda;
    if (lambda.begin = text.find("{lambda("); lambda.begin != std::string::npos) {
        lambda.end = past_brackets(text, lambda.begin, '{', '}');
        const std::size_t hash = text.rfind('#', lambda.end);
        if (hash != std::string::npos && hash > lambda.begin)
            lambda.number = text.substr(hash + 1, lambda.end - hash - 2);
    } else if (lambda.begin = text.find("'lambda"); lambda.begin != std::string::npos) {
        const std::size_t quote = text.find('\'', lambda.begin + 1);
        if (quote == std::string::npos) return {};
        const std::string digits = text.substr(lambda.begin + 7, quote - lambda.begin - 7);  // "", "0", "1" …
        lambda.number = digits.empty() ? "1" : std::to_string(std::atoi(digits.c_str()) + 2);
        lambda.end =
            quote + 1 < text.size() && text[quote + 1] == '(' ? past_brackets(text, quote + 1, '(', ')') : quote + 1;
    }
    return lambda;
}

}  // namespace

std::string readable_function(const std::string& function) {
    constexpr std::string_view call = "::operator()";
    std::string text = without_parameters(function);
    for (Lambda lambda = next_lambda(text); lambda.begin != std::string::npos; lambda = next_lambda(text)) {
        if (text.compare(lambda.end, call.size(), call) == 0) lambda.end += call.size();
        text.replace(lambda.begin, lambda.end - lambda.begin, "lambda" + (lambda.number == "1" ? "" : lambda.number));
        if (lambda.begin > 2 && text.compare(lambda.begin - 2, 2, "::") == 0) {  // of the function that holds it
            const std::string holder = without_parameters(text.substr(0, lambda.begin - 2));
            text.replace(0, lambda.begin - 2, holder);
        }
    }
    return without_anonymous(std::move(text));
}

std::string without_template_arguments(const std::string& function) {
    std::string plain;
    int depth = 0;
    for (const char c : function) {
        const bool shift = plain.ends_with("operator") || plain.ends_with("operator<");
        if (c == '<' && !shift) ++depth;
        if (depth == 0) plain += c;
        if (c == '>' && depth > 0) --depth;
    }
    return plain;
}

std::string without_anonymous(std::string function) {
    constexpr std::string_view kAnonymous = "(anonymous namespace)::";
    for (auto at = function.find(kAnonymous); at != std::string::npos; at = function.find(kAnonymous))
        function.erase(at, kAnonymous.size());
    return function;
}

std::string unqualified(const std::string& function) {
    const auto colons = function.rfind("::");
    return colons == std::string::npos ? function : function.substr(colons + 2);
}

std::string SourceTexts::line(const std::string& file, int line) {
    const auto [entry, fresh] = files_.try_emplace(file);
    if (fresh) {
        std::error_code ignored;
        if (std::filesystem::is_regular_file(file, ignored)) {
            std::ifstream in(file);
            for (std::string text; std::getline(in, text);) entry->second.push_back(text);
        }
    }
    if (line < 1 || static_cast<std::size_t>(line) > entry->second.size()) return {};
    return trimmed(entry->second[static_cast<std::size_t>(line) - 1]);
}

}  // namespace whittle
