// The environment variables that Whittle reads: one list, which share/doc/reference/environment.md shows (explain
// list variables) and outside of which none is read.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle {

/// What a variable may hold. The documentation says it in the same words in which wrong values are refused.
struct VariableValues {
    std::string_view text = {};  ///< "a folder": anything that reads so; empty: one of those below
    std::span<const std::string_view> words = {};
    std::int64_t least = 0, most = 0;  ///< without words: numbers; most = 0: no limit
};

struct Variable {
    std::string_view name;
    VariableValues values;
    std::string_view meaning;  ///< Markdown
    std::string_view option;   ///< of compile(), in the Tensor API; empty: none. The option wins.
    std::string_view tool;     ///< the option of a tool that does the same, with the tool
};

std::span<const Variable> variables();

/// The value of a variable of the list; empty when it is not set.
std::string variable(std::string_view name);
/// Of one that is `1` or `0`; nothing when it is not set. Throws Error for other values.
std::optional<bool> flag_variable(std::string_view name);
/// The variable of an option of compile(), without its dot: "dynamic". Null: none.
const Variable* compile_variable(std::string_view option);
/// Returns what is expected of the variable, in Markdown: "`1` or `0`", "1 to 4", "a folder".
std::string values_text(const VariableValues& values);
/// What is expected, where this is something else; empty where the value may be right: of files and names nothing is
/// known here.
std::string expected_instead(const Variable& entry, std::string_view value);
/// The same as a list.
std::vector<std::string> list_variable(std::string_view name);
/// What commas separate; without blanks and empty entries.
std::vector<std::string> split_list(std::string_view text);

/// share/doc/reference/environment.md.
std::string variables_page();

}  // namespace whittle
