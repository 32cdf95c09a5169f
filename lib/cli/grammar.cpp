#include "cli/grammar.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <filesystem>
#include <map>
#include <utility>

#include "base/command_words.h"
#include "base/subprocess.h"
#include "base/words.h"
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

CLI::Option* added(CLI::App& app, const DeclaredOption& option) {
    if (option.flag) return app.add_flag(option.text.names)->disable_flag_override();
    return app.add_option(option.text.names)
        ->expected(1, CLI::detail::expected_max_vector_size)
        ->allow_extra_args(false);
}

/// Options that only these programs have, whose users look for them elsewhere, too.
struct OptionElsewhere {
    const char *option, *where;
};
constexpr OptionElsewhere kElsewhere[] = {
    {"--slower", "minify and replay"},
    {"--check", "minify"},
    {"--test", "minify"},
    {"--xfail", "replay"},
    {"--shard", "replay"},
    {"--hashes", "trace"},
    {"--values", "explain diff"},
    {"--precision", "explain diagnose"},
    {"--compare", "explain divergence"},
    {"--bundle", "repro report"},
};

/// Who has the option that a program lacks; empty: it is in no table.
std::string hint_elsewhere(const std::string& option) {
    const auto found = std::ranges::find(kElsewhere, option, &OptionElsewhere::option);
    return found == std::end(kElsewhere) ? "" : option + " is an option of " + found->where;
}

}  // namespace

std::string before_equals(const std::string& word) { return word.substr(0, word.find('=')); }

const DeclaredOption* Grammar::called(const std::string& name) const {
    const auto found = std::ranges::find_if(options, [&](const DeclaredOption& option) {
        const Words names = split(option.text.names, ',');
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

Error Grammar::unknown(std::span<const std::string> words, const std::string& word) const {
    const std::string name = before_equals(word), text = "unknown option '" + name + "'";
    const auto at = std::ranges::find(words, word) - words.begin();
    const bool apart = at > 1 && takes_next(words[static_cast<std::size_t>(at) - 2]);
    const std::string value = at > 0 ? words[static_cast<std::size_t>(at) - 1] : "";
    const DeclaredOption* taker = called(apart ? words[static_cast<std::size_t>(at) - 2] : before_equals(value));
    if (taker && taker->behind)
        if (const std::string hint = taker->behind(apart ? value : value.substr(value.find('=') + 1)); !hint.empty())
            return Error(text, hint);
    if (const std::string hint = hint_elsewhere(name); !hint.empty()) return Error(text, hint);
    Words known;
    for (const DeclaredOption& option : options)
        for (const std::string& other : split(option.text.names, ','))
            if (!is_old_spelling(tool, other)) known.push_back(other);
    const std::string close = did_you_mean(name, known);
    return Error(text, close.empty() ? "to list the options: " + program_called(tool) + " --help" : close);
}

/// CLI11 reads the options; what it leaves are arguments.
Words Grammar::read_options(std::span<const std::string> words) const {
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    std::map<const CLI::Option*, const DeclaredOption*> declared;
    for (const DeclaredOption& option : options)
        if (!option.rest) declared[added(app, option)] = &option;
    Words backwards;  // CLI11's order
    for (std::size_t i = words.size(); i-- > 0;) {
        const DeclaredOption* option = called(before_equals(words[i]));
        const bool is_value = i > 0 && takes_next(words[i - 1]), has_value = words[i].find('=') != std::string::npos;
        if (!is_value && option && option->flag && has_value)
            throw Error("option " + before_equals(words[i]) + " takes no value");
        const bool implies = !is_value && option && !option->implied.empty() && !has_value;
        backwards.push_back(implies ? words[i] + "=" + option->implied : words[i]);
    }
    try {
        app.parse(backwards);
    } catch (const CLI::ArgumentMismatch& mismatch) {
        const std::string text = mismatch.what(), name = text.substr(0, text.find(':'));
        const DeclaredOption* option = called(name);
        if (!option) throw Error(text);
        throw Error("option " + name + " requires a value: " + name + " " + option->text.value);
    }
    Words others = app.remaining();
    for (const std::string& word : others)
        if (word.size() > 1 && word.front() == '-') throw unknown(words, word);
    for (const CLI::Option* parsed : app.get_options()) {
        if (!parsed->count()) continue;
        const DeclaredOption& option = *declared.at(parsed);
        const Words values = parsed->results();
        if (!option.flag && !option.list && values.size() > 1)
            throw Error("option " + long_name(option.text.names) + " is given " + std::to_string(values.size()) +
                        " times, expected at most once");
        option.assign(values);
    }
    return others;
}

std::string Grammar::first_ours(std::span<const std::string> words) const {
    for (const std::string& word : words) {
        if (word == "--") break;
        if (called(before_equals(word))) return word;
    }
    return {};
}

std::string Grammar::read_rest(std::span<const std::string> words, Words& positional) const {
    if (words.empty()) return {};
    const std::string head = before_equals(words[0]);
    Words rest(words.begin() + 1, words.end());
    std::string ours;
    const auto skip_dashes = [&] { return !rest.empty() && rest.front() == "--" && (rest.erase(rest.begin()), true); };
    if (words[0] == "--") {
        const bool required = !arguments.empty() && arguments[0].required;
        if (dashes && positional.empty() && required && !rest.empty()) {
            // A program, or a MODEL that is called as one of our commands.
            positional.push_back(command_path(rest.front()).value_or(rest.front()));
            rest.erase(rest.begin());
        }
    } else if (const DeclaredOption* taker = called(head)) {
        if (head.size() < words[0].size())
            rest.insert(rest.begin(), words[0].substr(head.size() + 1));
        else if (!skip_dashes())  // who says so knows whose the words are
            ours = first_ours(rest);
        taker->assign(rest);
        return ours;
    } else {
        positional.push_back(*command_path(words[0]));
        if (!skip_dashes()) ours = first_ours(rest);
    }
    if (dashes)
        dashes(rest);
    else  // nothing takes them: `--` only ends the options
        append(positional, rest);
    return ours;
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
    auto earlier = std::count(words.begin(), words.begin() + static_cast<std::ptrdiff_t>(next), words[next]);
    const auto unexpected = std::find_if(given, typed.end(), [&](const std::string& word) {
        return (word == words[next] || command_path(word) == words[next]) && earlier-- == 0;
    });
    const std::string word = unexpected == typed.end() ? words[next] : *unexpected;
    if (const std::string hint = extra && !words.empty() ? extra(words[0], word) : ""; !hint.empty())
        throw Error("unexpected argument '" + word + "'", hint);
    if (!dashes || unexpected == typed.end())
        throw Error("unexpected argument '" + word + "'", "see " + program_called(tool) + " --help");
    typed.insert(unexpected, "--");
    throw Error("unexpected argument '" + word + "'",
                "put -- before the arguments of a program: " + shell_quote(typed));
}

}  // namespace whittle::cli
