#include "cli/tool.h"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <utility>

#include "base/command_words.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/suggest.h"
#include "cli/completion.h"
#include "cli/messages.h"
#include "cli/option_values.h"
#include "cli/pages.h"
#include "cli/programs.h"
#include "cli/shared_options.h"
#include "cli/terminal.h"
#include "cli/usage.h"
#include "cli/version.h"

namespace whittle::cli {
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Tool::Option {
    OptionText text;
    bool flag = false, rest = false, list = false;
    std::function<void(const Words&)> assign = {};
    std::string implied = {};  ///< the value when none is given
    CLI::Option* parsed = nullptr;
};

struct Tool::Impl {
    PageText page;
    std::vector<Option> options;
    std::vector<Command> commands;
    struct Positional {
        std::string name;
        bool required, list;
        std::function<void(const Words&)> assign;
    };
    std::vector<Positional> positionals;
    std::function<void(const Words&)> dashes;
    std::function<UsedFiles()> files = [] { return UsedFiles{}; };
    std::string heading = "Options";
    SharedOptions every;  ///< program's options
    Words command_line;
    std::size_t own_words = 0;
    bool has_shared = false;  // the options of every program were declared behind its own

    /// A command line in two: CLI11 cannot read that the rest belongs to `--` or to a flag such as --check.
    struct CommandLine {
        Words words;
        const Option* taker = nullptr;  ///< of the rest; none: `--`, or nothing was split off
        Words rest = {};
        std::size_t own = words.size();  ///< words that belong to neither `--`, a flag nor a program as MODEL
        std::string ours = {};           ///< a word of it that is called as an option of the program's
    };
    const Option* called(const std::string& name) const;
    /// An option whose value is the next word.
    bool takes_next(const std::string& word) const;
    CommandLine split(std::span<const std::string> arguments) const;
    bool asks_json(std::span<const std::string> arguments) const;
    /// Has CLI11 read the options among the words; returns the others.
    Words read_options(Words words);
    void assign_options() const;
    void assign_positionals(const Words& words) const;
};

Tool::Tool(std::string name, std::string arguments, std::string summary) : impl_(std::make_unique<Impl>()) {
    impl_->page = {std::move(name), std::move(arguments), std::move(summary), {}, {}, {}, {}, {}};
}
Tool::Tool(const Program& program)
    : Tool(std::string(program.name), std::string(program.arguments), std::string(program.summary)) {}
Tool::~Tool() = default;

const std::string& Tool::name() const { return impl_->page.name; }
std::string Tool::called() const { return program_called(name()); }
const Shared& Tool::shared() const { return impl_->every.shared; }
const Words& Tool::command_line() const { return impl_->command_line; }
std::size_t Tool::own_words() const { return impl_->own_words; }
std::string Tool::command_with(const std::string& option) const {
    return shell_quote(with_option(command_line(), option, own_words()));
}

void Tool::add(Option option) {
    option.text.heading = impl_->heading;
    impl_->options.push_back(std::move(option));
}

void Tool::offers(std::function<Words()> words, Offered as) {
    OptionText& text = impl_->options.back().text;
    text.offered = std::move(words);
    text.offers_list = as == Offered::list;
    text.offers_files = as == Offered::word_or_file;
}

void Tool::flag(std::string_view names, bool& target, std::string_view help) {
    add({.text = {std::string(names), {}, std::string(help), {}}, .flag = true, .assign = [&target](const Words&) {
             target = true;
         }});
}

template <class T>
void Tool::option(std::string_view names, T& target, std::string_view value, std::string_view help) {
    const std::string place = long_name(names);
    add({.text = {.names = std::string(names),
                  .value = std::string(value),
                  .help = std::string(help),
                  .offers_files = is_path<T>},
         .list = is_list<T>,
         .assign = [&target, place](const Words& words) { cli::assign(words, place, target); }});
}

void check_choice(const std::string& place, const std::string& given, const Words& words) {
    if (std::find(words.begin(), words.end(), given) == words.end())
        throw invalid_value(given, place, "expected one of " + join(words), did_you_mean(given, words));
}

static std::function<Words()> offering(const Words& words) {
    return [words] { return words; };
}

void Tool::choice(std::string_view names, std::string& target, Words words, std::string_view help) {
    const std::string place = long_name(names), value = join(words, "|");
    add({.text = {.names = std::string(names), .value = value, .help = std::string(help), .offered = offering(words)},
         .assign = [&target, place, words = std::move(words)](const Words& given) {
             check_choice(place, given.front(), words);
             target = given.front();
         }});
}

void Tool::flag_or_choice(std::string_view names, std::optional<std::string>& target, Words words,
                          std::string_view help) {
    const std::string place = long_name(names), value = "[=" + join(words, "|") + "]", implied = words.front();
    add({.text = {.names = std::string(names), .value = value, .help = std::string(help), .offered = offering(words)},
         .assign =
             [&target, place, words = std::move(words)](const Words& given) {
                 check_choice(place, given.front(), words);
                 target = given.front();
             },
         .implied = implied});
}

void Tool::rest_of_line(std::string_view name, Words& target, std::string_view value, std::string_view help) {
    const std::string place(name);
    add({.text =
             {.names = std::string(name), .value = std::string(value), .help = std::string(help), .offers_files = true},
         .rest = true,
         .assign = [&target, place](const Words& words) {
             if (words.empty()) throw Error("option " + place + " requires a command");
             target = words;
         }});
}

template <class T>
void Tool::positional(std::string_view name, T& target, std::string_view help, bool required) {
    const std::string place(name);
    impl_->positionals.push_back(
        {place, required, is_list<T>, [&target, place](const Words& words) { cli::assign(words, place, target); }});
    impl_->page.arguments_help.push_back({place, {}, std::string(help), {}});
}

void Tool::after_dashes(Words& target, std::string_view help) {
    impl_->dashes = [&target](const Words& words) { target = words; };
    impl_->page.arguments_help.push_back({"-- ARGS", {}, std::string(help), {}});
}

void Tool::section(std::string_view heading) { impl_->heading = heading; }

void Tool::example(std::string_view command, std::string_view says) {
    impl_->page.examples.emplace_back(command, says);
}

void Tool::exit_one(std::string_view meaning) { impl_->page.exit_one = meaning; }

void Tool::files(std::function<UsedFiles()> used) { impl_->files = std::move(used); }

void Tool::command(Tool& tool, std::function<int()> body, std::string_view example) {
    const PageText& page = tool.impl_->page;
    const std::string word = page.name.substr(page.name.rfind(' ') + 1);
    list_command(word + (page.arguments.empty() ? "" : " " + page.arguments), page.summary, example);
    impl_->commands.push_back({word, &tool, std::move(body)});
}

void Tool::list_command(std::string_view usage, std::string_view summary, std::string_view example) {
    impl_->page.commands.push_back(
        {.names = std::string(usage),
         .help = std::string(summary),
         .heading = "Commands" + (name().find(' ') == std::string::npos ? "" : " of " + name()),
         .example = std::string(example)});
}

Words Tool::command_words() const { return cli::command_words(impl_->page); }

Tool* Tool::command_called(std::string_view word) const {
    const auto found = std::ranges::find(impl_->commands, word, &Command::word);
    return found == impl_->commands.end() ? nullptr : found->tool;
}

const Tool::Command* Tool::command_of(std::span<const std::string> arguments) const {
    if (arguments.empty()) return nullptr;
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    for (const Command& command : impl_->commands) app.add_subcommand(command.word)->set_help_flag();
    Words first = {arguments[0]};
    try {
        app.parse(first);
    } catch (const CLI::ParseError&) {  // the program's own parser says what is wrong with it
        return nullptr;
    }
    for (const Command& command : impl_->commands)
        if (app.got_subcommand(command.word)) return &command;
    return nullptr;
}

template void Tool::option(std::string_view, std::string&, std::string_view, std::string_view);
template void Tool::option(std::string_view, fs::path&, std::string_view, std::string_view);
template void Tool::option(std::string_view, std::int64_t&, std::string_view, std::string_view);
template void Tool::option(std::string_view, double&, std::string_view, std::string_view);
template void Tool::option(std::string_view, std::optional<std::string>&, std::string_view, std::string_view);
template void Tool::option(std::string_view, std::optional<fs::path>&, std::string_view, std::string_view);
template void Tool::option(std::string_view, std::optional<std::int64_t>&, std::string_view, std::string_view);
template void Tool::option(std::string_view, std::optional<double>&, std::string_view, std::string_view);
template void Tool::option(std::string_view, Words&, std::string_view, std::string_view);
template void Tool::option(std::string_view, std::vector<fs::path>&, std::string_view, std::string_view);
template void Tool::option(std::string_view, std::vector<std::int64_t>&, std::string_view, std::string_view);
template void Tool::positional(std::string_view, std::string&, std::string_view, bool);
template void Tool::positional(std::string_view, fs::path&, std::string_view, bool);
template void Tool::positional(std::string_view, std::optional<fs::path>&, std::string_view, bool);
template void Tool::positional(std::string_view, Words&, std::string_view, bool);
template void Tool::positional(std::string_view, std::vector<fs::path>&, std::string_view, bool);

namespace {

std::vector<OptionText> texts_of(const auto& options) {
    std::vector<OptionText> texts;
    for (const auto& option : options) texts.push_back(option.text);
    return texts;
}

/// "--name" of "--name=value".
std::string before_equals(const std::string& word) { return word.substr(0, word.find('=')); }

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

std::string Tool::help() const {
    PageText page = impl_->page;
    page.options = texts_of(impl_->options);
    page.name = called();
    for (auto& [command, says] : page.examples)
        if (command.starts_with(name() + " ")) command.replace(0, name().size(), page.name);
    return help_page(page);
}

std::string Tool::man_options() const {
    PageText page = impl_->page;
    page.options = texts_of(impl_->options);
    return man_page_options(page);
}

/// --help-man and --help-man-environment, for scripts/update-man; --help-completion SHELL [PROGRAM], for the build and
/// `source <(…)`.
std::optional<std::string> Tool::page_for_scripts(std::span<const std::string> arguments) const {
    if (arguments.size() == 1 && arguments[0] == "--help-man") return man_options();
    if (arguments.size() == 1 && arguments[0] == "--help-man-environment")
        return man_page_variables(name() == "trace" || name() == "explain");
    if (arguments.size() < 2 || arguments.size() > 3 || arguments[0] != "--help-completion") return std::nullopt;
    PageText page = impl_->page;
    page.options = texts_of(impl_->options);
    return completion_script(page, arguments[1], arguments.size() == 2 ? called() : arguments[2]);
}

std::string Tool::version() const { return version_text(called()); }

const Tool::Option* Tool::Impl::called(const std::string& name) const {
    const auto found = std::ranges::find_if(options, [&](const Option& option) {
        const Words names = split_names(option.text.names);
        return std::ranges::find(names, name) != names.end();
    });
    return found == options.end() ? nullptr : &*found;
}

bool Tool::Impl::takes_next(const std::string& word) const {
    const Option* const option = called(word);
    return option && !option->flag && option->implied.empty();
}

Tool::Impl::CommandLine Tool::Impl::split(std::span<const std::string> arguments) const {
    CommandLine line{.words = Words(arguments.begin(), arguments.end())};
    for (std::size_t i = 0; i < line.words.size(); ++i) {
        const std::string word = line.words[i], head = before_equals(word);
        const bool has_value = head.size() < word.size();
        if (const Option* option = called(head)) {
            if (option->rest) line.taker = option;
            if (option->flag && has_value) throw Error("option " + head + " takes no value");
            if (!option->implied.empty() && !has_value) line.words[i] = head + "=" + option->implied;
        }
        const bool is_value = i > 0 && takes_next(line.words[i - 1]);
        if (const auto command = dashes && !line.taker && !is_value
                                     ? command_taking(word, std::span(line.words).subspan(i + 1))
                                     : std::nullopt) {
            line.own = i;
            line.words[i] = *command;  // and its arguments, as of `strace` and `time`
            line.rest.assign(line.words.begin() + static_cast<std::ptrdiff_t>(i) + 1, line.words.end());
            line.words.resize(i + 1);
            if (!line.rest.empty() && line.rest.front() == "--") line.rest.erase(line.rest.begin());
            break;
        }
        if (!line.taker && word != "--") continue;
        line.own = i;
        line.rest.assign(line.words.begin() + static_cast<std::ptrdiff_t>(i) + 1, line.words.end());
        line.words.resize(i);
        if (line.taker && has_value) line.rest.insert(line.rest.begin(), word.substr(head.size() + 1));
        if (!line.taker) break;
        if (!line.rest.empty() && line.rest.front() == "--")
            line.rest.erase(line.rest.begin());  // who says so knows whose the words are
        else
            for (const std::string& taken : line.rest)
                if (line.ours.empty() && called(before_equals(taken))) line.ours = taken;
        break;
    }
    return line;
}

bool Tool::Impl::asks_json(std::span<const std::string> arguments) const {
    std::string last;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& word = arguments[i];
        const Option* option = called(before_equals(word));
        if (word == "--json") return true;
        if (word == "--" || (option && option->rest)) return false;
        if (dashes && !takes_next(last) && command_taking(word, arguments.subspan(i + 1)))
            return false;  // the program's
        last = word;
    }
    return false;
}

Words Tool::Impl::read_options(Words words) {
    const std::string see = program_called(page.name) + " --help lists the options";
    CLI::App app;
    app.set_help_flag();
    app.allow_extras();
    Words known;
    for (Option& option : options) {
        for (const std::string& name : split_names(option.text.names)) known.push_back(name);
        if (option.rest) continue;
        option.parsed = option.flag ? app.add_flag(option.text.names)->disable_flag_override()
                                    : app.add_option(option.text.names)
                                          ->expected(1, CLI::detail::expected_max_vector_size)
                                          ->allow_extra_args(false)
                                          ->type_name(option.text.value);
    }
    try {
        std::reverse(words.begin(), words.end());  // CLI11's order
        app.parse(words);
    } catch (const CLI::ArgumentMismatch& mismatch) {
        const std::string text = mismatch.what(), place = text.substr(0, text.find(':'));
        if (const Option* option = called(split_names(place).front()))
            throw Error("option " + place + " requires a value: " + place + " " + option->text.value);
        throw Error(text);
    } catch (const CLI::ParseError& other) {
        throw Error(other.what(), see);
    }
    const Words others = app.remaining();
    for (const std::string& word : others) {
        if (word.size() <= 1 || word.front() != '-') continue;
        const std::string close = did_you_mean(before_equals(word), known);
        throw Error("unknown option '" + before_equals(word) + "'", close.empty() ? see : close);
    }
    assign_options();  // while `app`, which owns what was parsed, is alive
    return others;
}

void Tool::Impl::assign_options() const {
    for (const Option& option : options) {
        if (option.rest || !option.parsed->count()) continue;
        const Words values = option.parsed->results();
        if (!option.flag && !option.list && values.size() > 1)
            throw Error("option " + long_name(option.text.names) + " is given " + std::to_string(values.size()) +
                        " times, but takes one value");
        option.assign(values);
    }
}

void Tool::Impl::assign_positionals(const Words& words) const {
    std::size_t next = 0;
    for (const Positional& wanted : positionals) {
        if (next == words.size()) {
            if (wanted.required) throw missing_argument(page.name, wanted.name);
            continue;
        }
        const std::size_t end = wanted.list ? words.size() : next + 1;
        wanted.assign(
            Words(words.begin() + static_cast<std::ptrdiff_t>(next), words.begin() + static_cast<std::ptrdiff_t>(end)));
        next = end;
    }
    if (next == words.size()) return;
    Words typed = command_line;
    const auto given = typed.begin() + static_cast<std::ptrdiff_t>(program_words(page.name).size());
    const auto unexpected = std::find_if(given, typed.end(), [&](const std::string& word) {
        return word == words[next] || command_path(word) == words[next];
    });
    const std::string word = unexpected == typed.end() ? words[next] : *unexpected;
    if (!dashes || unexpected == typed.end())
        throw Error("unexpected argument '" + word + "'", "see " + program_called(page.name) + " --help");
    typed.insert(unexpected, "--");
    throw Error("unexpected argument '" + word + "'",
                "put -- before the arguments of a program: " + shell_quote(typed));
}

std::optional<std::string> Tool::parse(std::span<const std::string> arguments) {
    Impl& impl = *impl_;
    impl.command_line = program_words(name(), Words(arguments.begin(), arguments.end()));
    impl.every.shared.json = impl.asks_json(arguments);  // also where the rest is wrong: its error is read by a script
    if (!std::exchange(impl.has_shared, true)) impl.every.declare(*this);
    if (auto page = page_for_scripts(arguments)) return page;
    const Impl::CommandLine line = impl.split(arguments);
    impl.own_words = impl.command_line.size() - arguments.size() + line.own;
    Words positional = impl.read_options(line.words);
    if (impl.every.help) return help();
    if (impl.every.version) return version();
    if (line.taker)
        line.taker->assign(line.rest);
    else if (impl.dashes && line.words.size() < arguments.size())
        impl.dashes(line.rest);
    else  // nothing takes them: `--` only ends the options
        positional.insert(positional.end(), line.rest.begin(), line.rest.end());
    impl.assign_positionals(positional);
    UsedFiles used = impl.files();
    used.writes("--log-file", impl.every.log_file);
    check_files(used);
    impl.every.configure();
    if (!line.ours.empty())
        log_warning(LogChannel::cli, "'" + line.ours + "' stands behind " + line.taker->text.names +
                                         " and belongs to its command; options of " + called() + " stand before it");
    return std::nullopt;
}

static void flush_output() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout)) throw Error({"standard output", {}}, "cannot write to it");
}

int run_tool(Tool& tool, int argc, char** argv, const std::function<int()>& body) {
    occupy_closed_streams();
    remember_call(argv[0]);
    const Words arguments(argv + 1, argv + argc);
    if (const auto* command = tool.command_of(arguments))
        return run_tool(*command->tool, argc - 1, argv + 1, command->body);
    try {
        if (const auto page = tool.parse(arguments)) {
            std::fputs(page->c_str(), stdout);
            flush_output();
            return 0;
        }
        handle_interrupts();
        log_info(LogChannel::cli, "Whittle " + version_number() + ": " + shell_quote(tool.command_line()));
        const int status = body();
        flush_output();
        if (interrupt_signal()) die_of_interrupt();
        return status;
    } catch (const Interrupted&) {
        std::fflush(stdout);
        die_of_interrupt();
    } catch (const Error& error) {
        if (interrupt_signal()) die_of_interrupt();
        print_error(tool, error);
        return 2;
    } catch (const std::bad_alloc&) {
        print_error(tool, Error("out of memory: the model and its values need more than there is"));
        return 2;
    } catch (const std::filesystem::filesystem_error& error) {
        print_error(tool, Error({error.path1().string(), {}}, error.code().message()));
        return 2;
    } catch (const std::exception& bug) {
        print_error(tool, Error(std::string("internal error: ") + bug.what()));
        std::fprintf(stderr, "This is a bug in Whittle. Please report it with this command:\n  %s\n",
                     shell_quote(tool.command_line()).c_str());
        return 70;  // EX_SOFTWARE
    }
}

}  // namespace whittle::cli
