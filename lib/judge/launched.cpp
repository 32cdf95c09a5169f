
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <nlohmann/json.hpp>
#include <stop_token>
#include <thread>

#include "backends/registry.h"
#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "formats/json.h"
#include "formats/json_text.h"
#include "judge/outcome.h"
#include "judge/suspect.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

using nlohmann::json;

constexpr const char *kGraph = "graph.json", *kQuery = "query.json", *kAnswer = "answer", *kLog = "log";
/// What standard input says where it stays open for as long as somebody waits for the answer.
constexpr const char* kWaiting = "whittle waits\n";

void write_query(const fs::path& folder, const Graph& graph, std::span<const Tensor> inputs, const Suspect& suspect) {
    const Limits& limits = suspect.limits;
    Graph query = graph;
    Failure& failure = query.failure.emplace();
    describe(suspect, failure);
    failure.inputs.assign(inputs.begin(), inputs.end());
    save_graph(query, folder / kGraph);
    json settings = {{"timeout_ms", limits.timeout.count()}, {"memory", limits.memory}};
    if (limits.cpu) settings["cpu_s"] = limits.cpu->count();
    settings["logs"] = log_spec();
    write_file(folder / kQuery, settings.dump() + '\n');
}

/// What a query asks for besides the graph.
struct Settings {
    Limits limits;
    std::string logs;
};

Settings read_settings(const fs::path& file) {
    try {
        const json settings = json::parse(read_file(file));
        Settings read{.limits = {}, .logs = settings.at("logs").get<std::string>()};
        Limits& limits = read.limits;
        limits.timeout = std::chrono::milliseconds(settings.at("timeout_ms").get<std::int64_t>());
        limits.memory = settings.at("memory").get<std::size_t>();
        if (settings.contains("cpu_s")) limits.cpu = std::chrono::seconds(settings.at("cpu_s").get<std::int64_t>());
        return read;
    } catch (const json::exception& error) {
        throw Error({file.string(), {}}, std::string("cannot read the query: ") + error.what());
    }
}

/// Logs as whoever asks would, into a file of the query's folder, which comes back with the answer or without it.
void log_into(const fs::path& file, const std::string& spec) {
    configure_log({.variable = spec});
    const int descriptor = ::open(file.c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
    if (descriptor < 0) throw Error({file.string(), {}}, std::string("cannot write the log: ") + std::strerror(errno));
    send_log_to(descriptor);
}

/// Where standard input said that somebody waits and then ends, this process is told to stop: a launcher that was
/// stopped may have left it running (ssh does). An input that says nothing (/dev/null, srun -i none) means nothing.
void end_when_nobody_waits(const std::stop_token& stop, int stopped) {
    std::string said;
    while (!stop.stop_requested()) {
        pollfd waits[2] = {{STDIN_FILENO, POLLIN, 0}, {stopped, POLLIN, 0}};
        if (::poll(waits, 2, -1) < 0 && errno != EINTR) return;
        if (waits[0].revents == 0) continue;
        char bytes[64];
        const ssize_t count = ::read(STDIN_FILENO, bytes, sizeof bytes);
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) break;
        if (said.size() < sizeof bytes) said.append(bytes, static_cast<std::size_t>(count));
    }
    if (!stop.stop_requested() && said.starts_with(kWaiting)) ::kill(::getpid(), SIGTERM);
}

/// Watches for that while it lives.
class Watcher {
  public:
    Watcher() : thread_([this](const std::stop_token& stop) { end_when_nobody_waits(stop, stopped_); }) {}
    ~Watcher() {
        thread_.request_stop();
        ::eventfd_write(stopped_, 1);
        thread_.join();
        ::close(stopped_);
    }
    Watcher(const Watcher&) = delete;
    Watcher& operator=(const Watcher&) = delete;

  private:
    int stopped_ = ::eventfd(0, EFD_CLOEXEC);
    std::jthread thread_;
};

}  // namespace

Outcome run_launched(const Graph& graph, std::span<const Tensor> inputs, const Suspect& suspect) {
    const TempDir folder("whittle-query");
    write_query(folder.path(), graph, inputs, suspect);
    std::vector<std::string> argv = suspect.launcher.prefix;
    append(argv, suspect.launcher.answer);
    argv.push_back(folder.path().string());
    const ProcessResult process = run_process(argv, {.timeout = suspect.limits.timeout + kLaunchTime,
                                                     .remove_if_killed = folder.path(),
                                                     .input = kWaiting,
                                                     .hold_input = true});
    std::error_code ignored;
    if (fs::exists(folder.path() / kLog, ignored)) relay_log(read_file(folder.path() / kLog));
    if (fs::exists(folder.path() / kAnswer, ignored))
        if (std::optional<Outcome> outcome = decode(read_file(folder.path() / kAnswer))) return *outcome;
    std::string said = process.err.empty() ? process.out : process.err;
    while (said.ends_with('\n')) said.pop_back();
    return {.kind = Outcome::Kind::unresolved,
            .message =
                "--launcher: found no answer after '" + shell_quote(argv) + "' " + ending_of(process) +
                (said.empty() ? "" : ": " + as_line(said, 500)) +
                " ($TMPDIR and the programs of Whittle must have the same paths on the machine that runs the command)"};
}

void answer_query(const fs::path& folder) {
    const Graph graph = load_graph(folder / kGraph);
    if (!graph.failure)
        throw Error({(folder / kGraph).string(), {}},
                    "found only a graph, expected a query that minify wrote for --launcher");
    const auto [limits, logs] = read_settings(folder / kQuery);
    log_into(folder / kLog, logs);
    const std::unique_ptr<Backend> backend = find_backend(graph.failure->backend);
    const CleanUpScope scope;
    const Watcher watcher;
    write_file(folder / kAnswer,
               encode(run_suspect(graph, graph.failure->inputs, *backend, suspect_of(*graph.failure, limits))));
}

}  // namespace whittle
