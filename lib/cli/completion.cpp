#include "cli/completion.h"

#include <algorithm>

#include "base/error.h"
#include "base/suggest.h"

namespace whittle::cli {

namespace {

using Words = std::vector<std::string>;

/// What stands behind an option.
struct Value {
    bool attached = false;  ///< --accuracy=close, or nothing
    bool file = false, list = false;
    Words words = {};
};

Value value_of(const OptionText& option) {
    return {.attached = option.value.starts_with("[="),
            .file = option.offers_files,
            .list = option.offers_list,
            .words = option.offered ? option.offered() : Words()};
}

/// "whittle minify": a part of whittle's completion, which calls it.
bool is_command(const std::string& program) { return program.find(' ') != std::string::npos; }

/// A C identifier of its own.
std::string function_of(const std::string& program) {
    std::string name = "_whittle_" + program;
    std::ranges::replace_if(
        name, [](unsigned char c) { return !std::isalnum(c); }, '_');
    return name;
}

/// The first sentence.
std::string brief(const std::string& help) {
    return help.substr(0, std::min(help.find(". "), help.find_last_not_of('.') + 1));
}

std::string bash(const PageText& page, const std::string& program) {
    Words all;
    std::string cases;
    for (const OptionText& option : page.options) {
        const Value value = value_of(option);
        const Words names = split_names(option.names);
        for (const std::string& name : names) all.push_back(name);
        if (option.value.empty()) continue;
        cases += "        " + join(names, "|") + ") " + (value.attached ? "[[ $equals ]] && { " : "");
        if (value.list)
            cases += "word=${cur%\"${cur##*[,+-]}\"}; compopt -o nospace; COMPREPLY=($(compgen -P \"$word\" -W '" +
                     join(value.words, " ") + "' -- \"${cur#\"$word\"}\")); ";
        else if (!value.words.empty())
            cases += "COMPREPLY=($(compgen -W '" + join(value.words, " ") + "' -- \"$cur\")); ";
        if (value.file) cases += "compopt -o default; ";
        cases += value.attached ? "return; } ;;\n" : "return ;;\n";
    }
    const std::string name = function_of(program), commands = join(command_words(page), " ");
    return "# bash completion of " + program + ", made from its own parser.\n" + name + "() {\n" +
           "    local cur=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} equals= word\n"
           "    # readline makes three words of --color=auto\n"
           "    if [[ $cur == = ]]; then cur= equals=1\n"
           "    elif [[ $before == = ]]; then before=${COMP_WORDS[COMP_CWORD-2]} equals=1; fi\n"
           "    COMPREPLY=()\n"
           "    for word in \"${COMP_WORDS[@]:1:COMP_CWORD-1}\"; do\n"
           "        [[ $word == -- ]] && { compopt -o default; return; }\n"
           "    done\n"
           "    case $before in\n" +
           cases +
           "    esac\n"
           "    if [[ $cur == -* ]]; then COMPREPLY=($(compgen -W '" +
           join(all, " ") + "' -- \"$cur\")); return; fi\n" +
           (commands.empty()
                ? ""
                : "    ((COMP_CWORD == 1)) && COMPREPLY=($(compgen -W '" + commands + "' -- \"$cur\"))\n") +
           "    compopt -o default\n}\n" + (is_command(program) ? "" : "complete -F " + name + " " + program + "\n");
}

/// Inside of '…' of the shell, and of [explanation] of _arguments.
std::string zsh_text(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '\'') result += "'\\'";
        if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
        result += c;
    }
    return result;
}

std::string zsh(const PageText& page, const std::string& program) {
    std::string specs;
    for (const OptionText& option : page.options) {
        const Value value = value_of(option);
        const Words names = split_names(option.names);
        std::string action;
        if (!option.value.empty())
            action = (value.attached ? "::" : ":") + zsh_text(value.words.empty() ? option.value : "value") + ":" +
                     (value.list                           ? " _values -s , word " + join(value.words, " ")
                      : value.file && !value.words.empty() ? "{ compadd " + join(value.words, " ") + "; _files }"
                      : !value.words.empty()               ? "(" + join(value.words, " ") + ")"
                      : value.file                         ? "_files"
                                                           : " ");
        for (const std::string& name : names)
            specs += " \\\n    '*" + name + (value.attached ? "=-" : "") + "[" + zsh_text(brief(option.help)) + "]" +
                     action + "'";
    }
    const std::string commands = join(command_words(page), " ");
    const std::string first =
        commands.empty() ? "" : " \\\n    '1::command or file:{ compadd " + commands + "; _files }'";
    const std::string call = "_arguments" + specs + first + " \\\n    '*:file:_files'\n",
                      head = "# zsh completion of " + program + ", made from its own parser.\n";
    return is_command(program) ? head + function_of(program) + "() {\n" + call + "}\n"
                               : "#compdef " + program + "\n" + head + call;
}

std::string fish_text(const std::string& text) {
    std::string result;
    for (const char c : text) {
        if (c == '\'' || c == '\\') result += '\\';
        result += c;
    }
    return "'" + result + "'";
}

std::string fish(const PageText& page, const std::string& program) {
    std::string text = "# fish completion of " + program + ", made from its own parser.\n";
    const std::size_t space = program.find(' ');
    const std::string complete = "complete -c " + program.substr(0, space),
                      behind = is_command(program) ? "__fish_seen_subcommand_from " + program.substr(space + 1) : "";
    for (const OptionText& option : page.options) {
        const Value value = value_of(option);
        text += complete + (behind.empty() ? "" : " -n '" + behind + "'");
        for (const std::string& name : split_names(option.names))
            text += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
        if (!value.words.empty())
            text += std::string(value.attached ? " -f"
                                : value.file   ? " -r -F"
                                               : " -x") +
                    " -a " + fish_text(join(value.words, " "));
        else if (!option.value.empty())
            text += value.file ? " -r -F" : " -x";
        text += " -d " + fish_text(brief(option.help)) + "\n";
    }
    for (const OptionText& command : page.commands)
        text += complete + " -n " + (behind.empty() ? "__fish_use_subcommand" : "'" + behind + "'") + " -a " +
                command.names.substr(0, command.names.find(' ')) + " -d " + fish_text(brief(command.help)) + "\n";
    return text;
}

}  // namespace

std::string completion_script(const PageText& page, std::string_view shell, const std::string& program) {
    if (shell == "bash") return bash(page, program);
    if (shell == "zsh") return zsh(page, program);
    if (shell == "fish") return fish(page, program);
    throw Error("--help-completion: found '" + std::string(shell) + "', expected one of bash, zsh, fish");
}

}  // namespace whittle::cli
