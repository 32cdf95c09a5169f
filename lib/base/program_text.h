// Text of generated C++ programs: the templates of share/templates, which are built into the library, and literals.
#pragma once

#include <map>
#include <span>
#include <string>
#include <string_view>

namespace whittle {

struct ProgramTemplate {
    std::string_view name, text;
};
/// share/templates/NAME.in, each.
std::span<const ProgramTemplate> program_templates();

/// The template NAME with every @KEY@ replaced by its value. A key that is missing is a bug.
std::string fill_template(std::string_view name, const std::map<std::string, std::string>& values);

/// Without the line break at its end, if there is one.
std::string chomped(std::string text);

/// A C string literal of any length: one piece per line of `text`.
std::string string_literal(const std::string& text);

/// The shortest number of Python's that is read back as the same, as a float where `single`: "0.1", "float('nan')".
std::string python_number(double value, bool single = false);

/// A string literal of Python's.
std::string python_text(const std::string& text, char quote = '\'');

/// The text as a comment, each line begun with `mark` and broken between words where it gets long.
std::string comment_lines(const std::string& mark, const std::string& text);

}  // namespace whittle
