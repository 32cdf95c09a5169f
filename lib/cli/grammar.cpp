#include "cli/grammar.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/command_words.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "cli/old_spellings.h"
#include "cli/usage.h"

namespace whittle::cli {
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

/// Of a word that is no file here and no option, but a program that a shell would find: `python3`, or one where a shell
/// looks for them by its path, `/usr/bin/python3`.
std::optional<std::string> command_path(const std::string& word) {
    std::error_code ignored;
    if (word.empty() || word.front() == '-') return std::nullopt;
    const bool path = word.find('/') != std::string::npos;
    if (!path && fs::exists(word, ignored)) return std::nullopt;
    const auto program = program_path(word);
    if (!program || (path && !is_on_path(*program))) return std::nullopt;
    return program->string();
}

/// As command_path(), where what is behind the word is the program's: of one by its path, a "--" says whose it is.
std::optional<std::string> command_taking(const std::string& word, std::span<const std::string> behind) {
    const bool says = word.find('/') != std::string::npos && std::ranges::find(behind, "--") != behind.end();
    return says ? std::nullopt : command_path(word);
}

}  // namespace

std::string before_equals(const std::string& word) { return word.substr(0, word.find('=')); }

const DeclaredOption* Grammar::called(const std::string& name) const {
    const auto found = std::ranges::find_if(options, [&](const DeclaredOption& option) {
        const Words names = split_names(option.text.names);
        return std::ranges::find(names, name) != names.end();
    });
    return found == options.end() ? nullptr : &*found;
}

bool Grammar::takes_next(const std::string& word) const {
    const DeclaredOption* const option = called(word);
    return option ? !option->flag && option->implied.empty() : old_spelling_takes_next(tool, word);
}

std::size_t Grammar::own_of(std::span<const std::string> words) const {
    for (std::size_t i = 0; i < words.size(); ++i) {
        const DeclaredOption* option = called(before_equals(words[i]));
        if (words[i] == "--" || (option && option->rest)) return i;
        const bool is_value = i > 0 && takes_next(words[i - 1]);
        if (dashes && !is_value && command_taking(words[i], words.subspan(i + 1))) return i;
    }
    return words.size();
}

Error Grammar::unknown(const std::string& name) const {
    Words known;
    for (const DeclaredOption& option : options)
        for (const std::string& other : split_names(option.text.names))
            if (!is_old_spelling(tool, other)) known.push_back(other);
    const std::string close = did_you_mean(name, known);
    return Error("unknown option '" + name + "'",
                 close.empty() ? program_called(tool) + " --help lists the options" : close);
}

Words Grammar::read_options(std::span<const std::string> words) const {
    Words others;
    std::map<const DeclaredOption*, Words> given;
    for (std::size_t i = 0; i < words.size(); ++i) {
        std::string word = words[i];
        if (word.size() < 2 || word.front() != '-') others.push_back(std::exchange(word, ""));
        while (!word.empty()) {
            const bool is_long = word[1] == '-';
            const std::string name = is_long ? before_equals(word) : word.substr(0, 2),
                              value = word.substr(name.size());
            const DeclaredOption* option = called(name);
            if (!option) throw unknown(before_equals(words[i]));
            Words& values = given[option];
            word.clear();
            if (option->flag) {
                if (value.starts_with('=')) throw Error("option " + name + " takes no value");
                if (!value.empty()) word = "-" + value;  // further ones: -qv
            } else if (!value.empty()) {
                values.push_back(value.substr(value.front() == '=' ? 1 : 0));
            } else if (!option->implied.empty()) {
                values.push_back(option->implied);
            } else if (++i < words.size()) {
                values.push_back(words[i]);
            } else {
                throw Error("option " + name + " requires a value: " + name + " " + option->text.value);
            }
        }
    }
    for (const DeclaredOption& option : options) {
        if (!given.contains(&option)) continue;
        const Words& values = given[&option];
        if (!option.flag && !option.list && values.size() > 1)
            throw Error("option " + long_name(option.text.names) + " is given " + std::to_string(values.size()) +
                        " times, but takes one value");
        option.assign(values);
    }
    return others;
}

std::string Grammar::read_rest(std::span<const std::string> words, Words& positional) const {
    if (words.empty()) return {};
    const std::string head = before_equals(words[0]);
    Words rest(words.begin() + 1, words.end());
    const auto skip_dashes = [&] { return !rest.empty() && rest.front() == "--" && (rest.erase(rest.begin()), true); };
    if (words[0] == "--") {
        const bool required = !arguments.empty() && arguments[0].required;
        if (dashes && positional.empty() && required && !rest.empty()) {
            // A program, or a MODEL that is called as one of our commands.
            positional.push_back(command_path(rest.front()).value_or(rest.front()));
            rest.erase(rest.begin());
        }
    } else if (const DeclaredOption* taker = called(head)) {
        std::string ours;
        if (head.size() < words[0].size())
            rest.insert(rest.begin(), words[0].substr(head.size() + 1));
        else if (!skip_dashes())  // who says so knows whose the words are
            for (const std::string& taken : rest)
                if (ours.empty() && called(before_equals(taken))) ours = taken;
        taker->assign(rest);
        return ours;
    } else {
        positional.push_back(*command_path(words[0]));
        skip_dashes();
    }
    if (dashes)
        dashes(rest);
    else  // nothing takes them: `--` only ends the options
        positional.insert(positional.end(), rest.begin(), rest.end());
    return {};
}

void Grammar::assign_arguments(const Words& words, Words typed) const {
    std::size_t next = 0;
    for (const DeclaredArgument& wanted : arguments) {
        if (next == words.size()) {
            if (wanted.required) throw missing_argument(tool, wanted.name);
            continue;
        }
        const std::size_t end = wanted.list ? words.size() : next + 1;
        wanted.assign(
            Words(words.begin() + static_cast<std::ptrdiff_t>(next), words.begin() + static_cast<std::ptrdiff_t>(end)));
        next = end;
    }
    if (next == words.size()) return;
    const auto given = typed.begin() + static_cast<std::ptrdiff_t>(program_words(tool).size());
    const auto unexpected = std::find_if(given, typed.end(), [&](const std::string& word) {
        return word == words[next] || command_path(word) == words[next];
    });
    const std::string word = unexpected == typed.end() ? words[next] : *unexpected;
    if (!dashes || unexpected == typed.end())
        throw Error("unexpected argument '" + word + "'", "see " + program_called(tool) + " --help");
    typed.insert(unexpected, "--");
    throw Error("unexpected argument '" + word + "'",
                "put -- before the arguments of a program: " + shell_quote(typed));
}

}  // namespace whittle::cli
