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
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"
#include "base/variables.h"

namespace whittle {
namespace {

struct Row {
    std::string_view name, doc;
};
#define WHITTLE_ROW(name, doc) Row{#name, doc},
constexpr Row kChannels[] = {WHITTLE_LOG_CHANNELS(WHITTLE_ROW)};
constexpr Row kArtifacts[] = {WHITTLE_LOG_ARTIFACTS(WHITTLE_ROW)};
#undef WHITTLE_ROW
constexpr std::size_t kChannelCount = std::size(kChannels), kArtifactCount = std::size(kArtifacts);

/// The least level that is shown of each component, and which artifacts are.
struct Shown {
    std::array<LogLevel, kChannelCount> channels;
    std::array<bool, kArtifactCount> artifacts{};

    explicit Shown(LogLevel least = LogLevel::warning) { channels.fill(least); }
};

constexpr std::size_t index_of(LogChannel channel) { return static_cast<std::size_t>(channel); }
constexpr std::size_t index_of(LogArtifact artifact) { return static_cast<std::size_t>(artifact); }

/// Where the name stands among the rows.
std::optional<std::size_t> find(std::span<const Row> rows, std::string_view name) {
    const auto found = std::ranges::find(rows, name, &Row::name);
    if (found == rows.end()) return std::nullopt;
    return static_cast<std::size_t>(found - rows.begin());
}

struct State {
    std::mutex mutex;  ///< of sink, spec and relayed
    std::shared_ptr<spdlog::sinks::sink> sink;
    std::string spec;               ///< what is shown, as it was asked for
    int descriptor = -1;            ///< written to instead of the sink
    std::set<std::string> relayed;  ///< warnings and errors
    std::array<std::atomic<LogLevel>, kChannelCount> channels;
    std::array<std::atomic<bool>, kArtifactCount> artifacts;

    State() { show(Shown()); }
    void show(const Shown& shown) {
        std::ranges::copy(shown.channels, channels.begin());
        std::ranges::copy(shown.artifacts, artifacts.begin());
    }
};

State& state() {
    static State* instance = new State;  // leaked: threads may log while the process ends
    return *instance;
}

[[noreturn]] void refuse(const std::string& word, const Location& place) {
    std::vector<std::string> names{"all"};
    for (const Row& known : kChannels) names.emplace_back(known.name);
    for (const Row& known : kArtifacts) names.emplace_back(known.name);
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
        else if (const auto channel = find(kChannels, word))
            shown.channels[*channel] = level;
        else if (const auto artifact = find(kArtifacts, word))
            shown.artifacts[*artifact] = level != LogLevel::error;  // '-guards' switches it off, as in torch
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
            sink = std::make_shared<spdlog::sinks::basic_file_sink_mt>(options.file, true);
        } catch (const spdlog::spdlog_ex& e) {
            throw Error({options.file, {}}, std::string("cannot write the log: ") + e.what());
        }
        sink->set_pattern("%Y-%m-%d %H:%M:%S.%e %P %l: %v");
    }
    return sink;
}

spdlog::level::level_enum spdlog_level(LogLevel level) {
    switch (level) {
        case LogLevel::debug:
            return spdlog::level::debug;
        case LogLevel::info:
            return spdlog::level::info;
        case LogLevel::warning:
            return spdlog::level::warn;
        default:
            return spdlog::level::err;
    }
}

/// No copy of this process starts while another thread is in the log: the copy would wait for that thread forever.
void keep_usable_in_copies() {
    static std::once_flag once;
    std::call_once(once, [] {
        ::pthread_atfork([] { state().mutex.lock(); }, [] { state().mutex.unlock(); }, [] { state().mutex.unlock(); });
    });
}

/// One message for relay_log(): level, length, text, in one write so that those of threads stay apart.
void send(int descriptor, LogLevel level, const std::string& text) {
    const auto size = static_cast<std::uint32_t>(text.size());
    std::string message(1, static_cast<char>(level));
    message.append(reinterpret_cast<const char*>(&size), sizeof size);
    message += text;
    const ssize_t ignored = ::write(descriptor, message.data(), message.size());
    static_cast<void>(ignored);
}

State& writable_state() {
    keep_usable_in_copies();
    return state();
}

/// Holds the log while it lives.
class Writer {
  public:
    /// Flushed at once: the last line before a crash is the one that matters.
    void write(LogLevel level, const std::string& text) {
        if (log_.descriptor >= 0) return send(log_.descriptor, level, text);
        if (!log_.sink) log_.sink = make_sink({});
        try {
            log_.sink->log(spdlog::details::log_msg("whittle", spdlog_level(level), text));
            log_.sink->flush();
        } catch (const spdlog::spdlog_ex& error) {  // a full disk must not end the program that logs
            std::fprintf(stderr, "the log goes on here: %s\n", error.what());
            log_.sink = make_sink({});
            write(level, text);
        }
    }
    /// False for a warning or an error that was relayed before.
    bool is_news(LogLevel level, const std::string& text) {
        return level < LogLevel::warning || log_.relayed.insert(text).second;
    }

  private:
    State& log_ = writable_state();
    const std::lock_guard<std::mutex> lock_{log_.mutex};
};

void write_if_enabled(LogChannel channel, LogLevel level, std::string_view message) {
    if (log_enabled(channel, level))
        Writer().write(level, '[' + std::string(name(channel)) + "] " + std::string(message));
}

/// "| `capture` | … |" of each row.
std::string table(const char* heading, std::span<const Row> rows) {
    std::string text = "| " + std::string(heading) + " | shows |\n|---|---|\n";
    for (const Row& row : rows) text += "| `" + std::string(row.name) + "` | " + std::string(row.doc) + " |\n";
    return text;
}

}  // namespace

std::string_view name(LogChannel channel) { return kChannels[index_of(channel)].name; }
std::string_view name(LogArtifact artifact) { return kArtifacts[index_of(artifact)].name; }

std::string logs_page() {
    return "# Logs\n\n"
           "<!-- Generated: explain --list-logs > share/doc/logs.md -->\n\n"
           "`--log SPEC` of every program, `$WHITTLE_LOGS`, and `whittle::set_logs()` in a program of your own take a\n"
           "list of channels, separated by commas: `--log capture,+backend,guards`.\n\n"
           "A component shows warnings and errors; by its name information, too, with `+` debugging, with `-` errors\n"
           "only. `all` names every component.\n\n" +
           table("component", kChannels) + "\nAn artifact is shown when it is named:\n\n" +
           table("artifact", kArtifacts) +
           "\n## Which step failed\n\n"
           "`--log capture,backend,lowering` tells of each step when it begins and when it ends:\n\n"
           "    info: [backend] Step 2: compile by backend NAME: graph main (3 ops): begin\n"
           "    info: [backend] Step 2: compile by backend NAME: graph main (3 ops): done in 0.012 s\n\n"
           "Step 1 is the capture, step 2 the backend, step 3 the lowering to kernels, which is part of step 2. After "
           "a\n"
           "crash the last step without an end, which would be `done`, `failed` or `ended`, is where it happened. What "
           "is "
           "logged\n"
           "in a child process arrives when that has ended, however it did.\n";
}

void configure_log(const LogOptions& options) {
    const Shown shown = shown_by(options);
    std::shared_ptr<spdlog::sinks::sink> sink = make_sink(options);
    State& log = state();
    const std::lock_guard lock(log.mutex);
    log.sink = std::move(sink);
    log.spec = options.variable + (options.variable.empty() || options.spec.empty() ? "" : ",") + options.spec;
    log.show(shown);
}

std::string log_spec() {
    const std::lock_guard lock(state().mutex);
    return state().spec;
}

bool log_enabled(LogChannel channel, LogLevel level) {
    return level >= state().channels[index_of(channel)].load(std::memory_order_relaxed);
}

bool log_enabled(LogArtifact artifact) { return state().artifacts[index_of(artifact)].load(std::memory_order_relaxed); }

void send_log_to(int descriptor) { state().descriptor = descriptor; }

void relay_log(std::string_view sent) {
    constexpr std::size_t kHead = 1 + sizeof(std::uint32_t);
    Writer writer;
    while (sent.size() >= kHead) {
        std::uint32_t size = 0;
        std::memcpy(&size, sent.data() + 1, sizeof size);
        const auto number = static_cast<unsigned char>(sent[0]);
        if (number >= static_cast<unsigned char>(LogLevel::off) || size > sent.size() - kHead) return;  // gone mad
        const auto level = static_cast<LogLevel>(number);
        const std::string text(sent.substr(kHead, size));
        sent.remove_prefix(kHead + size);
        if (writer.is_news(level, text)) writer.write(level, text);
    }
}

void log_debug(LogChannel channel, std::string_view message) { write_if_enabled(channel, LogLevel::debug, message); }
void log_info(LogChannel channel, std::string_view message) { write_if_enabled(channel, LogLevel::info, message); }
void log_warning(LogChannel channel, std::string_view message) {
    write_if_enabled(channel, LogLevel::warning, message);
}
void log_error(LogChannel channel, std::string_view message) { write_if_enabled(channel, LogLevel::error, message); }

void log_artifact(LogArtifact artifact, std::string_view title, std::string_view text) {
    if (!log_enabled(artifact)) return;
    std::string message = '[' + std::string(name(artifact)) + "] " + std::string(title) + "\n" + std::string(text);
    while (message.ends_with('\n')) message.pop_back();
    Writer().write(LogLevel::info, message);
}

}  // namespace whittle
