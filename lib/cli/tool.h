// A program's command line: its options (each declared once), help page and manual page, and run_tool(), which holds
// the only top-level catch.
//
//   int main(int argc, char** argv) {
//       cli::Tool tool("replay", "RECORD|DIR…", "Run records again and compare the outputs.");
//       std::filesystem::path known;
//       tool.option("--xfail", known, "FILE", "File of known failures.");
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

#include "cli/option_values.h"
#include "cli/progress.h"

namespace whittle::cli {

struct DeclaredOption;
struct PageText;
struct Program;
struct UsedFiles;

class Tool;

/// The options of every program: machine output, log, debug folder, progress, colors, help.
struct Shared {
    bool json = false;  ///< machine output on stdout
    bool quiet = false;
    bool verbose = false;
    bool color_out = false, color_err = false;  ///< colors on stdout and stderr: decided by --color and the terminal
    bool log_elsewhere = false;                 ///< $WHITTLE_LOG_FILE: not on stderr
    ProgressStyle progress = ProgressStyle::none;
    // As they were typed.
    std::string log_spec = {}, color = "auto", progress_mode = "auto";
    std::filesystem::path debug_dir = {};
    bool help = false, version = false;

    /// Declares them behind the program's own.
    void declare(Tool& tool);
    /// Does what they ask for: colors, progress, the log.
    void configure();
};

/// The variable that a value on the command line goes into: std::string, std::filesystem::path (which shells complete),
/// an integer (>= 0), double (>= 0), std::chrono::seconds ("10m"), std::optional and std::vector of these.
struct Target {
    template <class T>
    Target(T& target)
        : assign([&target](const std::vector<std::string>& words, const std::string& place) {
              cli::assign(words, place, target);
          }),
          is_list(cli::is_list<T>),
          is_path(cli::is_path<T>) {}

    std::function<void(const std::vector<std::string>& words, const std::string& place)> assign;
    bool is_list, is_path;
};

class Tool {
  public:
    /// `arguments` is the usage line behind the options, e.g. "MODEL [-- ARGS]".
    Tool(std::string name, std::string arguments, std::string summary);
    explicit Tool(const Program& program);
    ~Tool();
    Tool(const Tool&) = delete;
    Tool& operator=(const Tool&) = delete;

    // Declarations. `names` is "-o,--output" or "--ops"; `help` is one phrase, an imperative or a noun, and what else a
    // newcomer needs. A target keeps its value when the option is not given; a repeated scalar option is an error, a
    // vector collects.
    void flag(std::string_view names, bool& target, std::string_view help);
    void option(std::string_view names, Target target, std::string_view value, std::string_view help);
    /// One of `words`.
    void choice(std::string_view names, std::string& target, std::vector<std::string> words, std::string_view help);
    /// One of `words`, behind "="; without a value the first of them.
    void flag_or_choice(std::string_view names, std::optional<std::string>& target, std::vector<std::string> words,
                        std::string_view help);
    /// A flag, and what stands behind its "=", if anything does.
    void flag_or_option(std::string_view names, bool& flag, Target target, std::string_view value,
                        std::string_view help);
    /// `list`: several words between commas, each with + or - in front, maybe.
    enum class Offered { word, word_or_file, list };
    /// Of the option or argument that was declared last: words that shells complete, of which it takes others, too;
    /// asked for only when a script for them is made.
    void offers(std::function<std::vector<std::string>()> words, Offered as = Offered::word);
    /// Of the option that was declared last: the hint for an unknown option behind a value of it that should have been
    /// a whole command; empty: none.
    void hints_behind(std::function<std::string(const std::string& value)> hint);
    /// The hint for a word behind the first argument that no argument takes; empty: the usual one.
    void hints_extra(std::function<std::string(const std::string& first, const std::string& word)> hint);
    /// An option that takes the rest of the line, a command: `--check CMD -u {}`.
    void rest_of_line(std::string_view name, std::vector<std::string>& target, std::string_view value,
                      std::string_view help);
    /// A positional argument; a vector takes all that remain. Required ones come first.
    void positional(std::string_view name, Target target, std::string_view help, bool required = true);
    /// What follows `--`; where no argument stands before it, a required one is the first of these words.
    void after_dashes(std::vector<std::string>& target, std::string_view help);
    /// The options declared after this line are listed under this heading.
    void section(std::string_view heading);
    /// The options that people use first stand at the top of the pages, in this order: "--output --backend".
    void common(std::string_view names);
    void example(std::string_view command, std::string_view says);
    /// What exit status 1 means for this program.
    void exit_one(std::string_view meaning);
    /// What the run will read and write, once the targets are filled: parse() checks it (usage.h) before it opens the
    /// log, which is written, too.
    void files(std::function<UsedFiles()> used);
    /// A sub-command: `tool`, "minify answer", is its command line, and `body` what it does. Where the first word of
    /// the line is its last word, run_tool() runs it instead.
    void command(Tool& tool, std::function<int()> body, std::string_view example = {});
    /// Returns the part of `program` ("whittle trace") for the completion script of a shell.
    using Completion = std::function<std::string(std::string_view shell, const std::string& program)>;
    /// Lists one that somebody else runs: "trace MODEL…".
    void list_command(std::string_view usage, std::string_view summary, std::string_view example,
                      Completion completion);
    /// The first words of all that are listed.
    std::vector<std::string> command_words() const;
    /// Null: it is none, or somebody else runs it.
    Tool* command_called(std::string_view word) const;

    const std::string& name() const;
    /// The name as the user typed it, which messages and pages show: "whittle minify" (base/command_words.h).
    std::string called() const;
    const Shared& shared() const;
    /// The command line that was parsed: the words of the name, then the arguments, in today's spelling.
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
    /// The OPTIONS section in man(7) markup: what scripts/update man puts into man/NAME.1.
    std::string man_options() const;

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
    /// How many of the words are ours. Notes whether they ask for JSON.
    std::size_t own_of(std::span<const std::string> arguments);
    /// The options of every program, once, behind its own.
    void declare_shared();
    /// The line without old spellings (old_spellings.h), of which parse() will warn. Sets the variables that stand for
    /// some of them.
    std::vector<std::string> respelled(std::span<const std::string> arguments);
    static int run(Tool& tool, std::vector<std::string> arguments, const std::vector<std::string>& typed,
                   const std::function<int()>& body);
    void warn_of_old_spellings() const;
    /// Pages that no person asks for; nothing for another command line. Throws Error for an unknown shell.
    std::optional<std::string> page_for_scripts(std::span<const std::string> arguments);
    /// The script for a shell, with the parts of all commands.
    std::string completion(std::string_view shell, const std::string& program);

    struct Impl;
    void add(DeclaredOption option);
    std::unique_ptr<Impl> impl_;
};

/// Parses and runs. Returns the exit status: what `body` returns (0 done, 1 the answer is "no"); 2 with a message on
/// stderr (cli/messages.h) for an Error, for memory that does not suffice and for output that cannot be written; 70 for
/// anything else that is thrown, which is our bug and says so.
int run_tool(Tool& tool, int argc, char** argv, const std::function<int()>& body);

}  // namespace whittle::cli
