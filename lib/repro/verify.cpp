#include "repro/verify.h"

#include <algorithm>
#include <cctype>
#include <set>
#include <string_view>

#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "repro/runs.h"

namespace whittle::repro {
namespace fs = std::filesystem;

namespace {

constexpr std::chrono::seconds kBuildLimit{300};

using Environment = std::vector<std::pair<std::string, std::string>>;
/// Memory that nobody wrote holds something else than it does by itself, zeros more often than not (mallopt(3)).
const Environment kFilled = {{"MALLOC_PERTURB_", "165"}};

std::string last_line(std::string text) {
    while (!text.empty() && text.back() == '\n') text.pop_back();
    const std::size_t newline = text.rfind('\n');
    return newline == std::string::npos ? text : text.substr(newline + 1);
}

/// The first error of a compiler, or its last line.
std::string first_error(const std::string& text) {
    const std::size_t error = text.find("error:");
    if (error == std::string::npos) return last_line(text);
    const std::size_t begin = text.rfind('\n', error) + 1;  // npos + 1 is 0
    return text.substr(begin, text.find('\n', error) - begin);
}

/// The last line that a program printed, on stderr where that is all it did; of one that printed nothing how it ended.
std::string last_words(const ProcessResult& result) {
    const std::string said = last_line(result.out.empty() ? result.err : result.out);
    return said.empty() ? "it " + ending_of(result) : said;
}

ProcessResult run_in(const Program& program, const std::vector<std::string>& argv, std::chrono::seconds limit,
                     const Environment& more = {}) {
    ProcessOptions options;
    options.folder = program.folder;
    options.timeout = limit;
    // Scripts make folders of their own, and may be killed before they remove them.
    options.environment = {{"TMPDIR", fs::absolute(program.folder).string()}};
    options.environment.insert(options.environment.end(), more.begin(), more.end());
    options.remove_if_killed = program.folder;
    log_info(LogChannel::repro, "runs: " + shell_quote(argv));
    const ProcessResult result = run_process(argv, options);
    const std::string said = last_line(result.out.empty() ? result.err : result.out);
    log_info(LogChannel::repro, "it " + ending_of(result) + (said.empty() ? "" : ": " + said));
    return result;
}

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
    std::string words = expected;
    constexpr std::string_view kPath = "<path>";  // in a signature's words
    for (std::size_t at; (at = words.find(kPath)) != std::string::npos;) words.replace(at, kPath.size(), " ");
    const std::set<std::string> wanted = words_of(words), there = words_of(printed);
    const auto found = std::ranges::count_if(wanted, [&](const std::string& word) { return there.contains(word); });
    return 10 * static_cast<std::size_t>(found) >= 7 * wanted.size();
}

/// Nobody caught an exception: the script failed, not what it tests, and Python and node end with 1 for that, too.
template <class Any>
bool is_uncaught(const Any& program, const ProcessResult& result) {
    const std::string lines = "\n" + result.err;
    const auto has = [&](std::string_view line) { return lines.find(line) != std::string::npos; };
    return program.run.front() == "python3" ? has("\nTraceback (most recent call last):\n")
                                            : program.run.front() == "node" && has("\nNode.js v");
}

template <class Any>
std::string how_it_ended(const Any& program, const ProcessResult& result) {
    return result.timed_out               ? "a timeout"
           : result.signal                ? "signal " + std::to_string(result.signal)
           : is_uncaught(program, result) ? "an uncaught exception"
                                          : "exit " + std::to_string(result.exit_code);
}

/// It ended as a program that shows the failure does: Program's or OtherProgram's.
template <class Any>
bool shows(const Any& program, const ProcessResult& result) {
    if (result.timed_out) return false;
    if (!program.ends_by.empty()) return result.signal && signal_name(result.signal) == program.ends_by;
    return result.exit_code == 1 && !result.signal && !is_uncaught(program, result) && says(result.out, program.says);
}

std::string wanted_ending(const Program& program) { return program.ends_by.empty() ? "exit 1" : program.ends_by; }

/// What became of each of the other programs.
std::vector<OtherReport> verify_others(const Program& program, const Options& options, std::chrono::seconds limit) {
    std::vector<OtherReport> reports;
    for (const OtherProgram& other : program.others) {
        OtherReport& report = reports.emplace_back(OtherReport{.name = other.name});
        const ProcessResult probe = run_in(program, other.probe, limit);
        if (probe.exit_code != 0 || probe.signal || probe.timed_out) {
            report.message = other.name + " was not run: " + shell_quote(other.probe) + " fails here";
            continue;
        }
        int shown = 0;
        ProcessResult last;
        Runs<ProcessResult> runs(std::vector<Runs<ProcessResult>::Run>(
            static_cast<std::size_t>(options.runs), [&] { return run_in(program, other.run, limit); }));
        while (shown < options.runs && shows(other, last = runs.next())) shown++;
        report.ran = true, report.verified = shown == options.runs;
        report.printed = last.out;
        report.runs_on = last_line(probe.out);
        report.message =
            other.name + (report.verified ? ": " + std::to_string(shown) + " of " + std::to_string(shown) + " runs fail"
                                          : " does NOT show it: " + how_it_ended(other, last) +
                                                (is_uncaught(other, last) ? ": " + last_line(last.err) : ""));
    }
    return reports;
}

}  // namespace

Place place_in(const fs::path& root, const Emission& emission, const Options& options) {
    if (!emission.folder) return {root, root / options.output.filename()};
    const fs::path folder = options.bundle ? root : root / options.output.stem();
    return {folder, folder / emission.folder->name};
}

void write_program(const Place& place, const Emission& emission) {
    for (const Sidecar& sidecar : emission.sidecars) write_file(place.folder / sidecar.file, sidecar.bytes);
    write_file(place.file, emission.text);
    for (const OtherProgram& other : emission.others) write_file(place.folder / other.name, other.text);
    if (!emission.folder) return;
    for (const fs::path& companion : emission.companions) {
        std::error_code error;
        const fs::path to = place.folder / companion.filename();
        if (fs::equivalent(companion, to, error)) continue;  // a bundle of a bundle
        fs::copy_file(companion, to, fs::copy_options::overwrite_existing, error);
        if (error) throw Error({companion.string(), {}}, "cannot copy it beside the repro: " + error.message());
    }
}

std::vector<std::string> build_command(const Emission& emission, const Options& options) {
    if (emission.folder) return emission.folder->build;
    const std::string name = options.output.stem().string();
    std::vector<std::string> argv = {"g++", "-std=c++17", "-O1", name + ".cpp", "-o", name};
    argv.insert(argv.end(), emission.compile_flags.begin(), emission.compile_flags.end());
    return argv;
}

std::vector<std::string> run_command(const Emission& emission, const Options& options) {
    if (emission.folder) return emission.folder->run;
    std::vector<std::string> argv = {"./" + options.output.stem().string()};
    argv.insert(argv.end(), emission.arguments.begin(), emission.arguments.end());
    return argv;
}

Program program_in(const fs::path& root, const Emission& emission, const Options& options) {
    Program program{.folder = place_in(root, emission, options).folder,
                    .build = build_command(emission, options),
                    .run = run_command(emission, options)};
    if (emission.folder) program.lent = emission.folder->lent;
    program.others = emission.others;
    program.ends_by = emission.ends_by, program.says = emission.says;
    program.control = !emission.control.empty() && !emission.control_in_each_run;
    program.checked = !emission.control.empty();
    if (options.bundle) program.build = {"sh", "run.sh", "build"}, program.run = {"sh", "run.sh"};
    return program;
}

namespace {

void lend(const Program& program) {
    for (const auto& [name, path] : program.lent) {
        std::error_code error;
        fs::create_directory_symlink(path, program.folder / name, error);
        if (error) throw Error({(program.folder / name).string(), {}}, "cannot link it: " + error.message());
    }
}

bool is_built(const Program& program, Report& report) {
    if (program.build.empty()) return true;
    const ProcessResult built = run_in(program, program.build, kBuildLimit);
    if (built.exit_code == 0 && !built.timed_out) return true;
    report.message =
        "it does not build: " + (built.timed_out ? std::string("the compiler took too long") : first_error(built.err));
    return false;
}

/// What one of so many runs said that does not show the failure.
std::string in_vain(const Program& program, const ProcessResult& result, const Report& report, int runs) {
    const bool uncaught = is_uncaught(program, result);
    const std::string said = report.message.empty() || uncaught ? last_line(result.err) : report.message;
    const bool silent =
        program.ends_by.empty() && result.exit_code == 1 && !result.signal && !result.timed_out && !uncaught;
    return "run " + std::to_string(report.of) + " of " + std::to_string(runs) + " ended with " +
           how_it_ended(program, result) +
           (silent ? ", without the words of the failure: " : ", expected " + wanted_ending(program) + ": ") + said;
}

std::vector<std::string> control_of(const Program& program) {
    std::vector<std::string> with_control = program.run;
    with_control.emplace_back("control");
    return with_control;
}

bool passes(const ProcessResult& control, Report& report) {
    if (control.exit_code == 0 && !control.signal && !control.timed_out) return true;
    report.message = "the control fails too: " + last_words(control);
    return false;
}

/// Of a program that does not always fail, until it has failed as often as is wanted.
bool fails_sometimes(const Program& program, const Options& options, int runs, std::chrono::seconds limit,
                     Report& report) {
    while (report.of < runs && report.runs < options.runs) {
        const ProcessResult result = run_in(program, program.run, limit);
        report.of++;
        if (!result.signal && !result.timed_out && result.exit_code == 0) continue;
        if (report.runs > 0 && report.printed != result.out) report.varies = true;
        report.printed = result.out, report.message = last_line(result.out);
        if (!shows(program, result)) return report.message = in_vain(program, result, report, runs), false;
        report.runs++;
    }
    if (report.runs == 0) return report.message = "none of " + std::to_string(runs) + " runs failed", false;
    return !program.control || passes(run_in(program, control_of(program), limit), report);
}

/// In each run; and the control passes, where it has one.
bool fails_always(const Program& program, const Options& options, std::chrono::seconds limit, Report& report) {
    std::vector<Runs<ProcessResult>::Run> planned;
    for (int i = 0; i < options.runs; i++)
        planned.emplace_back([&, i] { return run_in(program, program.run, limit, i == 1 ? kFilled : Environment{}); });
    if (program.control) planned.emplace_back([&] { return run_in(program, control_of(program), limit); });
    Runs<ProcessResult> runs(std::move(planned));
    int filled = 0;  // runs with filled memory that do not fail
    for (int i = 0; i < options.runs; i++) {
        ProcessResult result = runs.next();
        if (i == 1 && !shows(program, result)) {  // it is what nobody wrote that decides
            report.varies = true;
            report.of += filled = 1;
            result = run_in(program, program.run, limit);
        }
        report.of++;
        if (report.runs > 0 && report.printed != result.out) report.varies = true;
        report.printed = result.out, report.message = last_line(result.out);
        if (!shows(program, result))
            return report.message = in_vain(program, result, report, options.runs + filled), false;
        report.runs++;
    }
    return !program.control || passes(runs.next(), report);
}

}  // namespace

void verify(const Program& program, const Rate& rate, const Options& options, Report& report) {
    lend(program);
    if (!is_built(program, report)) return;
    const auto limit = 10 * options.alarm;  // its own alarm comes first
    report.runs = report.of = 0, report.varies = false;
    report.verified = rate.flaky() ? fails_sometimes(program, options, runs_until_passing(rate), limit, report)
                                   : fails_always(program, options, limit, report);
    if (report.verified) report.others = verify_others(program, options, limit);
}

void verify_check(const Program& program, const Options& options, Report& report) {
    constexpr const char* kFails = "its check fails on the expected values, too: ";
    const auto limit = 10 * options.alarm;
    const auto passes = [&](const std::vector<std::string>& argv, std::string& message) {
        const ProcessResult result = run_in(program, argv, limit);
        if (result.exit_code == 0 && !result.signal && !result.timed_out) return true;
        message = kFails + last_line(result.out.empty() ? result.err : result.out);
        return false;
    };
    lend(program);
    if (!program.checked) report.verified = is_built(program, report) && passes(program.run, report.message);
    for (OtherReport& other : report.others) {
        const auto found = std::ranges::find(program.others, other.name, &OtherProgram::name);
        std::string message;
        if (!other.verified || found == program.others.end() || passes(found->run, message)) continue;
        other.verified = false;
        other.message = other.name + " shows nothing: " + message;
    }
}

}  // namespace whittle::repro
