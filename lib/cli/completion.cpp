#include "cli/pages.h"

#include <algorithm>
#include <sstream>

#include "base/words.h"

namespace whittle::cli {

namespace {

using Words = std::vector<std::string>;

/// What stands behind an option.
struct Value {
    bool attached = false;  ///< --accuracy=close, or nothing
    bool file = false, list = false;
    Words words = {};
};

Words offered_words(const OptionText& text) { return text.offered ? text.offered() : Words(); }

Value value_of(const OptionText& option) {
    return {.attached = option.value.starts_with("[="),
            .file = option.offers_files,
            .list = option.offers_list,
            .words = offered_words(option)};
}

/// What its first argument may be.
Words first_argument(const PageText& page) {
    return page.arguments_help.empty() ? Words() : offered_words(page.arguments_help[0]);
}

/// The words that may stand first behind the program.
std::string first_words(const PageText& page) {
    Words words = command_words(page);
    for (std::string& word : first_argument(page)) words.push_back(std::move(word));
    return join(words, " ");
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
        const Words names = split(option.names, ',');
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
    const std::string name = function_of(program), first = first_words(page);
    return "# bash completion of " + program + ", generated from the options of the program.\n" + name + "() {\n" +
           (page.commands.empty() ? ""
                                  : "    if ((COMP_CWORD > 1)) && declare -F \"" + name +
                                        "_${COMP_WORDS[1]}\" >/dev/null; then\n"
                                        "        local function=" +
                                        name +
                                        "_${COMP_WORDS[1]}\n"
                                        "        COMP_WORDS=(\"${COMP_WORDS[@]:1}\") COMP_CWORD=$((COMP_CWORD - 1))\n"
                                        "        \"$function\"\n"
                                        "        return\n"
                                        "    fi\n") +
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
           (first.empty() ? "" : "    ((COMP_CWORD == 1)) && COMPREPLY=($(compgen -W '" + first + "' -- \"$cur\"))\n") +
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

/// `commands`: the parts for its commands.
std::string zsh(const PageText& page, const std::string& program, const std::string& commands) {
    std::string specs;
    for (const OptionText& option : page.options) {
        const Value value = value_of(option);
        const Words names = split(option.names, ',');
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
    const std::string words = first_words(page), name = function_of(program);
    const std::string first = words.empty() ? "" : " \\\n    '1::command or file:{ compadd " + words + "; _files }'";
    std::string call = "_arguments" + specs + first + " \\\n    '*:file:_files'\n";
    if (!page.commands.empty())
        call = "if (( CURRENT > 2 && $+functions[" + name +
               "_$words[2]] )); then\n"
               "    shift words\n"
               "    (( CURRENT-- ))\n    " +
               name + "_$words[1]\nelse\n" + call + "fi\n";
    const std::string head = "# zsh completion of " + program + ", generated from the options of the program.\n";
    return is_command(program) ? commands + head + name + "() {\n" + call + "}\n"
                               : "#compdef " + program + "\n" + commands + head + call;
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
    std::string text = "# fish completion of " + program + ", generated from the options of the program.\n";
    std::istringstream parents(program);
    std::string name;
    parents >> name;
    Words conditions;
    for (std::string word; parents >> word;) conditions.push_back("__fish_seen_subcommand_from " + word);
    if (!page.commands.empty())
        conditions.push_back("not __fish_seen_subcommand_from " + join(command_words(page), " "));
    const std::string complete = "complete -c " + name,
                      when = conditions.empty() ? "" : " -n '" + join(conditions, "; and ") + "'",
                      first = is_command(program) ? when : " -n __fish_use_subcommand";
    for (const OptionText& option : page.options) {
        const Value value = value_of(option);
        text += complete + when;
        for (const std::string& option_name : split(option.names, ','))
            text += option_name.starts_with("--") ? " -l " + option_name.substr(2) : " -s " + option_name.substr(1);
        if (!value.words.empty())
            text += std::string(value.attached ? " -f"
                                : value.file   ? " -r -F"
                                               : " -x") +
                    " -a " + fish_text(join(value.words, " "));
        else if (!option.value.empty() && !value.attached)
            text += value.file ? " -r -F" : " -x";
        text += " -d " + fish_text(brief(option.help)) + "\n";
    }
    for (const OptionText& command : page.commands)
        text += complete + first + " -a " + command.names.substr(0, command.names.find(' ')) + " -d " +
                fish_text(brief(command.help)) + "\n";
    if (const Words words = first_argument(page); !words.empty())
        text += complete + first + " -x -a " + fish_text(join(words, " ")) + "\n";
    return text;
}

}  // namespace

std::vector<std::string> completed_shells() { return {"bash", "zsh", "fish"}; }

std::string completion_script(const PageText& page, std::string_view shell, const std::string& program,
                              const std::string& commands) {
    if (shell == "bash") return commands + bash(page, program);
    if (shell == "zsh") return zsh(page, program, commands);
    return commands + fish(page, program);
}

}  // namespace whittle::cli
