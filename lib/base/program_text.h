// The templates of generated programs, share/templates, which are built into the library.
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

}  // namespace whittle
