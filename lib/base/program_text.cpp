#include "base/program_text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/number_text.h"

namespace whittle {

std::string fill_template(std::string_view name, const std::map<std::string, std::string>& values) {
    for (const ProgramTemplate& entry : program_templates()) {
        if (entry.name != name) continue;
        std::string out;
        std::string_view rest = entry.text;
        for (std::size_t at; (at = rest.find('@')) != std::string_view::npos;) {
            const std::size_t end = rest.find('@', at + 1);
            WHITTLE_CHECK(end != std::string_view::npos, "unpaired @ in template " + std::string(name));
            const auto value = values.find(std::string(rest.substr(at + 1, end - at - 1)));
            WHITTLE_CHECK(value != values.end(), "no value for " + std::string(rest.substr(at, end - at + 1)));
            out.append(rest.substr(0, at)).append(value->second);
            rest.remove_prefix(end + 1);
        }
        return out.append(rest);
    }
    report_bug("known template", __FILE__, __LINE__, std::string(name));
}

std::string chomped(std::string text) {
    if (text.ends_with('\n')) text.pop_back();
    return text;
}

std::string string_literal(const std::string& text) {
    std::string out = "\"";
    for (std::size_t i = 0; i < text.size(); i++) {
        const char c = text[i];
        if (c == '"' || c == '\\') out += '\\';
        if (c == '\n') {
            out += i + 1 < text.size() ? "\\n\"\n    \"" : "\\n";
        } else if (static_cast<unsigned char>(c) < 0x20) {
            char octal[8];
            std::snprintf(octal, sizeof octal, "\\%03o", static_cast<unsigned>(static_cast<unsigned char>(c)));
            out += octal;
        } else {
            out += c;
        }
    }
    return out + "\"";
}

std::string python_number(double value, bool single) {
    if (std::isnan(value)) return "float('nan')";
    if (std::isinf(value)) return value < 0 ? "-float('inf')" : "float('inf')";
    return with_point(shortest(value, single));
}

std::string python_text(const std::string& text, char quote) {
    std::string result(1, quote);
    for (const char c : text) {
        if (c == quote || c == '\\') result += '\\';
        result += c == '\n' ? std::string("\\n") : std::string(1, c);
    }
    return result + quote;
}

std::string comment_lines(const std::string& mark, const std::string& text) {
    constexpr std::size_t kWidth = 118;
    std::string lines, line = mark;
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find(' ', begin), text.size());
        const std::string word = text.substr(begin, end - begin);
        if (line.size() + 1 + word.size() > kWidth && line != mark) {
            lines += line + "\n";
            line = mark;
        }
        line += " " + word;
        begin = end + 1;
    }
    return lines + line + "\n";
}

}  // namespace whittle
