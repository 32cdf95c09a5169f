#include "repro/verify.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/parallel_runs.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "printers/short_program.h"

namespace whittle::repro {
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kBuildLimit{300};
constexpr std::size_t kAtOnce = 2;  // runs

using Environment = std::vector<std::pair<std::string, std::string>>;
/// Memory that nobody wrote holds something else than it does by itself, zeros more often than not (mallopt(3)).
const Environment kFilled = {{"MALLOC_PERTURB_", "165"}};

/// The first error of a compiler, or its last line.
std::string first_error(const std::string& text) {
    const std::size_t error = text.find("error:");
    if (error == std::string::npos) return last_line(text);
    const std::size_t begin = text.rfind('\n', error) + 1;  // npos + 1 is 0
    return text.substr(begin, text.find('\n', error) - begin);
}

/// The last line that a program printed, on stderr where that is all it did.
std::string last_words(const ProcessResult& result) { return last_line(result.out.empty() ? result.err : result.out); }

bool passes(const ProcessResult& result) { return result.good() && !result.timed_out; }

/// Words of four letters and more: numbers differ, and names are others in a short program.
std::set<std::string> words_of(const std::string& text) {
    std::set<std::string> words;
    std::string word;
    for (std::size_t i = 0; i <= text.size(); i++) {
        const auto c = static_cast<unsigned char>(i < text.size() ? text[i] : ' ');
        if (std::isalpha(c)) {
            word += static_cast<char>(std::tolower(c));
            continue;
        }
        if (word.size() >= 4) words.insert(word);
        word.clear();
    }
    return words;
}

/// Whether a program printed such words, most of them. A script that cannot even begin ends as one does that shows the
/// failure: with 1.
bool says(const std::string& printed, const std::string& expected) {
    constexpr std::string_view kPath = "<path>";  // in a signature's words
    const std::set<std::string> wanted = words_of(replaced(expected, kPath, " ")), there = words_of(printed);
    const auto found = std::ranges::count_if(wanted, [&](const std::string& word) { return there.contains(word); });
    return 10 * static_cast<std::size_t>(found) >= 7 * wanted.size();
}

/// What a program prints that shows it.
std::string said_of(const Signature& signature) {
    constexpr std::string_view kExited = "exited with #: ";  // what a backend says of a command is not its word
    const std::string& detail = signature.detail;
    if (signature.kind == "mismatch") return "expected";
    if (signature.kind != "exception") return "";
    if (detail == "exited with #" || detail.starts_with("killed by ")) return "ended";  // it has no words
    return detail.starts_with(kExited) ? detail.substr(kExited.size()) : detail;
}

/// What is run, and how it ends where it shows the failure.
struct Command {
    std::vector<std::string> run;
    std::string ends_by;  ///< a signal; empty: exit 1
    std::string says;     ///< what it must print on standard output, in other numbers and names; empty: anything

    /// Nobody caught an exception: the script failed, not what it tests, and Python and node end with 1 for that, too.
    bool is_uncaught(const ProcessResult& result) const {
        const std::string lines = "\n" + result.err;
        const auto has = [&](std::string_view line) { return lines.find(line) != std::string::npos; };
        return run.front() == "python3" ? has("\nTraceback (most recent call last):\n")
                                        : run.front() == "node" && has("\nNode.js v");
    }
    /// It came to its own end with 1.
    bool fails(const ProcessResult& result) const {
        return result.exit_code == 1 && !result.signal && !result.timed_out && !is_uncaught(result);
    }
    bool shows(const ProcessResult& result) const {
        if (ends_by.empty()) return fails(result) && repro::says(result.out, says);
        return !result.timed_out && result.signal && signal_name(result.signal) == ends_by;
    }
    std::string ending(const ProcessResult& result) const {
        return result.timed_out      ? "a timeout"
               : result.signal       ? "signal " + std::to_string(result.signal)
               : is_uncaught(result) ? "an uncaught exception"
                                     : "exit " + std::to_string(result.exit_code);
    }
};

/// A program in its folder, and the repro that says what became of it.
class Verification {
  public:
    Verification(const fs::path& root, const ReproProgram& program, const Options& options, Repro& repro)
        : folder_(place_in(root, program, options).folder), program_(program), options_(options), repro_(repro) {
        if (!program.folder) return;
        for (const auto& [name, path] : program.folder->lent) {
            std::error_code error;
            fs::create_directory_symlink(path, folder_ / name, error);
            if (error) throw Error({(folder_ / name).string(), {}}, "cannot create the link: " + error.message());
        }
    }

    /// By its own commands, or by a bundle's.
    void run_program(bool bundle) {
        command_ = {bundle ? std::vector<std::string>{"sh", "run.sh"} : run_command(program_, options_),
                    program_.ends_by, program_.folder ? said() : ""};
        if (!builds(bundle ? std::vector<std::string>{"sh", "run.sh", "build"} : build_command(program_, options_)))
            return;
        repro_.runs = repro_.of = 0;
        repro_.verified = repro_.failure().signature.rate.flaky() ? fails_sometimes() : fails_always();
        if (!repro_.verified) return;
        for (OtherProgram& other : repro_.program.others) run_other(other);
    }

    /// On the expected values.
    void check() {
        constexpr const char* kFails = "the program reports a failure even for the expected values: ";
        const auto fails = [&](const std::vector<std::string>& command) {
            const ProcessResult result = run(command);
            return passes(result) ? std::nullopt : std::optional(kFails + last_words(result));
        };
        if (control_of(program_).empty()) {
            repro_.verified = builds(build_command(program_, options_));
            if (const auto why = repro_.verified ? fails(run_command(program_, options_)) : std::nullopt)
                repro_.verified = false, repro_.message = *why;
        }
        for (OtherProgram& other : repro_.program.others) {
            const auto found = std::ranges::find(program_.others, other.name, &OtherProgram::name);
            if (!other.verified || found == program_.others.end()) continue;
            if (const auto why = fails(found->run))
                other.verified = false, other.message = other.name + " is not usable as a repro: " + *why;
        }
    }

  private:
    std::string said() const { return said_of(repro_.failure().signature); }

    ProcessResult run(const std::vector<std::string>& argv, const Environment& more = {}) const {
        return run(argv, 10 * std::chrono::seconds(options_.alarm), more);  // its own alarm comes first
    }
    ProcessResult run(const std::vector<std::string>& argv, std::chrono::seconds limit, const Environment& more) const {
        ProcessOptions options;
        options.folder = folder_;
        options.timeout = limit;
        // Scripts make folders of their own, and may be killed before they remove them.
        options.environment = {{"TMPDIR", fs::absolute(folder_).string()}};
        append(options.environment, more);
        options.remove_if_killed = folder_;
        log_info(LogChannel::repro, "runs: " + shell_quote(argv));
        const ProcessResult result = run_process(argv, options);
        const std::string said = last_words(result);
        log_info(LogChannel::repro, "it " + ending_of(result) + (said.empty() ? "" : ": " + said));
        return result;
    }

    bool builds(const std::vector<std::string>& command) {
        if (command.empty()) return true;
        const ProcessResult built = run(command, kBuildLimit, {});
        if (built.exit_code == 0 && !built.timed_out) return true;
        repro_.message = "the program does not build: " +
                         (built.timed_out ? std::string("the C++ compiler took too long") : first_error(built.err));
        return false;
    }

    /// Counts one of so many runs; false, and says why, where it does not show the failure.
    bool counts(const ProcessResult& result, std::int64_t planned) {
        repro_.of++;
        if (repro_.runs > 0 && repro_.printed != result.out) repro_.varies = true;
        repro_.printed = result.out, repro_.message = last_line(result.out);
        if (command_.shows(result)) return repro_.runs++, true;
        const bool silent = command_.ends_by.empty() && command_.fails(result);
        const bool by_itself = !repro_.message.empty() && !command_.is_uncaught(result);
        const std::string wanted = command_.ends_by.empty() ? "exit 1" : command_.ends_by;
        repro_.message = "run " + std::to_string(repro_.of) + " of " + std::to_string(planned) + " ended with " +
                         command_.ending(result) +
                         (silent ? " but did not print the expected message: " : ", expected " + wanted + ": ") +
                         (by_itself ? repro_.message : last_line(result.err));
        return false;
    }

    ProcessResult run_control() const {
        std::vector<std::string> argv = command_.run;
        argv.emplace_back("control");
        return run(argv);
    }
    bool control_passes(const ProcessResult& control) {
        if (passes(control)) return true;
        const std::string said = last_words(control);
        repro_.message = "the control fails, too: " + (said.empty() ? "the control " + ending_of(control) : said);
        return false;
    }

    /// Of a program that does not always fail, until it has failed as often as is wanted.
    bool fails_sometimes() {
        const int most = runs_until_passing(repro_.failure().signature.rate);
        while (repro_.of < most && repro_.runs < options_.runs) {
            const ProcessResult result = run(command_.run);
            if (passes(result))
                repro_.of++;
            else if (!counts(result, most))
                return false;
        }
        if (repro_.runs == 0) return repro_.message = "none of " + std::to_string(most) + " runs failed", false;
        return !runs_control(program_) || control_passes(run_control());
    }

    /// In each run; and the control passes, where it has one.
    bool fails_always() {
        std::vector<ParallelRuns<ProcessResult>::Run> planned;
        for (std::int64_t i = 0; i < options_.runs; i++)
            planned.emplace_back([&, i] { return run(command_.run, i == 1 ? kFilled : Environment{}); });
        if (runs_control(program_)) planned.emplace_back([&] { return run_control(); });
        ParallelRuns<ProcessResult> runs(std::move(planned), kAtOnce);
        std::int64_t wanted = options_.runs;
        for (std::int64_t i = 0; i < options_.runs; i++) {
            ProcessResult result = runs.next();
            if (i == 1 && !command_.shows(result)) {  // with filled memory: it is what nobody wrote that decides
                repro_.varies = true;
                repro_.of++, wanted++;
                result = run(command_.run);
            }
            if (!counts(result, wanted)) return false;
        }
        return !runs_control(program_) || control_passes(runs.next());
    }

    void run_other(OtherProgram& other) const {
        const ProcessResult probe = run(other.probe);
        if (!passes(probe)) {
            other.message = other.name + " was not run: " + shell_quote(other.probe) + " fails on this machine";
            return;
        }
        const Command command{other.run, other.ends_by.empty() ? program_.ends_by : other.ends_by, said()};
        std::int64_t shown = 0;
        ProcessResult last;
        const std::vector<ParallelRuns<ProcessResult>::Run> planned(static_cast<std::size_t>(options_.runs),
                                                                    [&] { return run(command.run); });
        ParallelRuns<ProcessResult> runs(planned, kAtOnce);
        while (shown < options_.runs && command.shows(last = runs.next())) shown++;
        other.ran = true, other.verified = shown == options_.runs;
        other.printed = last.out;
        other.runs_on = last_line(probe.out);
        other.message =
            other.name + (other.verified ? ": " + std::to_string(shown) + " of " + std::to_string(shown) + " runs fail"
                                         : " does NOT reproduce the failure: " + command.ending(last) +
                                               (command.is_uncaught(last) ? ": " + last_line(last.err) : ""));
    }

    const fs::path folder_;
    const ReproProgram& program_;
    const Options& options_;
    Repro& repro_;
    Command command_;
};

}  // namespace

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    return text.substr(text.rfind('\n') + 1);  // npos + 1 is 0
}

std::string name_of(const ReproProgram& program, const Options& options) {
    return program.folder ? program.folder->name : options.file().filename().string();
}

Place place_in(const fs::path& root, const ReproProgram& program, const Options& options) {
    const fs::path folder = program.folder && !options.bundle ? root / options.stem() : root;
    return {folder, folder / name_of(program, options)};
}

void write_program(const Place& place, const ReproProgram& program, const Options& options) {
    for (const ReproProgram::File& file : program.files) write_file(place.folder / file.name, file.text);
    write_file(place.file, program.text);
    for (const OtherProgram& other : program.others) write_file(place.folder / other.name, other.text);
    if (!program.folder && !options.bundle) return;
    for (const fs::path& companion : program.companions) {
        std::error_code error;
        const fs::path to = place.folder / companion.filename();
        if (fs::equivalent(companion, to, error)) continue;  // a bundle of a bundle
        fs::copy_file(companion, to, fs::copy_options::overwrite_existing, error);
        if (error)
            throw Error({companion.string(), {}},
                        "cannot copy this file to the folder of the repro: " + error.message());
    }
}

std::vector<std::string> build_command(const ReproProgram& program, const Options& options) {
    if (program.folder) return program.folder->build;
    return build_words(options.stem() + ".cpp", program.compile_flags);
}

std::vector<std::string> run_command(const ReproProgram& program, const Options& options) {
    if (program.folder) return program.folder->run;
    std::vector<std::string> argv = {"./" + options.stem()};
    append(argv, program.arguments);
    return argv;
}

std::string run_beside(const ReproProgram& program, const Options& options) {
    return shell_quote(program.folder ? program.folder->run : std::vector<std::string>{"./" + options.stem()});
}

std::string all_commands(const ReproProgram& program, const Options& options) {
    std::string line;
    for (const std::string& step :
         {program.folder ? program.folder->get : std::string(), shell_quote(build_command(program, options)),
          shell_quote(run_command(program, options))})
        if (!step.empty()) line += (line.empty() ? "" : " && ") + step;
    return line;
}

std::string control_of(const ReproProgram& program) {
    return program.control.empty() ? program.control_argument : program.control;
}

bool runs_control(const ReproProgram& program) { return program.control.empty() && !program.control_argument.empty(); }

void verify(const fs::path& root, const Options& options, Repro& repro) {
    Verification(root, repro.program, options, repro).run_program(options.bundle.has_value());
}

void verify_check(const Options& options, Repro& repro) {
    const ReproProgram& program = *repro.program.given_expected;
    const TempDir folder("whittle-repro");
    write_program(place_in(folder.path(), program, options), program, options);
    Verification(folder.path(), program, options, repro).check();
}

}  // namespace whittle::repro
