#include "umbrella/umbrella.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include "base/command_words.h"
#include "base/error.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "cli/pages.h"
#include "cli/programs.h"
#include "cli/usage.h"

#ifndef WHITTLE_MAN_DIR_FROM_BIN
#error "WHITTLE_MAN_DIR_FROM_BIN must say where manual pages are installed, seen from the programs"
#endif

namespace whittle::umbrella {
namespace fs = std::filesystem;
using Words = std::vector<std::string>;

namespace {

const cli::Program* find_program(std::string_view name) {
    const auto found = std::ranges::find(cli::programs(), name, &cli::Program::name);
    return found == cli::programs().end() ? nullptr : &*found;
}

fs::path own_folder() { return fs::read_symlink("/proc/self/exe").parent_path(); }

/// As it is installed, else as it is built.
fs::path file_of(const cli::Program& program) {
    const fs::path installed = own_folder() / installed_name(std::string(program.name));
    return fs::exists(installed) ? installed : own_folder() / program.name;
}

/// Runs it in place of this process.
[[noreturn]] void become(const fs::path& program, Words words) {
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    ::execv(program.c_str(), argv.data());
    throw Error({program.string(), {}}, std::string("cannot be run: ") + std::strerror(errno),
                "the program 'whittle' runs the other programs in its own folder; install Whittle completely");
}

[[noreturn]] void become(const cli::Program& program, Words arguments) {
    arguments.insert(arguments.begin(), called_by_whittle(std::string(program.name)));
    become(file_of(program), std::move(arguments));
}

/// What the program prints, run with these words.
std::string output_of(const cli::Program& program, Words words) {
    words.insert(words.begin(), file_of(program).string());
    const ProcessResult said = run_process(words, {.output_limit = std::size_t(8) << 20});
    if (!said.good()) throw Error({words[0], {}}, ending_of(said));
    return said.out;
}

/// The command of another program that the word belongs to, "whittle explain diff" or "whittle explain list logs";
/// empty: there is none. The programs say it themselves; none runs the word, which stands behind --help.
std::string longer_command(const std::string& word) {
    for (const cli::Program& program : cli::programs()) {
        const std::string page = output_of(program, {"--help", word});
        if (page.substr(0, page.find('\n')).find(" " + word + " [OPTIONS]") != page.npos)
            return "whittle " + std::string(program.name) + " " + word;
    }
    const cli::Program& explain = cli::program_named("explain");
    for (const std::string& line : split(output_of(explain, {"list"}), '\n'))
        if (line.starts_with(word + " ")) return "whittle explain list " + word;
    return {};
}

/// As cli::unknown_command(), where it is no command of another program either.
Error unknown_word(const cli::Tool& tool, const std::string& word) {
    const std::string longer = word.starts_with('-') ? "" : longer_command(word);
    const Error unknown = cli::unknown_command(tool, word);
    return longer.empty() ? unknown : Error(unknown.message(), "did you mean '" + longer + "'?");
}

/// The part of a program for whittle's completion.
std::string completion(const cli::Program& program, std::string_view shell, const std::string& called) {
    return output_of(program, {"--help-completion", std::string(shell), called});
}

/// The installed page that has the command, "minify.1.gz"; empty where there is none.
fs::path manual_page_of(const cli::Tool& tool, const std::string& name) {
    const std::string page = find_program(name) ? installed_name(name) : tool.name();
    const fs::path file = own_folder() / WHITTLE_MAN_DIR_FROM_BIN / "man1" / (page + ".1.gz");
    std::error_code ignored;
    return fs::exists(file, ignored) ? file.lexically_normal() : fs::path();
}

}  // namespace

void list_programs(cli::Tool& tool) {
    for (const cli::Program& program : cli::programs()) {
        const std::string name(program.name);
        tool.list_command(name + " " + std::string(program.arguments), program.summary,
                          "whittle " + name + " " + std::string(program.example),
                          [&program](std::string_view shell, const std::string& called) {
                              return completion(program, shell, called);
                          });
    }
}

Words described_names(const cli::Tool& tool) {
    Words names = tool.command_words();
    std::erase(names, "help");
    return names;
}

int help(cli::Tool& tool, const std::string& name) {
    const Words names = described_names(tool);
    if (name != tool.name() && std::ranges::find(names, name) == names.end()) throw cli::unknown_command(tool, name);
    const fs::path page = ::isatty(STDOUT_FILENO) ? manual_page_of(tool, name) : fs::path();
    const auto man = program_path("man");
    if (!page.empty() && man) become(*man, {"man", page.string()});
    if (const cli::Program* program = find_program(name)) become(*program, {"--help"});
    cli::Tool* const own = tool.command_called(name);
    std::fputs((own ? own : &tool)->parse(Words{"--help"})->c_str(), stdout);
    return 0;
}

int print_completion(cli::Tool& tool, const std::string& shell, const std::string& name) {
    cli::check_choice("SHELL", shell, cli::completed_shells());
    const cli::Program* const program = find_program(name);
    if (!program && name != tool.name()) throw cli::unknown_command(tool, name);
    const std::string script = program ? completion(*program, shell, installed_name(name))
                                       : *tool.parse(Words{"--help-completion", shell, name});
    std::fputs(script.c_str(), stdout);
    return 0;
}

int run(cli::Tool& tool, int argc, char** argv) {
    const Words line(argv + 1, argv + argc);
    const auto body = [&]() -> int {
        if (line.empty()) throw cli::missing_argument(tool.name(), "COMMAND");
        if (const cli::Program* program = find_program(line[0])) become(*program, Words(line.begin() + 1, line.end()));
        throw unknown_word(tool, line[0]);
    };
    const bool own = !line.empty() && (line[0].starts_with('-') || tool.command_called(line[0]));
    return cli::run_tool(tool, own ? argc : 1, argv, body);  // else the words are not for whittle's parser
}

}  // namespace whittle::umbrella
