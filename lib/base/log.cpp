#include "base/log.h"

#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <pthread.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "base/error.h"
#include "base/suggest.h"

namespace whittle {
namespace {

constexpr LogChannel kChannels[] = {
    {"capture", "frames, statements and graph breaks while a program is captured", false},
    {"frontend", "reading models: ONNX, graph files", false},
    {"passes", "graph passes, one line each with what it changed", false},
    {"backend", "compiling and running graphs", false},
    {"lowering", "groups, stages and schedules on their way to Halide", false},
    {"run", "queries in child processes, their limits and outcomes", false},
    {"reduce", "the search of minify: every query and verdict", false},
    {"repro", "writing, building and running repro.cpp", false},
    {"replay", "records and their comparison", false},
    {"cli", "options, files found, what is done next", false},
    {"graph", "every captured graph as a table of its nodes", true},
    {"graph_code", "every captured graph in its textual form", true},
    {"graph_sizes", "sizes of every tensor of every graph", true},
    {"aot_graphs", "graphs after decomposition and partitioning", true},
    {"graph_breaks", "every graph break with its reason and user stack", true},
    {"guards", "the conditions under which a graph may be reused", true},
    {"recompiles", "which guard failed and what asked for it", true},
    {"trace_source", "the source line of every captured statement", true},
    {"trace_call", "every captured op beside its source text", true},
    {"ir", "tensor-expression groups before and after fusion", true},
    {"schedule", "schedule directives of every group", true},
    {"output_code", "the code generated for every group", true},
};
constexpr std::size_t kCount = std::size(kChannels);

std::size_t index_of(std::string_view name) {
    for (std::size_t i = 0; i < kCount; ++i)
        if (kChannels[i].name == name) return i;
    return kCount;
}

struct State {
    std::mutex mutex;  // guards sink
    std::shared_ptr<spdlog::sinks::sink> sink;
    int descriptor = -1;            ///< written to instead of the sink
    std::set<std::string> relayed;  ///< warnings and errors
    std::array<std::atomic<LogLevel>, kCount> levels;

    State() {
        for (std::size_t i = 0; i < kCount; ++i) levels[i] = kChannels[i].artifact ? LogLevel::off : LogLevel::warning;
    }
};

State& state() {
    static State* instance = new State;  // leaked: threads may log while the process ends
    return *instance;
}

using Levels = std::array<LogLevel, kCount>;

/// "+capture,guards" -> the level of every channel. Throws Error that names `place`, where the words are from.
void set_levels(Levels& levels, const std::string& spec, const Location& place) {
    for (std::size_t begin = 0; begin < spec.size();) {
        const std::size_t end = std::min(spec.find(',', begin), spec.size());
        std::string word = spec.substr(begin, end - begin);
        begin = end + 1;
        std::erase(word, ' ');
        if (word.empty()) continue;
        LogLevel level = LogLevel::info;
        if (word[0] == '+') level = LogLevel::debug;
        if (word[0] == '-') level = LogLevel::error;
        if (level != LogLevel::info) word.erase(0, 1);
        if (word == "all") {
            for (std::size_t i = 0; i < kCount; ++i)
                if (!kChannels[i].artifact) levels[i] = level;
            continue;
        }
        const std::size_t channel = index_of(word);
        if (channel == kCount) {
            std::vector<std::string> names{"all"};
            for (const LogChannel& known : kChannels) names.emplace_back(known.name);
            throw Error(place, "found '" + word + "', expected one of " + join(names), did_you_mean(word, names));
        }
        // '-guards' switches an artifact off, as in torch.
        levels[channel] = kChannels[channel].artifact && level == LogLevel::error ? LogLevel::off : level;
    }
}

Levels levels_of(const LogOptions& options) {
    Levels levels;
    for (std::size_t i = 0; i < kCount; ++i)
        levels[i] = kChannels[i].artifact ? LogLevel::off : options.quiet ? LogLevel::error : LogLevel::warning;
    set_levels(levels, options.variable, {"environment", "WHITTLE_LOGS"});
    set_levels(levels, options.spec, {"--log", {}});
    return levels;
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

/// Flushed at once: the last line before a crash is the one that matters.
void write(LogLevel level, const std::string& text) {
    State& log = state();
    keep_usable_in_copies();
    const std::lock_guard lock(log.mutex);
    if (log.descriptor >= 0) return send(log.descriptor, level, text);
    if (!log.sink) log.sink = make_sink({});
    log.sink->log(spdlog::details::log_msg("whittle", spdlog_level(level), text));
    log.sink->flush();
}

void write_if_enabled(std::string_view component, LogLevel level, std::string_view message) {
    if (log_enabled(component, level)) write(level, '[' + std::string(component) + "] " + std::string(message));
}

}  // namespace

std::span<const LogChannel> log_channels() { return kChannels; }

void configure_log(const LogOptions& options) {
    const Levels levels = levels_of(options);
    std::shared_ptr<spdlog::sinks::sink> sink = make_sink(options);
    State& log = state();
    const std::lock_guard lock(log.mutex);
    log.sink = std::move(sink);
    for (std::size_t i = 0; i < kCount; ++i) log.levels[i] = levels[i];
}

bool log_enabled(std::string_view channel, LogLevel level) {
    const std::size_t index = index_of(channel);
    WHITTLE_CHECK(index < kCount, "unknown log channel " + std::string(channel));
    return level >= state().levels[index].load(std::memory_order_relaxed);
}

bool log_enabled(std::string_view artifact) { return log_enabled(artifact, LogLevel::info); }

void send_log_to(int descriptor) { state().descriptor = descriptor; }

void relay_log(std::string_view sent) {
    constexpr std::size_t kHead = 1 + sizeof(std::uint32_t);
    while (sent.size() >= kHead) {
        std::uint32_t size = 0;
        std::memcpy(&size, sent.data() + 1, sizeof size);
        const auto number = static_cast<unsigned char>(sent[0]);
        if (number >= static_cast<unsigned char>(LogLevel::off) || size > sent.size() - kHead) return;  // gone mad
        const auto level = static_cast<LogLevel>(number);
        const std::string text(sent.substr(kHead, size));
        sent.remove_prefix(kHead + size);
        if (level >= LogLevel::warning) {
            const std::lock_guard lock(state().mutex);
            if (!state().relayed.insert(text).second) continue;
        }
        write(level, text);
    }
}

void log_debug(std::string_view component, std::string_view message) {
    write_if_enabled(component, LogLevel::debug, message);
}
void log_info(std::string_view component, std::string_view message) {
    write_if_enabled(component, LogLevel::info, message);
}
void log_warning(std::string_view component, std::string_view message) {
    write_if_enabled(component, LogLevel::warning, message);
}
void log_error(std::string_view component, std::string_view message) {
    write_if_enabled(component, LogLevel::error, message);
}

void log_artifact(std::string_view artifact, std::string_view title, std::string_view text) {
    if (!log_enabled(artifact)) return;
    std::string message = '[' + std::string(artifact) + "] " + std::string(title) + "\n" + std::string(text);
    while (message.ends_with('\n')) message.pop_back();
    write(LogLevel::info, message);
}

}  // namespace whittle
