// Golden CLI tests: one file holds the input files, the commands and what they print.
//   golden --bin PROGRAMS --source REPOSITORY [--update] FILE.txt
// A test file reads:
//   # what this shows
//   --- replace [0-9]+ queries ==> N queries     (optional: more substitutions, ECMAScript regex)
//   --- needs COMMAND                            (optional: where `sh -c COMMAND` fails, the test is skipped: exit 77)
//   --- file x/graph.json                        (written into the temporary folder where commands run)
//   ...
//   --- run                                      (a script for `sh -eu`; the programs are in PATH, models in $MODELS,
//                                                 share/examples in $EXAMPLES)
//   explain x/graph.json
//   --- stdout                                   (left out when empty; "stdout lines": these lines occur, in order)
//   --- stderr
//   --- exit 2                                   (left out when 0)
// Lines of any section may depend on the machine:
//   --- if COMMAND                               (the lines below hold where `sh -c COMMAND` succeeds)
//   --- else                                     (optional: these hold elsewhere)
//   --- end
// Several runs may follow each other; they share the folder. Output is compared after the temporary folder, the
// repository, times and content hashes became $TMP, $SRC, <time> and <hash>. A line that starts with "--- " is written
// "\--- ". --update rewrites the expectations with what was printed.
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <functional>
#include <iostream>
#include <regex>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "base/error.h"
#include "base/files.h"
#include "base/subprocess.h"

namespace fs = std::filesystem;
using whittle::Error;

namespace {

constexpr int kSkipped = 77;
constexpr std::string_view kMark = "--- ";
constexpr std::string_view kNoNewline = "\\ no newline at the end";

/// A section: "--- KIND ARGUMENT" and the lines below it, each with its newline. The leading comment has no kind.
struct Section {
    std::string kind, argument, text;
    std::string written = {};  ///< the lines as the file has them
    bool depends = false;      ///< some of them hold on some machines only
};

struct Substitution {
    std::regex pattern;
    std::string replacement;
};

struct Context {
    fs::path bin, source, file;
    bool update = false;
    std::vector<Substitution> substitutions;
};

/// `holds`: whether a command succeeds.
std::vector<Section> read_sections(const fs::path& file, const std::function<bool(const std::string&)>& holds) {
    enum class Lines { of_all, of_if, of_else } lines = Lines::of_all;
    bool taken = true;  // the lines belong to this machine
    std::vector<Section> sections(1);
    std::istringstream in(whittle::read_file(file));
    for (std::string line; std::getline(in, line);) {
        Section& last = sections.back();
        if (!line.starts_with(kMark)) {
            last.written += line + "\n";
            if (taken) last.text += (line.starts_with("\\--- ") ? line.substr(1) : line) + "\n";
            continue;
        }
        const std::string head = line.substr(kMark.size());
        const auto space = head.find(' ');
        const std::string kind = head.substr(0, space),
                          argument = space == std::string::npos ? std::string() : head.substr(space + 1);
        const bool fits = kind == "else"  ? lines == Lines::of_if
                          : kind == "end" ? lines != Lines::of_all
                                          : lines == Lines::of_all;
        if (!fits) throw Error("found '" + line + "', expected '--- if COMMAND', '--- else', '--- end' in this order");
        if (kind == "if") {
            lines = Lines::of_if;
            taken = holds(argument);
        } else if (kind == "else") {
            lines = Lines::of_else;
            taken = !taken;
        } else if (kind == "end") {
            lines = Lines::of_all;
            taken = true;
        } else {
            sections.push_back({kind, argument, {}});
            continue;
        }
        last.written += line + "\n";
        last.depends = true;
    }
    if (lines != Lines::of_all) throw Error("found '--- if' without '--- end'");
    return sections;
}

std::string write_sections(const std::vector<Section>& sections) {
    std::string all;
    for (const Section& section : sections) {
        if (!section.kind.empty()) {
            all += std::string(kMark) + section.kind;
            if (!section.argument.empty()) all += " " + section.argument;
            all += "\n";
        }
        if (section.depends) {
            all += section.written;
            continue;
        }
        std::istringstream in(section.text);
        for (std::string line; std::getline(in, line);) all += (line.starts_with(kMark) ? "\\" : "") + line + "\n";
    }
    return all;
}

std::string replace_all(std::string text, const std::string& from, const std::string& to) {
    for (std::size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
        text.replace(at, from.size(), to);
    return text;
}

/// What does not depend on the machine, the moment or the place.
std::string normalize(std::string text, const fs::path& temporary, const Context& context) {
    static const std::regex time("\\b[0-9]+(\\.[0-9]+)?( ?)(ms|s|min)\\b"), hash("\\b[0-9a-f]{32}\\b"),
        seconds("((?:seconds|time)\"?[:=] ?\"?)[0-9]+(\\.[0-9]+)?(e-?[0-9]+)?"),
        progress("^[a-z]+( [a-z]+)?  (\\[[#.]{20}\\]  [0-9]+/[0-9]+|[0-9]+ (queries|runs|models|records)  )[^\n]*\n",
                 std::regex::ECMAScript | std::regex::multiline);
    text = replace_all(std::move(text), temporary.string(), "$TMP");
    text = replace_all(std::move(text), context.bin.string() + "/", "");
    text = replace_all(std::move(text), context.source.string(), "$SRC");
    text = std::regex_replace(text, progress, "");  // a line for each minute that a slow machine takes
    text = std::regex_replace(text, hash, "<hash>");
    text = std::regex_replace(text, time, "<time>");
    text = std::regex_replace(text, seconds, "$1<time>");
    for (const Substitution& s : context.substitutions) text = std::regex_replace(text, s.pattern, s.replacement);
    if (!text.empty() && text.back() != '\n') text += "\n" + std::string(kNoNewline) + "\n";
    return text;
}

/// "" when equal (or, for "lines", when every expected line occurs in order), else what to show.
std::string difference(const Section& expected, const std::string& got) {
    if (expected.argument == "lines") {
        std::istringstream want(expected.text), have(got);
        for (std::string line; std::getline(want, line);) {
            bool found = false;
            for (std::string candidate; !found && std::getline(have, candidate);) found = candidate == line;
            if (!found) return "expected line (in this order) is missing:\n" + line + "\nin:\n" + got;
        }
        return {};
    }
    if (expected.text == got) return {};
    const whittle::TempDir folder("golden");
    whittle::write_file(folder.path() / "expected", expected.text);
    whittle::write_file(folder.path() / "got", got);
    return whittle::run_process({"diff", "-u", "expected", "got"}, {.folder = folder.path()}).out;
}

/// What the test is run in.
whittle::ProcessOptions process_in(const fs::path& temporary, const Context& context) {
    whittle::ProcessOptions options;
    options.folder = temporary;
    options.timeout = std::chrono::minutes(15);  // a hang, not a slow machine
    const char* path = std::getenv("PATH");
    options.environment = {{"PATH", context.bin.string() + ":" + (path ? path : "")},
                           {"MODELS", (context.source / "share/models").string()},
                           {"EXAMPLES", (context.bin.parent_path() / "examples").string()},
                           {"SRC", context.source.string()},
                           {"TMPDIR", temporary.string()},
                           {"LC_ALL", "C"},
                           {"WHITTLE_LOGS", ""}};
    return options;
}

/// Runs section `at` and compares or replaces the expectations behind it. Returns the number of differences.
int run_step(std::vector<Section>& sections, std::size_t at, const fs::path& temporary, const Context& context) {
    const whittle::ProcessResult result =
        whittle::run_process({"sh", "-eu", "-c", sections[at].text}, process_in(temporary, context));
    const std::string exit_code = result.timed_out ? "timeout"
                                  : result.signal  ? "signal " + std::to_string(result.signal)
                                                   : std::to_string(result.exit_code);
    Section want_out{"stdout", {}, {}}, want_err{"stderr", {}, {}}, want_exit{"exit", "0", {}};
    std::size_t end = at + 1;
    for (; end < sections.size(); ++end) {
        Section& s = sections[end];
        if (s.kind == "stdout")
            want_out = s;
        else if (s.kind == "stderr")
            want_err = s;
        else if (s.kind == "exit")
            want_exit = s;
        else
            break;
    }
    Section out{"stdout", {}, normalize(result.out, temporary, context)};
    Section err{"stderr", {}, normalize(result.err, temporary, context)};
    if (context.update) {
        std::vector<Section> fresh;
        // Expectations of single lines, and for several machines, are the author's choice: kept, and compared below.
        const auto is_chosen = [](const Section& want) { return want.argument == "lines" || want.depends; };
        for (const auto& [got, want] : {std::pair(out, want_out), std::pair(err, want_err)}) {
            if (is_chosen(want))
                fresh.push_back(want);
            else if (!got.text.empty())
                fresh.push_back(got);
        }
        if (exit_code != "0") fresh.push_back({"exit", exit_code, {}});
        const auto first = sections.begin() + static_cast<std::ptrdiff_t>(at) + 1;
        sections.erase(first, sections.begin() + static_cast<std::ptrdiff_t>(end));
        sections.insert(sections.begin() + static_cast<std::ptrdiff_t>(at) + 1, fresh.begin(), fresh.end());
        if (!is_chosen(want_out)) want_out = out;
        if (!is_chosen(want_err)) want_err = err;
        want_exit.argument = exit_code;
    }
    int differences = 0;
    const auto report = [&](const std::string& what, const std::string& text) {
        if (text.empty()) return;
        if (!differences++) std::cout << context.file.string() << ": differs, for\n" << sections[at].text;
        std::cout << "-- " << what << "\n" << text;
    };
    report("exit", exit_code == want_exit.argument
                       ? ""
                       : "found " + exit_code + ", expected " + want_exit.argument + "\nits stderr:\n" + err.text);
    report("stdout", difference(want_out, out.text));
    report("stderr", difference(want_err, err.text));
    return differences;
}

int run_file(Context& context) {
    const whittle::TempDir temporary("golden");
    const fs::path folder = fs::canonical(temporary.path());
    const auto succeeds = [&](const std::string& command) {
        return whittle::run_process({"sh", "-c", command}, process_in(folder, context)).exit_code == 0;
    };
    std::vector<Section> sections = read_sections(context.file, succeeds);
    int differences = 0, runs = 0;
    for (std::size_t i = 0; i < sections.size(); ++i) {
        const Section section = sections[i];
        if (section.kind == "replace") {
            const auto arrow = section.argument.find(" ==> ");
            if (arrow == std::string::npos)
                throw Error("found '--- replace' without ' ==> ', expected '--- replace REGEX ==> TEXT'");
            context.substitutions.push_back(
                {std::regex(section.argument.substr(0, arrow)), section.argument.substr(arrow + 5)});
        } else if (section.kind == "needs") {
            if (succeeds(section.argument)) continue;
            std::cout << "skipped: " << section.argument << " fails here\n";
            return kSkipped;
        } else if (section.kind == "file") {
            whittle::write_file(folder / section.argument, section.text);
        } else if (section.kind == "run") {
            ++runs;
            differences += run_step(sections, i, folder, context);
        } else if (!section.kind.empty() && section.kind != "stdout" && section.kind != "stderr" &&
                   section.kind != "exit") {
            throw Error("found section '" + section.kind +
                        "', expected replace, needs, file, run, stdout, stderr, exit, if, else or end");
        }
    }
    if (runs == 0) throw Error("found no '--- run' section, expected one");
    if (context.update) whittle::write_file(context.file, write_sections(sections));
    if (differences)
        std::cout << "rewrite the expectations with: scripts/update goldens " << context.file.string() << "\n";
    return differences ? 1 : 0;
}

}  // namespace

int main(int argc, char** argv) {
    Context context;
    try {
        for (int i = 1; i < argc; ++i) {
            const std::string arg = argv[i];
            if (arg == "--update")
                context.update = true;
            else if (arg == "--bin" && i + 1 < argc)
                context.bin = argv[++i];
            else if (arg == "--source" && i + 1 < argc)
                context.source = argv[++i];
            else
                context.file = arg;
        }
        if (context.file.empty() || context.bin.empty() || context.source.empty())
            throw Error("usage: golden --bin PROGRAMS --source REPOSITORY [--update] FILE.txt");
        return run_file(context);
    } catch (const Error& error) {
        std::cerr << "golden: " << context.file.string() << ": " << error.what() << "\n";
    } catch (const std::regex_error& error) {
        std::cerr << "golden: " << context.file.string() << ": bad pattern: " << error.what() << "\n";
    }
    return 2;
}
