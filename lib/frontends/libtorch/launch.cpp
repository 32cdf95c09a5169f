#include "frontends/libtorch/launch.h"

#include <cxxabi.h>
#include <elf.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>

#include "base/error.h"
#include "base/files.h"
#include "base/interpreter.h"
#include "base/interrupt.h"
#include "base/number_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "frontends/libtorch/capture_library.h"
#include "frontends/libtorch/events.h"
#include "symbolize/text.h"

namespace whittle::libtorch {

namespace fs = std::filesystem;

namespace {

/// The loader that an ELF file asks for; "" for a static program.
struct ElfFacts {
    bool elf = false, same_machine = false;
    std::string interpreter;
};
ElfFacts facts_of(const fs::path& path) {
    ElfFacts facts;
    const std::shared_ptr<const MappedFile> file = MappedFile::open(path);
    const auto bytes = file->bytes();
    if (bytes.size() < sizeof(Elf64_Ehdr) || std::memcmp(bytes.data(), ELFMAG, SELFMAG) != 0) return facts;
    facts.elf = true;
    Elf64_Ehdr header;
    std::memcpy(&header, bytes.data(), sizeof header);
    facts.same_machine = header.e_ident[EI_CLASS] == ELFCLASS64 && header.e_machine == EM_X86_64;
    if (!facts.same_machine) return facts;
    for (std::uint64_t i = 0; i < header.e_phnum; ++i) {
        Elf64_Phdr segment;
        const std::uint64_t at = header.e_phoff + i * sizeof segment;
        if (at > bytes.size() || bytes.size() - at < sizeof segment) break;
        std::memcpy(&segment, bytes.data() + at, sizeof segment);
        if (segment.p_type != PT_INTERP || segment.p_offset > bytes.size() ||
            bytes.size() - segment.p_offset < segment.p_filesz)
            continue;
        const char* text = reinterpret_cast<const char*>(bytes.data() + segment.p_offset);
        facts.interpreter.assign(text, ::strnlen(text, segment.p_filesz));
    }
    return facts;
}

/// Why our library cannot be loaded into the program; "" when it can.
std::string obstacle(const fs::path& program) {
    const fs::path stub = stub_library();
    if (!fs::exists(stub)) return stub.string() + " is missing: the program ran without capture";
    const ElfFacts facts = facts_of(program);
    if (!facts.elf) return {};  // a script: its interpreter is what runs
    if (!facts.same_machine)
        return "the program is for another machine, or for 32 bits: the program ran without capture";
    if (facts.interpreter.empty()) return "the program is linked statically: the program ran without capture";
    if (facts.interpreter != facts_of("/proc/self/exe").interpreter)
        return "the program uses its own dynamic loader (" + facts.interpreter + "): the program ran without capture";
    struct stat status {};
    if (::stat(program.c_str(), &status) == 0 && (status.st_mode & (S_ISUID | S_ISGID)) && ::geteuid() != 0)
        return "the program runs with another user's rights (setuid): the program ran without capture";
    return {};
}

/// LD_PRELOAD knows no quoting: a path with blanks or colons gets a link without.
fs::path preloadable(const fs::path& library, const fs::path& folder) {
    if (library.string().find_first_of(" :") == std::string::npos) return library;
    const fs::path link = folder / "libwhittle_capture.so";
    std::error_code ignored;
    fs::create_symlink(library, link, ignored);
    return link;
}

std::vector<std::string> environment_for(const LaunchOptions& options, const fs::path& folder, const fs::path& events) {
    std::vector<std::string> environment;
    for (char** entry = environ; *entry; ++entry) environment.emplace_back(*entry);
    const auto add = [&](const std::string& name, const std::string& value) {
        const auto known =
            std::ranges::find_if(environment, [&](const std::string& entry) { return entry.starts_with(name + "="); });
        if (known == environment.end())
            environment.push_back(name + "=" + value);
        else
            *known = name + "=" + value;  // the program sees it where the user's was
    };
    for (const auto& [name, value] : preload_variables(options.preload, folder)) add(name, value);
    add(kFileVariable, events.string());
    std::uint64_t flags = 0;
    if (options.with_data) flags |= kWithData;
    if (options.with_times) flags |= kWithTimes;
    if (options.with_hashes) flags |= kWithHashes;
    if (options.with_ring) flags |= kWithRing;
    if (options.until_nan) flags |= kUntilNan;
    constexpr double kMost = 1e12;  // a program that runs for so long ends sooner
    const auto milliseconds = static_cast<std::uint64_t>(std::clamp(1e3 * options.limits.seconds, 0.0, kMost));
    add(kLimitsVariable, std::to_string(options.limits.bytes) + " " + std::to_string(milliseconds) + " " +
                             std::to_string(flags) + " " + std::to_string(options.only));
    return environment;
}

/// Ctrl-C and Ctrl-\ go to the program, which decides; we wait for it.
class LeaveTerminal {
  public:
    LeaveTerminal() : quit_(::signal(SIGQUIT, SIG_IGN)) {}
    ~LeaveTerminal() { ::signal(SIGQUIT, quit_); }
    LeaveTerminal(const LeaveTerminal&) = delete;
    LeaveTerminal& operator=(const LeaveTerminal&) = delete;
    /// Those that the program gets back as they were.
    sigset_t restored() const {
        sigset_t set;
        sigemptyset(&set);
        if (quit_ != SIG_IGN) sigaddset(&set, SIGQUIT);
        return set;
    }

  private:
    const SharedTerminalScope interrupts_;
    sighandler_t quit_;
};

std::vector<char*> pointers(std::vector<std::string>& strings) {
    std::vector<char*> result;
    for (std::string& text : strings) result.push_back(text.data());
    result.push_back(nullptr);
    return result;
}

/// The program's exit status. A signal that tells us to stop is passed on: what was captured until then is told.
int wait_for(pid_t child) {
    const int handle = static_cast<int>(::syscall(SYS_pidfd_open, child, 0));
    int status = 0;
    for (bool told = false;;) {
        const pid_t ended = ::waitpid(child, &status, WNOHANG);
        if (ended == child) break;
        if (ended < 0 && errno != EINTR)
            throw Error(std::string("cannot get the exit status of the program: ") + std::strerror(errno));
        if (interrupt_signal() && !std::exchange(told, true)) ::kill(child, interrupt_signal());
        struct pollfd end {
            handle, POLLIN, 0
        };
        ::poll(&end, 1, 100);
    }
    if (handle >= 0) ::close(handle);
    return status;
}

void run(const LaunchOptions& options, std::vector<std::string> environment, LaunchResult& result) {
    std::string path = options.program.string();
    if (path.find('/') == std::string::npos) path = "./" + path;
    std::vector<std::string> argv{options.program.string()};
    argv.insert(argv.end(), options.arguments.begin(), options.arguments.end());

    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    ::posix_spawn_file_actions_init(&actions);
    ::posix_spawnattr_init(&attributes);
    if (options.stdout_to_stderr) ::posix_spawn_file_actions_adddup2(&actions, STDERR_FILENO, STDOUT_FILENO);
    const LeaveTerminal terminal;
    const sigset_t restored = terminal.restored();
    ::posix_spawnattr_setsigdefault(&attributes, &restored);
    ::posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF);
    pid_t child = -1;
    const int failed =
        ::posix_spawn(&child, path.c_str(), &actions, &attributes, pointers(argv).data(), pointers(environment).data());
    ::posix_spawn_file_actions_destroy(&actions);
    ::posix_spawnattr_destroy(&attributes);
    if (failed)
        throw Error({options.program.string(), {}}, std::string("cannot run the program: ") + std::strerror(failed));
    // Whoever started us may ignore it, which the program inherits; we would lose the program's exit status by it.
    ::signal(SIGCHLD, SIG_DFL);
    const int status = wait_for(child);
    if (WIFSIGNALED(status))
        result.signal = WTERMSIG(status);
    else
        result.exit_code = WEXITSTATUS(status);
}

/// Begins a note about processes that have no events of their own.
std::string not_captured(std::ptrdiff_t count) {
    return "not captured: " + plural(count, "other process that uses LibTorch", "other processes that use LibTorch") +
           " and that the program started; ";
}

constexpr char kUnseen[] = "the program ran without capture: the capture library could not be loaded into the program";

/// What the stub wrote about itself, in our words: "" when all is well.
std::string note_of(const std::string& status, const LaunchOptions& options, const CaptureLibraries& libraries) {
    const auto blank = status.find(' ');
    const std::string what = status.substr(0, blank), more = blank == std::string::npos ? "" : status.substr(blank + 1);
    if (what == "active") return note_of_version(more.substr(0, more.find(' ')));
    if (what == "no-torch")
        return program_identity(options.program, options.arguments).string() +
               " did not load LibTorch, so there was nothing to capture";
    if (what == "late-torch")
        return "the program loaded LibTorch (" + more +
               ") in a way that capture cannot see (dlmopen, or its own loader): the program ran without capture";
    if (what == "no-library") {
        std::istringstream words(more);
        TorchFacts torch{};
        std::string path;
        if (!parse(words, torch) || !std::getline(words >> std::ws, path)) return kUnseen;
        return why_not_captured(torch, path, libraries);
    }
    if (what == "not-loaded")
        return "the capture library could not be loaded: " + more +
               (more.find("undefined symbol") == more.npos
                    ? ""
                    : "; the program's LibTorch lacks functions that other builds of this version of LibTorch have");
    return kUnseen;
}

/// "at::TensorBase::const_data_ptr" of the symbol of "float const* at::TensorBase::const_data_ptr<float, 0>() const":
/// functions of one name are missing together.
std::string function_name(const std::string& symbol) {
    int failed = 0;
    const std::unique_ptr<char, decltype(&std::free)> text(
        abi::__cxa_demangle(symbol.c_str(), nullptr, nullptr, &failed), &std::free);
    if (failed != 0 || !text) return symbol;
    const std::string plain = without_template_arguments(text.get()), name = plain.substr(0, plain.find('('));
    return name.substr(name.rfind(' ') + 1);
}

/// The functions that the stub stands before and did not find, one symbol a line: their calls are not seen.
std::string note_of_hooks(std::istream& symbols) {
    std::vector<std::pair<std::string, int>> missing;
    for (std::string symbol; std::getline(symbols, symbol);) {
        const std::string name = function_name(symbol);
        const auto known = std::ranges::find(missing, name, &std::pair<std::string, int>::first);
        if (known == missing.end())
            missing.emplace_back(name, 1);
        else
            ++known->second;
    }
    std::string note;
    for (const auto& [name, count] : missing)
        note += (note.empty() ? "" : ", ") + name + (count > 1 ? " (" + std::to_string(count) + " functions)" : "");
    return note.empty() ? note
                        : "capture watches functions that the program's libraries lack: " + note +
                              "; if the libraries call other functions instead, those calls are not captured";
}

}  // namespace

std::vector<fs::path> event_files(const fs::path& folder) {
    std::vector<std::pair<std::uint64_t, fs::path>> began;
    for (int i = 0; i < kMostProcesses; ++i) {
        const fs::path file = folder / (kEventFile + (i ? "." + std::to_string(i) : ""));
        std::error_code missing;
        const auto size = fs::file_size(file, missing);
        if (missing) break;
        FileHeader header{};
        std::ifstream in(file, std::ios::binary);
        if (size >= sizeof header && in.read(reinterpret_cast<char*>(&header), sizeof header) &&
            std::memcmp(header.magic, kFileMagic, sizeof kFileMagic) == 0)
            began.emplace_back(header.began, file);
    }
    std::ranges::stable_sort(began, {}, &std::pair<std::uint64_t, fs::path>::first);
    std::vector<fs::path> files;
    for (auto& [time, file] : began) files.push_back(std::move(file));
    return files;
}

bool is_recording(const fs::path& events) {
    FileHeader header{};
    std::ifstream in(events, std::ios::binary);
    in.read(reinterpret_cast<char*>(&header), sizeof header);
    return in.good() && std::memcmp(header.magic, kFileMagic, sizeof kFileMagic) == 0 && header.finished == 0 &&
           header.cut == kNotCut;
}

std::string built_for() { return WHITTLE_TORCH_SONAME; }

namespace {
constexpr std::string_view kRunner = "whittle-torchscript";
}

fs::path torchscript_runner(const fs::path& module) {
    const fs::path runner = capture_folder() / kRunner;
    if (built_for().empty() || !fs::exists(runner))
        throw Error({module.string(), {}},
                    "found a TorchScript module, which needs LibTorch, but this Whittle was built without LibTorch",
                    kHowToGetIt);
    return runner;
}

bool is_torchscript_runner(const fs::path& program) { return program.filename() == kRunner; }

std::string LaunchResult::status_text() const {
    return signal ? "killed by " + signal_name(signal) : "exit status " + std::to_string(exit_code);
}

/// Throws Error where not even a few events fit: the program would run, and nothing of it be seen.
static void require_room(const fs::path& folder) {
    constexpr std::size_t kLeast = std::size_t{64} << 10;
    const fs::path file = folder / "room";
    write_file(file, std::string(kLeast, ' '));
    fs::remove(file);
}

fs::path stub_library() { return capture_folder() / "libwhittle_capture.so"; }

std::vector<std::pair<std::string, std::string>> preload_variables(const fs::path& more, const fs::path& folder) {
    std::string libraries = preloadable(stub_library(), folder).string();
    if (!more.empty()) libraries += ":" + more.string();
    const char* const users = std::getenv("LD_PRELOAD");
    if (!users || !*users) return {{"LD_PRELOAD", libraries}};
    return {{"LD_PRELOAD", libraries + ":" + users}, {kPreloadVariable, users}};
}

LaunchResult launch(const LaunchOptions& options, const fs::path& folder) {
    LaunchResult result;
    require_room(folder);
    const fs::path events = folder / kEventFile;
    const std::string blocked = obstacle(options.program);
    CaptureLibraries libraries;
    std::vector<std::string> environment;
    if (blocked.empty()) {
        libraries = capture_libraries();
        write_file(events.string() + kListSuffix, list_of(libraries.usable));
        environment = environment_for(options, folder, events);
    } else {
        for (char** entry = environ; *entry; ++entry) environment.emplace_back(*entry);
    }
    for (const auto& pair : options.environment) {  // clang 14's lambdas cannot use a structured binding
        std::erase_if(environment, [&](const std::string& entry) { return entry.starts_with(pair.first + "="); });
        environment.push_back(pair.first + "=" + pair.second);
    }
    // What we printed so far comes before the program's output.
    std::fflush(nullptr);
    const auto begin = std::chrono::steady_clock::now();
    run(options, std::move(environment), result);
    result.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if (!blocked.empty()) {
        result.notes.push_back(blocked);
        return result;
    }
    const fs::path status = events.string() + ".status";
    std::istringstream told(fs::exists(status) ? read_file(status) : "");
    std::string line;
    std::getline(told, line);
    for (const std::string& note : {note_of(line, options, libraries), note_of_hooks(told)})
        if (!note.empty()) result.notes.push_back(note);
    result.events = event_files(folder);
    const fs::path others = events.string() + ".others";
    const std::string uncaptured = fs::exists(others) ? read_file(others) : "";
    if (const auto count = std::ranges::count(uncaptured, kTooMany))
        result.notes.push_back(not_captured(count) + "Whittle captures only the first " +
                               std::to_string(kMostProcesses) + " processes that load LibTorch");
    if (const auto count = std::ranges::count(uncaptured, kOtherTorch))
        result.notes.push_back(not_captured(count) +
                               "Whittle has no capture library for their LibTorch, or could not load the library");
    return result;
}

}  // namespace whittle::libtorch
