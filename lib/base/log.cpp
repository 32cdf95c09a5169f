#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "base/debug_folder.h"
#include "base/error.h"
#include "base/event_log.h"
#include "base/thread_work.h"
#include "base/variables.h"
#include "base/words.h"

namespace whittle {
namespace {

constexpr std::size_t kChannelCount = std::size(kAllLogChannels), kArtifactCount = std::size(kAllLogArtifacts);

/// The least level that is shown of each component, and which artifacts are.
struct Shown {
    std::array<LogLevel, kChannelCount> channels;
    std::array<bool, kArtifactCount> artifacts{};

    explicit Shown(LogLevel least = LogLevel::warning) { channels.fill(least); }
};

constexpr std::size_t index_of(LogChannel channel) { return static_cast<std::size_t>(channel); }
constexpr std::size_t index_of(LogArtifact artifact) { return static_cast<std::size_t>(artifact); }

/// The one of this name, if any.
template <class Named>
const Named* find(std::span<const Named> all, std::string_view wanted) {
    const auto found = std::ranges::find_if(all, [&](Named one) { return name(one) == wanted; });
    return found == all.end() ? nullptr : &*found;
}

}  // namespace

/// Where artifacts become files, and which.
struct DebugScope {
    std::unique_ptr<DebugFolder> folder;
    std::string parts_text;  ///< as they were asked for
    std::array<bool, kArtifactCount> parts{};
};

namespace {

struct State {
    std::mutex mutex;  ///< of sink, scopes, spec and relayed
    std::shared_ptr<spdlog::sinks::sink> sink;
    DebugScope configured;            ///< of the whole process
    std::vector<DebugScope*> scopes;  ///< of parts of the program, which may end in any order: the last one counts
    std::string spec;                 ///< what is shown, as it was asked for
    std::string file;                 ///< absolute; empty: stderr
    bool quiet = false;               ///< says nothing of its own
    int descriptor = -1;              ///< written to instead of the sink and the folder
    std::set<std::string> relayed;    ///< warnings and errors
    std::array<std::atomic<LogLevel>, kChannelCount> channels;
    std::array<std::atomic<bool>, kArtifactCount> artifacts;  ///< that are logged
    std::array<std::atomic<bool>, kArtifactCount> parts{};    ///< the scope's

    State() { show(Shown()); }
    void show(const Shown& shown) {
        std::ranges::copy(shown.channels, channels.begin());
        std::ranges::copy(shown.artifacts, artifacts.begin());
    }
    DebugScope& scope() { return scopes.empty() ? configured : *scopes.back(); }
    void scope_changed() { std::ranges::copy(scope().parts, parts.begin()); }
};

State& state() {
    static State* instance = new State;  // leaked: threads may log while the process ends
    return *instance;
}

[[noreturn]] void refuse(const std::string& word, const Location& place) {
    std::vector<std::string> names{"all"};
    for (const LogChannel known : kAllLogChannels) names.emplace_back(name(known));
    for (const LogArtifact known : kAllLogArtifacts) names.emplace_back(name(known));
    throw Error(place, "found '" + word + "', expected one of " + join(names), did_you_mean(word, names));
}

/// Applies "+capture,guards". Throws Error that names `place`, where the words are from.
void apply(Shown& shown, const std::string& spec, const Location& place) {
    for (std::string word : split_list(spec)) {
        LogLevel level = LogLevel::info;
        if (word[0] == '+') level = LogLevel::debug;
        if (word[0] == '-') level = LogLevel::error;
        if (level != LogLevel::info) word.erase(0, 1);
        if (word == "all")
            shown.channels.fill(level);
        else if (const auto channel = find<LogChannel>(kAllLogChannels, word))
            shown.channels[index_of(*channel)] = level;
        else if (const auto artifact = find<LogArtifact>(kAllLogArtifacts, word))
            shown.artifacts[index_of(*artifact)] = level != LogLevel::error;  // '-guards' switches it off, as in torch
        else
            refuse(word, place);
    }
}

Shown shown_by(const LogOptions& options) {
    Shown shown(options.quiet ? LogLevel::error : LogLevel::warning);
    apply(shown, options.variable, {"environment", "WHITTLE_LOGS"});
    apply(shown, options.spec, {"--log", {}});
    return shown;
}

std::shared_ptr<spdlog::sinks::sink> make_sink(const LogOptions& options) {
    std::shared_ptr<spdlog::sinks::sink> sink;
    if (options.file.empty()) {
        sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>(options.color ? spdlog::color_mode::always
                                                                                   : spdlog::color_mode::never);
        sink->set_pattern("%^%l%$: %v");
    } else {
        try {
            const bool shared = options.file == variable("WHITTLE_LOG_FILE");  // by all processes that have it
            sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file, !shared);
        } catch (const spdlog::spdlog_ex& e) {
            throw Error({options.file, {}}, std::string("cannot write the log: ") + e.what());
        }
        sink->set_pattern("%Y-%m-%d %H:%M:%S.%e %P %l: %v");
    }
    return sink;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
    namespace to = spdlog::level;
    constexpr to::level_enum kLevels[] = {to::debug, to::info, to::warn, to::err, to::off};
    return kLevels[static_cast<std::size_t>(level)];
}

/// No copy of this process starts while another thread is in the log: the copy would wait for that thread forever.
void keep_usable_in_copies() {
    static std::once_flag once;
    std::call_once(once, [] {
        ::pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); }, [] { state().mutex.unlock(); });
    });
}

/// What a message for relay_log() begins with: a level, or this and the number of an artifact that is a file.
constexpr unsigned char kFile = 0x80;

/// One message for relay_log(): kind, length, text, in one write so that those of threads stay apart.
void send(int descriptor, unsigned char kind, const std::string& text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    std::string message(1, static_cast<char>(kind));
    message.append(reinterpret_cast<const char*>(&size), sizeof size);
    message += text;
    const ssize_t ignored = ::write(descriptor, message.data(), message.size());
    static_cast<void>(ignored);
}

State& writable_state() {
    keep_usable_in_copies();
    return state();
}

thread_local int writers = 0;

/// Holds the log while it lives.
class Writer {
  public:
    Writer() { ++writers; }
    ~Writer() { --writers; }
    Writer(const Writer&) = delete;
    Writer& operator=(const Writer&) = delete;

    /// Flushed at once: the last line before a crash is the one that matters.
    void write(LogLevel level, const std::string& text) {
        if (log_.descriptor >= 0) return send(log_.descriptor, static_cast<unsigned char>(level), text);
        if (!log_.sink) log_.sink = make_sink({});
        try {
            log_.sink->log(spdlog::details::log_msg("whittle", spdlog_level(level), text));
            log_.sink->flush();
        } catch (const spdlog::spdlog_ex& error) {  // a full disk must not end the program that logs
            std::fprintf(stderr, "cannot write the log, continuing on stderr: %s\n", error.what());
            log_.sink = make_sink({});
            write(level, text);
        }
    }
    /// An artifact as a file of this process, whose name is returned. What cannot be written is said once, and the
    /// program that logs goes on.
    std::string write_file(LogArtifact artifact, std::string_view title, std::string_view text) {
        if (log_.descriptor >= 0) {
            send(log_.descriptor, static_cast<unsigned char>(kFile + index_of(artifact)),
                 std::string(title) + '\0' + std::string(text));
            return {};
        }
        return in_folder(
            [&](DebugFolder& folder) { return folder.write(artifact, title, text, thread_work().section); });
    }
    std::string make_folder(const std::string& name) {
        if (log_.descriptor >= 0) return {};
        return in_folder([&](DebugFolder& folder) { return folder.make_folder(name); });
    }
    void write_file(LogArtifact artifact, const std::string& sent) {
        const std::size_t end = std::min(sent.find('\0'), sent.size() - 1);
        write_file(artifact, std::string_view(sent).substr(0, end), std::string_view(sent).substr(end + 1));
    }
    void tell_section() {
        DebugScope& scope = log_.scope();
        if (log_.quiet || !scope.folder) return;
        const std::string& section = thread_work().section;
        if (const std::filesystem::path folder = scope.folder->untold_folder_of(section); !folder.empty())
            write(LogLevel::info, "debug files of " + section + " are in " + folder.string());
    }
    /// False for a warning or an error that was relayed before.
    bool is_news(LogLevel level, const std::string& text) {
        return level < LogLevel::warning || log_.relayed.insert(text).second;
    }

  private:
    template <class Make>
    std::string in_folder(const Make& make) {
        DebugScope& scope = log_.scope();
        if (!scope.folder) return {};
        const bool first = scope.folder->run().empty();
        const std::filesystem::path made = make(*scope.folder);
        if (made.empty()) {
            const std::string where = scope.folder->dir().string();
            scope = {};
            log_.scope_changed();
            write(LogLevel::warning, "writing no more debug files: cannot write to " + where);
        } else if (first && !log_.quiet) {
            write(LogLevel::info, "debug files are in " + scope.folder->run().string());
        }
        return made.string();
    }

    State& log_ = writable_state();
    const std::lock_guard<std::mutex> lock_{log_.mutex};
};

bool is_shown(LogChannel channel, LogLevel level) {
    return level >= state().channels[index_of(channel)].load(std::memory_order_relaxed);
}

void show(LogChannel channel, LogLevel level, std::string_view message) {
    if (is_shown(channel, level)) Writer().write(level, '[' + std::string(name(channel)) + "] " + std::string(message));
}

/// What the structured log has of all channels.
bool is_event(LogLevel level) { return level >= LogLevel::info && EventLog::instance().is_open(); }
bool is_event(LogArtifact artifact) {
    const bool cheap =
        artifact == LogArtifact::guards || artifact == LogArtifact::graph_breaks || artifact == LogArtifact::recompiles;
    return cheap && EventLog::instance().is_open();
}

void write_if_enabled(LogChannel channel, LogLevel level, std::string_view message) {
    show(channel, level, message);
    constexpr const char* kNames[] = {"debug", "info", "warning", "error"};
    if (is_event(level)) EventLog::instance().message(name(channel), kNames[static_cast<std::size_t>(level)], message);
}

}  // namespace

bool writing_log() { return writers > 0; }

void configure_log(const LogOptions& options) {
    const Shown shown = shown_by(options);
    DebugScope configured{.folder = nullptr, .parts_text = options.debug_parts};
    if (!options.debug_dir.empty()) {
        configured.parts = debug_parts(options.debug_parts, "WHITTLE_DEBUG_PARTS");
        configured.folder = std::make_unique<DebugFolder>(options.debug_dir);
    }
    std::shared_ptr<spdlog::sinks::sink> sink = make_sink(options);
    State& log = state();
    const std::lock_guard lock(log.mutex);
    log.sink = std::move(sink);
    log.configured = std::move(configured);
    log.scope_changed();
    log.quiet = options.quiet;
    log.file = options.file.empty() ? "" : std::filesystem::absolute(options.file).string();
    log.spec = options.variable + (options.variable.empty() || options.spec.empty() ? "" : ",") + options.spec;
    log.show(shown);
}

std::string log_spec() {
    const std::lock_guard lock(state().mutex);
    return state().spec;
}

std::string log_file() {
    const std::lock_guard lock(state().mutex);
    return state().file;
}

DebugVariables debug_variables() {
    const std::lock_guard lock(state().mutex);
    const DebugScope& scope = state().scope();
    if (!scope.folder) return {};
    return {scope.folder->dir().string(), scope.parts_text};
}

bool log_enabled(LogChannel channel, LogLevel level) { return is_shown(channel, level) || is_event(level); }

static bool is_on(const std::atomic<bool>& artifact) { return artifact.load(std::memory_order_relaxed); }
bool is_debug_file(LogArtifact artifact) { return is_on(state().parts[index_of(artifact)]); }
static bool is_logged(LogArtifact artifact) { return is_on(state().artifacts[index_of(artifact)]); }

static bool paused() { return thread_work().makes_no_artifacts; }
ArtifactPause::ArtifactPause() : Exchanged(thread_work().makes_no_artifacts, true) {}

bool log_enabled(LogArtifact artifact) {
    return !paused() && (is_logged(artifact) || is_debug_file(artifact) || is_event(artifact));
}

void send_log_to(int descriptor) { state().descriptor = descriptor; }

void relay_log(std::string_view sent) {
    constexpr std::size_t kHead = 1 + sizeof(std::uint32_t);
    Writer writer;
    while (sent.size() >= kHead) {
        std::uint32_t size = 0;
        std::memcpy(&size, sent.data() + 1, sizeof size);
        const auto number = static_cast<unsigned char>(sent[0]);
        const bool file = number >= kFile && number - kFile < static_cast<int>(kArtifactCount);
        if ((!file && number >= static_cast<unsigned char>(LogLevel::off)) || size > sent.size() - kHead)
            return;  // gone mad
        const std::string text(sent.substr(kHead, size));
        sent.remove_prefix(kHead + size);
        if (file) {
            writer.write_file(static_cast<LogArtifact>(number - kFile), text);
            continue;
        }
        const auto level = static_cast<LogLevel>(number);
        if (writer.is_news(level, text)) writer.write(level, text);
    }
}

void log_debug(LogChannel channel, std::string_view message) { write_if_enabled(channel, LogLevel::debug, message); }
void log_info(LogChannel channel, std::string_view message) { write_if_enabled(channel, LogLevel::info, message); }
void log_warning(LogChannel channel, std::string_view message) {
    if (channel == LogChannel::backend && paused()) return;
    write_if_enabled(channel, LogLevel::warning, message);
}
void log_error(LogChannel channel, std::string_view message) { write_if_enabled(channel, LogLevel::error, message); }

void show_info(LogChannel channel, std::string_view message) { show(channel, LogLevel::info, message); }

void log_artifact(LogArtifact artifact, std::string_view title, std::string_view text) {
    if (!log_enabled(artifact)) return;
    if (EventLog::instance().is_open()) EventLog::instance().artifact(name(artifact), title, text);
    debug_file(artifact, title, text);
    if (!is_logged(artifact)) return;
    std::string message = '[' + std::string(name(artifact)) + "] " + std::string(title) + "\n" + std::string(text);
    while (message.ends_with('\n')) message.pop_back();
    Writer().write(LogLevel::info, message);
}

std::string debug_file(LogArtifact artifact, std::string_view title, std::string_view text) {
    return !paused() && is_debug_file(artifact) ? Writer().write_file(artifact, title, text) : std::string();
}

std::string debug_subfolder(LogArtifact artifact, const std::string& name) {
    return !paused() && is_debug_file(artifact) ? Writer().make_folder(name) : std::string();
}

DebugSection::DebugSection(std::string title) : Exchanged(thread_work().section, std::move(title)) {}
DebugSection::~DebugSection() { Writer().tell_section(); }

DebugFiles::DebugFiles(const std::string& dir, const std::string& parts) : scope_(std::make_unique<DebugScope>()) {
    scope_->parts = debug_parts(parts, "parts of debug files");
    scope_->parts_text = parts;
    scope_->folder = std::make_unique<DebugFolder>(dir);
    State& log = writable_state();
    const std::lock_guard lock(log.mutex);
    log.scopes.push_back(scope_.get());
    log.scope_changed();
}

DebugFiles::~DebugFiles() {
    State& log = state();
    const std::lock_guard lock(log.mutex);
    std::erase(log.scopes, scope_.get());
    log.scope_changed();
}

}  // namespace whittle
