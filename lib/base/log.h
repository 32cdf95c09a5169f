// The log: leveled messages of components and named artifacts, chosen by a SPEC as with torch's TORCH_LOGS:
//   --log '+capture,guards,graph_code,output_code'
// A component (capture, backend, …) by its name shows info and above, with '+' debug, with '-' errors only; the others
// show warnings. An artifact (guards, graph_code, …) is off unless named. `all` names every component.
//
// What is said at which level:
//   error    what was asked for is lost, and nobody is thrown at to tell of it
//   warning  the answer is there, but is not what one would expect: a fallback, a limit, a graph break
//   info     steps (base/log_step.h), and one line for each frame, graph, query …
//   debug    details: every op, kernel and candidate
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whittle {

enum class LogLevel : std::uint8_t { debug, info, warning, error, off };

/// One row per component: its name, and what it tells. Whoever adds one writes it, and shows that in test/cli/log_test.
#define WHITTLE_LOG_CHANNELS(X)                                                                        \
    X(capture, "step 1: frames, graphs and graph breaks as they are captured; with + every operation") \
    X(frontend, "models that are read, and what was assumed of them")                                  \
    X(passes, "graph passes, one line each with what it changed")                                      \
    X(backend, "step 2: graphs that a backend compiles, and what it says about them")                  \
    X(lowering, "step 3: a graph's kernels, planned and compiled by Halide; with + each of them")      \
    X(run, "runs in child processes, and how they ended")                                              \
    X(reduce, "what each reduction of minify achieved; with + every query and its answer")             \
    X(repro, "the program that repro writes: built, run, and run with its control")                    \
    X(replay, "records, and what became of them")                                                      \
    X(cli, "the command, and what its MODEL was taken for")

/// The same of artifacts: texts that are logged whole.
#define WHITTLE_LOG_ARTIFACTS(X)                                                      \
    X(graph_code, "every captured graph in its textual form")                         \
    X(graph_sizes, "the sizes of every tensor of every captured graph")               \
    X(aot_graphs, "every graph that halide compiles, made functional and decomposed") \
    X(graph_breaks, "every graph break with its reason and the user's stack")         \
    X(guards, "the conditions under which a captured graph may be used again")        \
    X(recompiles, "the guard that failed and what it found instead")                  \
    X(ir, "every kernel as tensor expressions")                                       \
    X(schedule, "the schedule directives of every kernel")                            \
    X(output_code, "every kernel as the C++ program that Halide is given")

#define WHITTLE_ROW(name, doc) name,
enum class LogChannel : std::uint8_t { WHITTLE_LOG_CHANNELS(WHITTLE_ROW) };
enum class LogArtifact : std::uint8_t { WHITTLE_LOG_ARTIFACTS(WHITTLE_ROW) };
#undef WHITTLE_ROW

#define WHITTLE_ROW(name, doc) LogChannel::name,
inline constexpr LogChannel kAllLogChannels[] = {WHITTLE_LOG_CHANNELS(WHITTLE_ROW)};
#undef WHITTLE_ROW
#define WHITTLE_ROW(name, doc) LogArtifact::name,
inline constexpr LogArtifact kAllLogArtifacts[] = {WHITTLE_LOG_ARTIFACTS(WHITTLE_ROW)};
#undef WHITTLE_ROW

std::string_view name(LogChannel channel);
std::string_view name(LogArtifact artifact);

/// All of them with what they show, as share/doc/logs.md has it.
std::string logs_page();

struct LogOptions {
    std::string variable = {};  ///< what $WHITTLE_LOGS says: components and artifacts, see above
    std::string spec = {};      ///< the same of --log; comes after it
    std::string file = {};      ///< written instead of stderr; truncated
    bool quiet = false;         ///< components that `spec` does not name show errors only
    bool color = false;         ///< colored levels on stderr
};

/// Replaces the configuration; until the first call warnings go to stderr. Throws Error for an unknown name (with a
/// close spelling and the list) and for a file that cannot be written; the old configuration then stays.
void configure_log(const LogOptions& options);

/// What $WHITTLE_LOGS has to say in another process that logs the same.
std::string log_spec();

/// True when a message of this level on this channel would be written: ask before building an expensive one.
bool log_enabled(LogChannel channel, LogLevel level);
/// Artifacts have one level.
bool log_enabled(LogArtifact artifact);

void log_debug(LogChannel channel, std::string_view message);
void log_info(LogChannel channel, std::string_view message);
void log_warning(LogChannel channel, std::string_view message);
void log_error(LogChannel channel, std::string_view message);

/// E.g. log_artifact(LogArtifact::graph_code, "graph_1", print(graph)): a heading line, then the text as it is.
void log_artifact(LogArtifact artifact, std::string_view title, std::string_view text);

/// For a copy of this process (run_forked): what it logs goes to the descriptor instead, for whoever made the copy …
void send_log_to(int descriptor);
/// … and writes it here, all of one copy together. A warning or an error that was relayed before is not written again:
/// of a thousand queries each may have the same to say.
void relay_log(std::string_view sent);

}  // namespace whittle
