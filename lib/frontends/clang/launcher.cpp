#include "frontends/clang/launcher.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <vector>

#include "base/command_words.h"
#include "base/error.h"
#include "base/files.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "frontends/clang/unit.h"
#include "frontends/cpp/command.h"
#include "frontends/cpp/tables.h"

#ifndef WHITTLE_INCLUDE_DIR_FROM_BIN
#error "WHITTLE_INCLUDE_DIR_FROM_BIN must say where the installed headers lie, seen from the programs"
#endif

namespace whittle::cpp {
namespace {

namespace fs = std::filesystem;
using Words = std::vector<std::string>;

fs::path probe_header() {
    const fs::path program = fs::read_symlink("/proc/self/exe");
    const fs::path header =
        (program.parent_path() / WHITTLE_INCLUDE_DIR_FROM_BIN / "whittle" / "probe.h").lexically_normal();
    if (!fs::exists(header))
        throw Error({header.string(), {}},
                    "found no such file, expected the header of the probes, which is installed with Whittle");
    return header;
}

/// The temporary files of one compilation.
class Scratch {
  public:
    explicit Scratch(const std::string& source_name)
        : folder_("whittle-cc"), source(folder_.path() / source_name), object(folder_.path() / "plain.o") {}
    fs::path folder() const { return folder_.path(); }

  private:
    TempDir folder_;

  public:
    const fs::path source, object;
    /// Why there are no probes, when the child that makes them found a reason.
    fs::path refusal() const { return folder() / "refusal"; }
};

/// As the build would have run it, this process becoming the compiler.
int become(std::span<const std::string> words) {
    std::cout.flush();
    std::vector<char*> argv;
    for (const std::string& word : words) argv.push_back(const_cast<char*>(word.c_str()));
    argv.push_back(nullptr);
    ::execvp(argv[0], argv.data());
    throw Error("cannot run '" + words.front() + "': " + std::strerror(errno));
}

int status_of(const ProcessResult& result) { return result.signal ? 128 + result.signal : result.exit_code; }

ProcessResult run(const Words& words, bool show) {
    ProcessOptions options;
    options.inherit_output = show;
    options.own_group = false;  // an interrupt from the terminal ends the compiler too
    return run_process(words, options);
}

/// The first line that tells of an error; the temporary file by the name of the source.
std::string first_error(const ProcessResult& result, const std::string& temporary, const std::string& source) {
    std::string line = "exit status " + std::to_string(status_of(result));
    std::size_t begin = 0;
    for (std::size_t end; begin < result.err.size(); begin = end + 1) {
        end = std::min(result.err.find('\n', begin), result.err.size());
        const std::string text = result.err.substr(begin, end - begin);
        if (text.find("error") == std::string::npos) continue;
        line = text;
        break;
    }
    if (const std::size_t at = line.find(temporary); at != std::string::npos)
        line.replace(at, temporary.size(), source);
    return line;
}

/// The compiler wrote the temporary file's name into the depfile.
void fix_depfile(const std::string& depfile, const std::string& temporary, const std::string& source) {
    if (depfile.empty() || !fs::exists(depfile)) return;
    write_file(depfile, replaced(read_file(depfile), make_quoted(temporary), make_quoted(source)));
}

Words probed_command(const Command& command, const Scratch& scratch) {
    const std::string& source = command.words[command.source];
    const std::string folder = fs::path(source).parent_path().string();
    Words words = command.words;
    words[command.source] = scratch.source.string();
    // Paths in debug information and __BASE_FILE__ are those of a plain compilation, and the same each time.
    words.push_back("-ffile-prefix-map=" + scratch.folder().string() + "/=" + (folder.empty() ? "" : folder + "/"));
    // What the source includes by "name" lies beside it, not beside the temporary file.
    const Words beside = {"-iquote", folder.empty() ? "." : folder};
    words.insert(words.begin() + static_cast<std::ptrdiff_t>(command.compiler) + 1, beside.begin(), beside.end());
    return words;
}

struct Attempt {
    int status = 0;
    std::string refused = {};  ///< why the file must be compiled without probes
};

/// What a child that rewrote ends with; none that Clang itself would.
enum class Rewritten { probed = 70, nothing_to_probe, refused };

/// Writes the file with probes, or the refusal.
Rewritten rewrite(const Command& command, const Scratch& scratch) {
    const std::string& source = command.words[command.source];
    const std::span<const std::string> compiler(command.words.begin() + static_cast<std::ptrdiff_t>(command.compiler),
                                                command.words.end());
    std::vector<std::string> flags = clang_flags(compiler);
    if (std::find(flags.begin(), flags.end(), "-fopenmp") != flags.end()) {
        // GCC's omp.h, where Clang has none of its own; it has malloc(omp_free) among its attributes, which Clang 14
        // takes without arguments alone.
        std::string folder = run_process({compiler.front(), "-print-file-name=include"}).out;
        folder.erase(folder.find_last_not_of('\n') + 1);
        flags.insert(flags.end(), {"-idirafter", folder, "-D__malloc__(...)="});
    }
    const Probed probed = add_probes({source, flags});
    for (const Skipped& s : probed.skipped)
        log_info(LogChannel::capture,
                 source + ":" + std::to_string(s.range.line) + ": no probes in this " + s.what + ": " + s.reason);
    if (probed.sites.empty()) return Rewritten::nothing_to_probe;
    write_file(scratch.source, probed_file(probed, fs::absolute(source).lexically_normal().string(), probe_header()));
    return Rewritten::probed;
}

/// As rewrite(), in a child: a source on which Clang crashes is one that cannot be probed.
Rewritten rewrite_apart(const Command& command, const Scratch& scratch) {
    const auto work = [&]() -> int {
        try {
            return static_cast<int>(rewrite(command, scratch));
        } catch (const std::exception& error) {
            std::ofstream(scratch.refusal()) << error.what();
            return static_cast<int>(Rewritten::refused);
        }
    };
    ProcessOptions options;
    options.inherit_output = true;
    options.own_group = false;
    const ProcessResult result = run_forked(work, options);
    if (result.signal)
        throw Error({command.words[command.source], {}},
                    "Clang crashed while reading this file (" + signal_name(result.signal) + ")");
    const auto rewritten = static_cast<Rewritten>(result.exit_code);
    if (rewritten < Rewritten::probed || rewritten > Rewritten::refused)
        throw Error({command.words[command.source], {}},
                    "Clang failed on this file with exit status " + std::to_string(result.exit_code));
    return rewritten;
}

Attempt try_probes(const Command& command) {
    const std::string& source = command.words[command.source];
    const Scratch scratch(fs::path(source).filename());
    const Rewritten rewritten = rewrite_apart(command, scratch);
    if (rewritten == Rewritten::refused) return {0, read_file(scratch.refusal())};
    if (rewritten == Rewritten::nothing_to_probe) return {status_of(run(command.words, true)), {}};
    const ProcessResult result = run(probed_command(command, scratch), false);
    if (status_of(result) != 0)
        return {0, "the compiler rejects the file with probes: " + first_error(result, scratch.source, source)};
    fix_depfile(command.depfile, scratch.source, source);
    // Warnings are shown as the compiler gives them for the source itself: columns and excerpts are then right.
    if (!result.err.empty() || !result.out.empty())
        return {status_of(run(without_side_outputs(command, scratch.object), true)), {}};
    return {};
}

}  // namespace

int compile_with_probes(std::span<const std::string> words) {
    const Command command = parse_command(words);
    if (!command.other.empty()) return become(words);
    Attempt attempt{0, command.refused};
    if (attempt.refused.empty()) {
        try {
            attempt = try_probes(command);
        } catch (const Error& error) {
            attempt.refused = error.what();
        }
    }
    if (attempt.refused.empty()) return attempt.status;
    const int status = status_of(run(command.words, true));
    // When that fails too, the compiler has said what is wrong with the file.
    if (status == 0)
        std::cerr << program_called("trace cc") << ": compiled without probes: " << attempt.refused << std::endl;
    return status;
}

}  // namespace whittle::cpp
