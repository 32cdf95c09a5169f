// A program's command line: its options (each declared once), help page and manual page, and run_tool(), which holds
// the only top-level catch. CLI11 does the parsing; only tool.cpp includes it.
//
//   int main(int argc, char** argv) {
//       cli::Tool tool("replay", "RECORD|DIR…", "Runs records again and compares what they give with what they gave.");
//       std::filesystem::path junit;
//       tool.option("--junit", junit, "FILE", "Write a JUnit XML report to FILE.");
//       tool.example("replay traces/", "replay every record of a trace");
//       return cli::run_tool(tool, argc, argv, [&] { …; return 0; });
//   }
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace whittle::cli {

struct Program;
struct UsedFiles;

/// What every program has: --json --log --log-file -q --color --verbose.
struct Shared {
    bool json = false;  ///< machine output on stdout
    bool quiet = false;
    bool verbose = false;
    bool color_out = false, color_err = false;  ///< colors on stdout and stderr: decided by --color and the terminal
    bool log_elsewhere = false;                 ///< --log-file: not on stderr
    bool progress = false;                      ///< stderr is a terminal and nobody asked for quiet
};

class Tool {
  public:
    /// `arguments` is the usage line behind the options, e.g. "MODEL [-- ARGS]".
    Tool(std::string name, std::string arguments, std::string summary);
    explicit Tool(const Program& program);
    ~Tool();
    Tool(const Tool&) = delete;
    Tool& operator=(const Tool&) = delete;

    // Declarations. `names` is "-o,--output" or "--ops"; `help` is one or two sentences. A target keeps its value when
    // the option is not given; a repeated scalar option is an error, a vector collects.
    // T: std::string, std::filesystem::path (which shells complete), std::int64_t (>= 0), double (>= 0), std::optional
    // of these, std::vector of strings, paths or integers.
    void flag(std::string_view names, bool& target, std::string_view help);
    template <class T>
    void option(std::string_view names, T& target, std::string_view value, std::string_view help);
    /// One of `words`.
    void choice(std::string_view names, std::string& target, std::vector<std::string> words, std::string_view help);
    /// One of `words`, behind "="; without a value the first of them.
    void flag_or_choice(std::string_view names, std::optional<std::string>& target, std::vector<std::string> words,
                        std::string_view help);
    /// `list`: several words between commas, each with + or - in front, maybe.
    enum class Offered { word, word_or_file, list };
    /// Of the option that was declared last: words that shells complete, of which it takes others, too; asked for only
    /// when a script for them is made.
    void offers(std::function<std::vector<std::string>()> words, Offered as = Offered::word);
    /// An option that takes the rest of the line, a command: `--check CMD -u {}`.
    void rest_of_line(std::string_view name, std::vector<std::string>& target, std::string_view value,
                      std::string_view help);
    /// A positional argument; a vector takes all that remain. Required ones come first.
    template <class T>
    void positional(std::string_view name, T& target, std::string_view help, bool required = true);
    /// What follows `--`.
    void after_dashes(std::vector<std::string>& target, std::string_view help);
    /// The options declared after this line are listed under this heading.
    void section(std::string_view heading);
    void example(std::string_view command, std::string_view says);
    /// What exit status 1 means for this program.
    void exit_one(std::string_view meaning);
    /// What the run will read and write, once the targets are filled: parse() checks it (usage.h) before it opens the
    /// log, which is written, too.
    void files(std::function<UsedFiles()> used);
    /// A sub-command: `tool`, "minify answer", is its command line, and `body` what it does. Where the first word of
    /// the line is its last word, run_tool() runs it instead.
    void command(Tool& tool, std::function<int()> body, std::string_view example = {});
    /// Lists one that somebody else runs: "trace MODEL…".
    void list_command(std::string_view usage, std::string_view summary, std::string_view example);
    /// The first words of all that are listed.
    std::vector<std::string> command_words() const;
    /// Null: it is none, or somebody else runs it.
    Tool* command_called(std::string_view word) const;

    const std::string& name() const;
    /// The name as the user typed it, which messages and pages show: "whittle minify" (base/command_words.h).
    std::string called() const;
    const Shared& shared() const;
    /// The command line that was parsed: the words of the name, then the arguments as they were typed.
    const std::vector<std::string>& command_line() const;
    /// How many of its words are this program's own, those of the name among them: not those of a program that is its
    /// MODEL
    /// (`python3 train.py`), nor what follows `--` or an option that takes the rest.
    std::size_t own_words() const;
    /// The command line with one more option, or another value of it (base/command_words.h): a hint for the user.
    std::string command_with(const std::string& option) const;

    /// The pages. Lines of help() are at most 80 columns wide.
    std::string help() const;
    std::string version() const;
    /// The OPTIONS section in man(7) markup: what scripts/update-man puts into man/NAME.1.
    std::string man_options() const;
    /// Pages that no person asks for; nothing for another command line. Throws Error for an unknown shell.
    std::optional<std::string> page_for_scripts(std::span<const std::string> arguments) const;

    /// Parses, fills the targets and configures the log. Returns the page to print when one was asked for. Throws Error
    /// for bad usage.
    std::optional<std::string> parse(std::span<const std::string> arguments);

  private:
    friend int run_tool(Tool& tool, int argc, char** argv, const std::function<int()>& body);
    struct Command {
        std::string word;
        Tool* tool;
        std::function<int()> body;
    };
    /// The sub-command that the line begins with; null: none.
    const Command* command_of(std::span<const std::string> arguments) const;

    struct Option;
    struct Impl;
    void add(Option option);
    std::unique_ptr<Impl> impl_;
};

/// Parses and runs. Returns the exit status: what `body` returns (0 done, 1 the answer is "no"); 2 with a message on
/// stderr (cli/messages.h) for an Error, for memory that does not suffice and for output that cannot be written; 70 for
/// anything else that is thrown, which is our bug and says so.
int run_tool(Tool& tool, int argc, char** argv, const std::function<int()>& body);

}  // namespace whittle::cli
