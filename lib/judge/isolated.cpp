// run_isolated(): the backend works in a forked child, whose outcome comes back through a file in memory, or in a
// process of its own (Apart).
#include <sys/mman.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "base/memory_file.h"
#include "base/subprocess.h"
#include "formats/json_text.h"
#include "graph/abilities.h"
#include "graph/text.h"
#include "judge/outcome.h"
#include "ops/aten/random.h"

namespace whittle {
namespace {

// ---- the child -----------------------------------------------------------------------------------------------------

/// Tells the parent how far the child came, even when it crashes.
struct Shared {
    volatile bool running, backward;
};

/// Compiles and runs, and writes the outcome into `answer`.
int work(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const BackendOptions& options,
         const std::shared_ptr<const program::Differentiated>& differentiated, Shared& shared,
         const MemoryFile& answer) {
    std::signal(SIGXFSZ, SIG_IGN);  // write() says so instead
    const rlimit size{rlim_t(1) << 32, rlim_t(1) << 32};
    ::setrlimit(RLIMIT_FSIZE, &size);
    const auto at = [&](RunPhase phase) {
        shared.running = phase.running;
        shared.backward = phase.backward;
    };
    seed_random_ops(0);  // as the reference's runs do
    std::string message;
    try {
        message = encode(run_in_process(graph, inputs, backend, options, at, differentiated));
    } catch (const std::bad_alloc&) {
        message = encode({.kind = Outcome::Kind::out_of_memory,
                          .stage = shared.running ? "run" : "compile",
                          .part = shared.backward ? "backward" : "",
                          .message = "out of memory"});
    }
    return answer.write(message) ? 0 : 1;
}

// ---- the parent ----------------------------------------------------------------------------------------------------

/// Memory shared with the child.
class SharedMemory {
  public:
    SharedMemory() {
        memory_ = ::mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
        if (memory_ == MAP_FAILED) throw_errno("map shared memory");
    }
    ~SharedMemory() { ::munmap(memory_, sizeof(Shared)); }
    SharedMemory(const SharedMemory&) = delete;
    SharedMemory& operator=(const SharedMemory&) = delete;
    Shared& operator*() const { return *static_cast<Shared*>(memory_); }

  private:
    void* memory_;
};

std::string last_words(const ProcessResult& process) {
    std::string_view text = process.err.empty() ? process.out : process.err;
    while (text.ends_with('\n')) text.remove_suffix(1);
    return std::string(text.substr(text.size() - std::min<std::size_t>(text.size(), 2048)));
}

}  // namespace

Outcome outcome_of(const ProcessResult& process, const Limits& limits) {
    Outcome outcome;
    if (process.timed_out) {
        outcome.kind = Outcome::Kind::timeout;
        outcome.message = "no result after " + std::to_string(limits.timeout.count()) + " ms";
        return outcome;
    }
    if (process.cpu_exceeded) {
        outcome.kind = Outcome::Kind::timeout;
        outcome.message = "no result after " + std::to_string(limits.cpu->count()) + " s of processor time";
        return outcome;
    }
    outcome.kind = Outcome::Kind::crash;
    if (process.signal != 0) {
        outcome.detail = signal_name(process.signal);
        outcome.message = "killed by " + outcome.detail;
    } else {
        outcome.detail = "exit";
        outcome.message =
            "the process exited with " + std::to_string(process.exit_code) + " before it wrote its results";
    }
    const std::string said = last_words(process);
    if (process.out_of_memory) {
        outcome.kind = Outcome::Kind::out_of_memory;
    } else if (process.ended_from_outside) {
        outcome.kind = Outcome::Kind::unresolved;
        outcome.message = std::string("the process ") + EndedFromOutside(process).what();
    } else {
        hint_at_memory(said);
    }
    if (!said.empty()) outcome.message += ": " + said;
    return outcome;
}

namespace {

Outcome outcome_of(const ProcessResult& process, const MemoryFile& answer, const Limits& limits) {
    if (process.good() && !process.timed_out && !process.cpu_exceeded) {
        std::optional<Outcome> told;
        answer.read([&](std::string_view bytes) { told = decode(bytes); });
        if (told) return *told;
    }
    return outcome_of(process, limits);
}

void log_ending(const Graph& graph, const Backend& backend, const Outcome& outcome) {
    if (!log_enabled(LogChannel::run, LogLevel::info)) return;
    std::string text = summary(graph) + " on " + backend.name() + ": " + std::string(name(outcome.kind));
    if (outcome.failed()) text += (outcome.stage.empty() ? "" : " at " + outcome.stage) + ": " + outcome.message;
    if (!outcome.no_gradients.empty()) text += ", without gradients: " + outcome.no_gradients;
    log_info(LogChannel::run, text);
}

/// The backend's own process is what is isolated; passes and files are made here.
Outcome run_apart(const Graph& graph, std::span<const Tensor> inputs, Apart& apart, const BackendOptions& options,
                  const Limits& limits) {
    const auto query = apart.query(options, limits.process());
    seed_random_ops(0);  // as the reference's runs do
    const Outcome outcome = run_in_process(graph, inputs, *query, options);
    throw_if_interrupted();  // which is no outcome
    if (!query->ended()) return outcome;
    Outcome ended = outcome_of(query->ended()->process, limits);
    if (ended.is_failure()) ended.stage = query->ended()->stage, ended.part = outcome.part;
    return ended;
}

Outcome run_forked_copy(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                        const BackendOptions& options, const Limits& limits) {
    // Here and nowhere else: every query asks from the same state, whoever asks it.
    if (WarmUp* cold = offered<WarmUp>(backend)) cold->warm_up();
    const TempDir scratch("whittle-run");  // the child's TMPDIR: what it leaves when it is killed goes with it
    const auto differentiated = differentiated_for(graph, backend, options);  // for the child and for who judges
    const SharedMemory shared;
    const MemoryFile answer;
    ProcessOptions process = limits.process();
    process.environment = {{"TMPDIR", scratch.path().string()}};
    process.shared_memory = resident_memory();
    process.output_limit = std::size_t(1) << 16;
    process.remove_if_killed = scratch.path();
    const ProcessResult result =
        run_forked([&] { return work(graph, inputs, backend, options, differentiated, *shared, answer); }, process);
    // What a backend writes, it writes into its own process; modes and explain(B) have nothing else to say.
    if (const std::size_t end = result.err.find_last_not_of('\n'); end != std::string::npos)
        log_info(LogChannel::run, backend.name() + " wrote:\n" + result.err.substr(0, end + 1));
    Outcome outcome = outcome_of(result, answer, limits);
    outcome.differentiated = differentiated;
    if (outcome.stage.empty() && outcome.is_failure()) {
        outcome.stage = (*shared).running ? "run" : "compile";
        outcome.part = (*shared).backward ? "backward" : "";
    }
    return outcome;
}

}  // namespace

Outcome run_isolated(const Graph& graph, std::span<const Tensor> inputs, Backend& backend,
                     const BackendOptions& options, const Limits& limits) {
    Apart* apart = apart_for(backend, options);
    Outcome outcome = apart ? run_apart(graph, inputs, *apart, options, limits)
                            : run_forked_copy(graph, inputs, backend, options, limits);
    if (outcome.kind == Outcome::Kind::exception) hint_at_memory(outcome.message);
    outcome.message = as_line(outcome.message, 2000);
    log_ending(graph, backend, outcome);
    return outcome;
}

std::vector<std::string> unsupported_isolated(const Graph& graph, const Backend& backend) {
    const Support* support = offered<Support>(backend);
    if (!support) return {};
    const ForkedAnswer asked = ask_forked(
        [&] {
            nlohmann::json answer;
            try {
                answer["targets"] = support->unsupported(graph);
            } catch (const std::exception& error) {
                answer = {{"error", as_utf8(error.what())}};
            }
            return answer.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
        },
        {.timeout = Limits{}.timeout});
    const nlohmann::json answer = nlohmann::json::parse(asked.answer, nullptr, false);
    const auto failed = [&](const std::string& how) {
        return Error({"backend " + backend.name(), {}},
                     how + " while the backend listed the ops that the backend does not support");
    };
    if (!asked.process.good() || !answer.is_object()) {
        const std::string said = last_words(asked.process);
        throw failed(ending_of(asked.process) + (said.empty() ? "" : " (" + as_line(said, 500) + ")"));
    }
    if (answer.contains("error")) throw failed("threw '" + answer["error"].get<std::string>() + "'");
    return answer["targets"];
}

}  // namespace whittle
