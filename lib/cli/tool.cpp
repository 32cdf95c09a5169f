#include "cli/tool.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <new>
#include <sstream>
#include <utility>

#include "base/command_words.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/variables.h"
#include "base/words.h"
#include "cli/environment.h"
#include "cli/grammar.h"
#include "cli/messages.h"
#include "cli/old_spellings.h"
#include "cli/pages.h"
#include "cli/programs.h"
#include "cli/terminal.h"
#include "cli/usage.h"

namespace whittle::cli {
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

struct Tool::Impl {
    PageText page;
    Grammar grammar;
    std::vector<Command> commands;
    std::vector<Completion> completions;  ///< of page.commands, in their order
    std::function<UsedFiles()> files = [] { return UsedFiles{}; };
    std::string heading = "Options";
    Shared shared;
    Words command_line;
    std::size_t own_words = 0;
    bool argument_last = false;  ///< an argument was declared last, and not an option
    bool has_shared = false;     // the options of every program were declared behind its own
    Words common;                ///< long names, see Tool::common()
    Respelled old;               ///< what was replaced in the line, and in that of the program whose command this is

    /// With the options as they are shown: the common ones first, no old spellings.
    PageText full_page() const;
};

Tool::Tool(std::string name, std::string arguments, std::string summary) : impl_(std::make_unique<Impl>()) {
    impl_->grammar.tool = name;
    impl_->page = {std::move(name), std::move(arguments), std::move(summary), {}, {}, {}, {}, {}};
}
Tool::Tool(const Program& program)
    : Tool(std::string(program.name), std::string(program.arguments), std::string(program.summary)) {}
Tool::~Tool() = default;

const std::string& Tool::name() const { return impl_->page.name; }
std::string Tool::called() const { return program_called(name()); }
const Shared& Tool::shared() const { return impl_->shared; }
const Words& Tool::command_line() const { return impl_->command_line; }
std::size_t Tool::own_words() const { return impl_->own_words; }
std::string Tool::command_with(const std::string& option) const {
    return shell_quote(with_option(command_line(), option, own_words()));
}

void Tool::add(DeclaredOption option) {
    impl_->argument_last = false;
    option.text.heading = impl_->heading;
    impl_->grammar.options.push_back(std::move(option));
}

void Tool::offers(std::function<Words()> words, Offered as) {
    OptionText& text = impl_->argument_last ? impl_->page.arguments_help.back() : impl_->grammar.options.back().text;
    text.offered = std::move(words);
    text.offers_list = as == Offered::list;
    text.offers_files = as == Offered::word_or_file;
}

void Tool::hints_behind(std::function<std::string(const std::string&)> hint) {
    impl_->grammar.options.back().behind = std::move(hint);
}

void Tool::hints_extra(std::function<std::string(const std::string&, const std::string&)> hint) {
    impl_->grammar.extra = std::move(hint);
}

static OptionText option_text(std::string_view names, const std::string& value, std::string_view help) {
    return {.names = std::string(names), .value = value, .help = std::string(help)};
}

void Tool::flag(std::string_view names, bool& target, std::string_view help) {
    add({.text = option_text(names, {}, help), .flag = true, .assign = [&target](const Words&) { target = true; }});
}

void Tool::option(std::string_view names, Target target, std::string_view value, std::string_view help) {
    add({.text = option_text(names, std::string(value), help),
         .list = target.is_list,
         .assign = [assign = std::move(target.assign), place = long_name(names)](const Words& words) {
             assign(words, place);
         }});
    impl_->grammar.options.back().text.offers_files = target.is_path;
}

/// An option whose value is one of `words`.
template <class Text>
static DeclaredOption one_of(std::string_view names, Text& target, const Words& words, const std::string& value,
                             std::string_view help) {
    DeclaredOption option{.text = option_text(names, value, help),
                          .assign = [&target, place = long_name(names), words](const Words& given) {
                              check_choice(place, given.front(), words);
                              target = given.front();
                          }};
    option.text.offered = [words] { return words; };
    return option;
}

void Tool::choice(std::string_view names, std::string& target, Words words, std::string_view help) {
    add(one_of(names, target, words, join(words, "|"), help));
}

void Tool::flag_or_choice(std::string_view names, std::optional<std::string>& target, Words words,
                          std::string_view help) {
    add(one_of(names, target, words, "[=" + join(words, "|") + "]", help));
    impl_->grammar.options.back().implied = words.front();
}

void Tool::flag_or_option(std::string_view names, bool& flag, Target target, std::string_view value,
                          std::string_view help) {
    option(names, std::move(target), "[=" + std::string(value) + "]", help);
    DeclaredOption& declared = impl_->grammar.options.back();
    declared.implied = "-";
    declared.assign = [&flag, assign = std::move(declared.assign)](const Words& words) {
        flag = true;
        if (words.front() != "-") assign(words);
    };
}

void Tool::rest_of_line(std::string_view name, Words& target, std::string_view value, std::string_view help) {
    add({.text = option_text(name, std::string(value), help),
         .rest = true,
         .assign = [&target, place = std::string(name)](const Words& words) {
             if (words.empty()) throw Error("option " + place + " requires a command");
             target = words;
         }});
    impl_->grammar.options.back().text.offers_files = true;
}

void Tool::positional(std::string_view name, Target target, std::string_view help, bool required) {
    const std::string place(name);
    impl_->grammar.arguments.push_back(
        {place, required, target.is_list,
         [assign = std::move(target.assign), place](const Words& words) { assign(words, place); }});
    impl_->page.arguments_help.push_back({place, {}, std::string(help), {}});
    impl_->argument_last = true;
}

void Tool::after_dashes(Words& target, std::string_view help) {
    impl_->grammar.dashes = [&target](const Words& words) { target = words; };
    impl_->page.arguments_help.push_back({"-- ARGS", {}, std::string(help), {}});
}

void Tool::section(std::string_view heading) { impl_->heading = heading; }

void Tool::common(std::string_view names) {
    std::istringstream words{std::string(names)};
    impl_->common.assign(std::istream_iterator<std::string>(words), {});
}

void Tool::example(std::string_view command, std::string_view says) {
    impl_->page.examples.emplace_back(command, says);
}

void Tool::exit_one(std::string_view meaning) { impl_->page.exit_one = meaning; }

void Tool::files(std::function<UsedFiles()> used) { impl_->files = std::move(used); }

void Tool::command(Tool& tool, std::function<int()> body, std::string_view example) {
    const PageText& page = tool.impl_->page;
    const std::string word = page.name.substr(page.name.rfind(' ') + 1);
    list_command(
        word + (page.arguments.empty() ? "" : " " + page.arguments), page.summary, example,
        [&tool](std::string_view shell, const std::string& program) { return tool.completion(shell, program); });
    impl_->commands.push_back({word, &tool, std::move(body)});
}

void Tool::list_command(std::string_view usage, std::string_view summary, std::string_view example,
                        Completion completion) {
    impl_->completions.push_back(std::move(completion));
    const bool nested = name().find(' ') != std::string::npos;
    impl_->page.commands.push_back({.names = std::string(usage),
                                    .help = std::string(summary),
                                    .heading = "Commands" + (nested ? " of " + name() : ""),
                                    .example = std::string(example)});
}

Words Tool::command_words() const { return cli::command_words(impl_->page); }

Tool* Tool::command_called(std::string_view word) const {
    const auto found = std::ranges::find(impl_->commands, word, &Command::word);
    return found == impl_->commands.end() ? nullptr : found->tool;
}

const Tool::Command* Tool::command_of(std::span<const std::string> arguments) const {
    if (arguments.empty()) return nullptr;
    const auto found = std::ranges::find(impl_->commands, arguments[0], &Command::word);
    return found == impl_->commands.end() ? nullptr : &*found;
}

PageText Tool::Impl::full_page() const {
    PageText full = page;
    const auto place = [&](const OptionText& text) {
        return std::ranges::find(common, long_name(text.names)) - common.begin();
    };
    for (const DeclaredOption& option : grammar.options) {
        if (is_old_spelling(page.name, long_name(option.text.names))) continue;
        full.options.push_back(option.text);
        if (place(option.text) < std::ssize(common)) full.options.back().heading = "Options";
    }
    std::ranges::stable_sort(full.options, {}, place);
    return full;
}

std::string Tool::help() const {
    PageText page = impl_->full_page();
    page.name = called();
    for (std::vector<OptionText>* const texts : {&page.arguments_help, &page.commands, &page.options})
        for (OptionText& text : *texts) text.help = with_called_programs(std::move(text.help));
    for (auto& [command, says] : page.examples) {
        if (command.starts_with(name() + " ")) command.replace(0, name().size(), page.name);
        command = with_called_programs(std::move(command));
    }
    return help_page(page);
}

std::string Tool::completion(std::string_view shell, const std::string& program) {
    declare_shared();
    const Words words = command_words();
    std::string commands;
    for (std::size_t i = 0; i < words.size(); ++i) commands += impl_->completions[i](shell, program + " " + words[i]);
    return completion_script(impl_->full_page(), shell, program, commands);
}

/// With what only the commands have.
std::string Tool::man_options() const {
    PageText page = impl_->full_page();
    for (const Command& command : impl_->commands) {
        PageText own = command.tool->impl_->full_page();
        append(page.commands, own.commands);
        for (OptionText& option : own.options) {
            if (impl_->grammar.called(long_name(option.names))) continue;
            option.heading = "Options of " + command.tool->name();
            page.options.push_back(std::move(option));
        }
    }
    return man_page_options(page);
}

/// --help-man and --help-man-environment, for scripts/update man; --help-completion SHELL [PROGRAM], for the build and
/// `source <(…)`.
std::optional<std::string> Tool::page_for_scripts(std::span<const std::string> arguments) {
    if (arguments.size() == 1 && arguments[0] == "--help-man") return man_options();
    if (arguments.size() == 1 && arguments[0] == "--help-man-environment")
        return man_page_variables(name() == "trace" || name() == "explain");
    if (arguments.size() < 2 || arguments.size() > 3 || arguments[0] != "--help-completion") return std::nullopt;
    check_choice(arguments[0], arguments[1], completed_shells());
    return completion(arguments[1], arguments.size() == 2 ? called() : arguments[2]);
}

std::string Tool::version() const { return version_text(called()); }

void Tool::declare_shared() {
    if (!std::exchange(impl_->has_shared, true)) impl_->shared.declare(*this);
}

std::size_t Tool::own_of(std::span<const std::string> arguments) {
    declare_shared();
    const std::size_t own = impl_->grammar.own_of(arguments);
    // Also where the rest is wrong: its error is read by a script.
    impl_->shared.json = std::ranges::count(arguments.first(own), "--json") > 0;
    return own;
}

std::vector<std::string> Tool::respelled(std::span<const std::string> arguments) {
    Impl& impl = *impl_;
    const std::size_t own = own_of(arguments);
    Respelled now = cli::respelled(name(), arguments.first(own),
                                   [&](const std::string& name) { return impl.grammar.called(name) != nullptr; });
    for (const std::string& setting : now.variables) {
        const std::size_t equals = setting.find('=');
        ::setenv(setting.substr(0, equals).c_str(), setting.c_str() + equals + 1, 1);
    }
    append(impl.old.variables, now.variables);
    append(impl.old.old, now.old);
    append(impl.old.advice, now.advice);
    now.words.insert(now.words.end(), arguments.begin() + static_cast<std::ptrdiff_t>(own), arguments.end());
    return now.words;
}

void Tool::warn_of_old_spellings() const {
    const Respelled& found = impl_->old;
    for (const std::string& advice : found.advice) warn(*this, advice);
    if (found.old.empty()) return;
    std::string write;
    for (const std::string& setting : found.variables) write += setting + " ";
    warn(*this, join(found.old) + (found.old.size() > 1 ? " are deprecated" : " is deprecated") + "; use: " + write +
                    shell_quote(command_line()));
}

std::optional<std::string> Tool::parse(std::span<const std::string> arguments) {
    Impl& impl = *impl_;
    impl.command_line = program_words(name(), Words(arguments.begin(), arguments.end()));
    const std::size_t name_size = impl.command_line.size() - arguments.size();
    const std::size_t own = own_of(arguments);
    if (auto page = page_for_scripts(arguments)) return page;
    impl.own_words = own + name_size;
    Words positional = impl.grammar.read_options(arguments.first(own));
    if (impl.shared.help) return help();
    if (impl.shared.version) return version();
    const std::string ours = impl.grammar.read_rest(arguments.subspan(own), positional);
    if (!impl.commands.empty() && impl.grammar.arguments.empty() && !positional.empty() &&
        !std::ranges::count(command_words(), positional[0]))
        throw unknown_command(*this, positional[0]);
    impl.grammar.assign_arguments(positional, impl.command_line);
    UsedFiles used = impl.files();
    if (const std::string file = variable("WHITTLE_LOG_FILE"); !file.empty()) used.writes("WHITTLE_LOG_FILE", file);
    check_files(used);
    impl.shared.configure();
    warn_of_old_spellings();
    if (ours.empty()) return std::nullopt;
    if (const std::string taker = before_equals(arguments[own]); impl.grammar.called(taker))
        log_warning(LogChannel::cli, "'" + ours + "' after " + taker +
                                         " becomes an argument of the command; put options of " + called() +
                                         " before " + taker);
    else
        note(*this, before_equals(ours) + " after the program is passed to the program; put options of " + called() +
                        " before the program");
    return std::nullopt;
}

static void flush_output() {
    if (std::fflush(stdout) != 0 || std::ferror(stdout))
        throw Error({"standard output", {}}, "cannot write the output");
}

int Tool::run(Tool& tool, Words arguments, const Words& typed, const std::function<int()>& body) {
    try {
        tool.declare_shared();
        // Flags may stand before a command: explain --json diff A B.
        const auto word = std::ranges::find_if_not(arguments, [&](const std::string& argument) {
            const DeclaredOption* option = tool.impl_->grammar.called(argument);
            return option && option->flag;
        });
        if (word != arguments.end() && tool.command_called(*word)) std::rotate(arguments.begin(), word, word + 1);
        if (!tool.command_of(arguments)) arguments = tool.respelled(arguments);
        if (const Command* command = tool.command_of(arguments)) {
            command->tool->impl_->old = tool.impl_->old;
            command->tool->impl_->old.advice.clear();  // the words are still there: the command advises of them
            return run(*command->tool, {arguments.begin() + 1, arguments.end()}, typed, command->body);
        }
        if (const auto page = tool.parse(arguments)) {
            std::fputs(page->c_str(), stdout);
            flush_output();
            return 0;
        }
        handle_interrupts();
        log_info(LogChannel::cli, "Whittle " + version_number() + ": " + shell_quote(typed));
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
        print_error(tool, Error("out of memory: the model and its values need more memory than is available"));
        return 2;
    } catch (const std::filesystem::filesystem_error& error) {
        print_error(tool, Error({error.path1().string(), {}}, error.code().message()));
        return 2;
    } catch (const std::exception& bug) {
        print_error(tool, Error(std::string("internal error: ") + bug.what()));
        std::fprintf(stderr, "This is a bug in Whittle. Please report the bug with this command:\n  %s\n",
                     shell_quote(typed).c_str());
        return 70;  // EX_SOFTWARE
    }
}

int run_tool(Tool& tool, int argc, char** argv, const std::function<int()>& body) {
    occupy_closed_streams();
    remember_call(argv[0]);
    const Words arguments(argv + 1, argv + argc);
    return Tool::run(tool, arguments, program_words(tool.name(), arguments), body);
}

}  // namespace whittle::cli
