#include "umbrella/completion.h"

#include "base/suggest.h"

namespace whittle::umbrella {

namespace {

using Scripts = std::vector<std::pair<std::string, std::string>>;

/// The command's function sees a line that begins with it.
std::string bash(const std::string& own, const std::string& scripts, const std::string& names) {
    return own + scripts +
           "_whittle() {\n"
           "    if ((COMP_CWORD > 1)) && declare -F \"_whittle_whittle_${COMP_WORDS[1]}\" >/dev/null; then\n"
           "        local function=_whittle_whittle_${COMP_WORDS[1]}\n"
           "        COMP_WORDS=(\"${COMP_WORDS[@]:1}\") COMP_CWORD=$((COMP_CWORD - 1))\n"
           "        \"$function\"\n"
           "    elif ((COMP_CWORD == 2)) && [[ ${COMP_WORDS[1]} == help ]]; then\n"
           "        COMPREPLY=($(compgen -W '" +
           names +
           "' -- \"${COMP_WORDS[2]}\"))\n"
           "    else\n"
           "        _whittle_whittle\n"
           "    fi\n"
           "}\ncomplete -F _whittle whittle\n";
}

std::string zsh(const std::string& own, const std::string& scripts, const std::string& names) {
    return "#compdef whittle\n" + scripts + "_whittle_whittle() {\n" + own +
           "}\n"
           "if (( CURRENT > 2 && $+functions[_whittle_whittle_$words[2]] )); then\n"
           "    shift words\n"
           "    (( CURRENT-- ))\n"
           "    _whittle_whittle_$words[1]\n"
           "elif (( CURRENT == 3 )) && [[ $words[2] == help ]]; then\n"
           "    compadd " +
           names +
           "\n"
           "else\n"
           "    _whittle_whittle\n"
           "fi\n";
}

}  // namespace

std::string with_commands(std::string_view shell, const std::string& own, const Scripts& commands) {
    std::string scripts;
    std::vector<std::string> all;
    for (const auto& [name, script] : commands) {
        scripts += script;
        all.push_back(name);
    }
    const std::string names = join(all, " ");
    if (shell == "bash") return bash(own, scripts, names);
    if (shell == "zsh") return zsh(own, scripts, names);
    return own + scripts + "complete -c whittle -n '__fish_seen_subcommand_from help' -x -a '" + names + "'\n";  // fish
}

}  // namespace whittle::umbrella
