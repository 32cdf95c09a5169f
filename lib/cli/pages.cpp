#include "cli/pages.h"

#include <algorithm>

#include "base/variables.h"
#include "base/words.h"

namespace whittle::cli {

namespace {

constexpr std::size_t kWidth = 80, kColumn = 26;

/// Words of `text` in lines of at most `width - indent` columns; all but the first start with `indent` spaces.
std::string wrap(std::string_view text, std::size_t indent, std::size_t width = kWidth) {
    std::string result;
    std::size_t column = indent;
    while (!text.empty()) {
        const auto end = std::min(text.find(' '), text.size());
        const std::string_view word = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (word.empty()) continue;
        if (!result.empty()) {
            const bool fits = column + 1 + columns_of(word) <= width;
            result += fits ? " " : '\n' + std::string(indent, ' ');
            column = fits ? column + 1 : indent;
        }
        result += word;
        column += columns_of(word);
    }
    return result;
}

/// "  -o, --output FILE    help": the help starts in a column of its own, on the next line when the left part is long.
std::string entry(const OptionText& option) {
    std::string left = "  ";
    const auto names = split(option.names, ',');
    const bool is_option = !names.empty() && names[0].starts_with('-') && names[0] != "-- ARGS";
    if (is_option && names.size() == 1 && names[0].starts_with("--")) left += "    ";
    left += join(names);
    if (!option.value.empty()) left += (option.value.starts_with("[=") ? "" : " ") + option.value;
    left += columns_of(left) + 2 <= kColumn ? std::string(kColumn - columns_of(left), ' ')
                                            : "\n" + std::string(kColumn, ' ');
    left += wrap(option.help, kColumn) + "\n";
    return option.example.empty() ? left : left + std::string(kColumn, ' ') + "$ " + option.example + "\n";
}

/// Without the marks of Markdown: [text](link) is text.
std::string plain(std::string_view markdown) {
    std::string text;
    for (std::size_t i = 0; i < markdown.size(); ++i) {
        if (markdown[i] == '`' || markdown[i] == '[') continue;
        if (markdown.substr(i).starts_with("](")) {
            i = std::min(markdown.find(')', i), markdown.size() - 1);
            continue;
        }
        text += markdown[i];
    }
    return text;
}

std::string roff(std::string_view given) {
    std::string result;
    for (const char c : replaced(std::string(given), "…", "...")) {
        if (c == '\\')
            result += "\\e";
        else if (c == '-')
            result += "\\-";
        else if (c == '\'')
            result += "\\(aq";
        else
            result += c;
    }
    return result.starts_with('.') ? "\\&" + result : result;
}

}  // namespace

std::string long_name(std::string_view names) {
    const auto all = split(names, ',');
    for (const std::string& name : all)
        if (name.starts_with("--")) return name;
    return all.empty() ? std::string() : all.front();
}

std::vector<std::string> command_words(const PageText& page) {
    std::vector<std::string> words;
    for (const OptionText& command : page.commands) words.push_back(command.names.substr(0, command.names.find(' ')));
    return words;
}

std::string help_page(const PageText& page) {
    std::string text = "Usage: " + page.name + " [OPTIONS]" + (page.arguments.empty() ? "" : " " + page.arguments) +
                       "\n\n" + wrap(page.summary, 0) + "\n";
    if (!page.arguments_help.empty()) text += "\nArguments:\n";
    for (const OptionText& argument : page.arguments_help) text += entry(argument);
    if (!page.commands.empty()) text += "\nCommands (" + page.name + " COMMAND --help for details):\n";
    for (const OptionText& command : page.commands) text += entry(command);
    std::string heading;
    for (const OptionText& option : page.options) {
        if (option.heading != heading) text += "\n" + option.heading + ":\n";
        heading = option.heading;
        text += entry(option);
    }
    if (!page.examples.empty()) text += "\nExamples:\n";
    for (const auto& [command, says] : page.examples) text += "  " + command + "\n      " + wrap(says, 6) + "\n";
    text += "\nExit status:\n  0   success\n";
    if (!page.exit_one.empty()) text += "  1   " + wrap(page.exit_one, 6) + "\n";
    return text + "  2   bad usage or bad input\n  70  internal error: a bug in Whittle\n";
}

std::string man_page_options(const PageText& page) {
    std::string text, heading;
    std::vector<OptionText> entries = page.commands;
    append(entries, page.options);
    for (const OptionText& option : entries) {
        if (option.heading != heading) text += ".SS " + option.heading + "\n";
        heading = option.heading;
        text += ".TP\n";
        const auto names = split(option.names, ',');
        text += join(names, [](const std::string& name) { return "\\fB" + roff(name) + "\\fR"; });
        if (!option.value.empty())
            text += (option.value.starts_with("[=") ? "\\fI" : " \\fI") + roff(option.value) + "\\fR";
        text += '\n' + roff(option.help) + "\n";
        if (!option.example.empty()) text += ".br\n\\fB" + roff(option.example) + "\\fR\n";
    }
    return text;
}

std::string man_page_variables(bool compiles) {
    std::string text;
    for (const Variable& entry : variables()) {
        const bool of_every_program = entry.tool.empty() || entry.tool.starts_with("`--");
        if (!compiles && (entry.option.starts_with('.') || !of_every_program)) continue;
        text += ".TP\n.B " + roff(entry.name) + "\nValue: " + roff(plain(values_text(entry.values))) + ". " +
                roff(plain(entry.meaning));
        if (!entry.option.empty()) text += " In the API: " + roff(entry.option) + ".";
        if (!entry.tool.empty()) text += " As an option: " + roff(plain(entry.tool)) + ".";
        text += "\n";
    }
    return text;
}

}  // namespace whittle::cli
