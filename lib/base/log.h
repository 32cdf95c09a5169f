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
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/exchanged.h"

namespace whittle {

enum class LogLevel : std::uint8_t { debug, info, warning, error, off };

/// One row per component: its name, and what it tells. Whoever adds one writes it, and shows that in test/cli/log_test.
#define WHITTLE_LOG_CHANNELS(X)                                                                            \
    X(capture, "step 1: captured frames, graphs and graph breaks. With +: also every operation")           \
    X(frontend, "the models that Whittle reads, and the sizes that Whittle assumes")                       \
    X(passes, "graph passes: for each pass, one line with its changes")                                    \
    X(backend, "step 2: graphs that a backend compiles, and the backend's messages")                       \
    X(lowering, "step 3: planning and compiling the kernels of a graph. With +: also each kernel")         \
    X(run, "child processes, and how each process ended. With +: also the run time of each Halide kernel") \
    X(reduce, "the result of each reduction of minify. With +: also every candidate and its verdict")      \
    X(repro, "how repro builds and runs the program and its control")                                      \
    X(replay, "each record, and the result of its replay")                                                 \
    X(cli, "the command line, and the kind of MODEL")

/// The same of artifacts: texts that are logged whole, or written as files (base/debug_folder.h) with this extension.
#define WHITTLE_LOG_ARTIFACTS(X)                                                                                       \
    X(graph_code, ".txt", "every captured graph as text")                                                              \
    X(graph_sizes, ".txt", "the sizes of every tensor of every captured graph")                                        \
    X(graph_cpp, ".cpp",                                                                                               \
      "every captured graph, and every graph during compilation, as C++ code for Whittle's Tensor API, with the type " \
      "of every value")                                                                                                \
    X(picture, ".dot", "every captured graph, and every graph during compilation, as a picture for Graphviz's dot")    \
    X(aot_graphs, ".txt",                                                                                              \
      "every graph during compilation, after each pass that changed the graph. The compile stages are "                \
      "functional, decomposed, folded and core; with gradients, also joint, forward and backward")                     \
    X(graph_breaks, ".txt", "every graph break with its reason and the user's stack")                                  \
    X(guards, ".txt", "the conditions under which a captured graph is reused")                                         \
    X(recompiles, ".txt", "for each recompile: the guard that failed, and the value found in the call")                \
    X(ir_unfused, ".txt", "the kernels before fusion, one for each operation, in the form of `ir`")                    \
    X(ir, ".txt",                                                                                                      \
      "every kernel: the operations, the values read from other kernels, the values written, and the tensor "          \
      "expressions")                                                                                                   \
    X(schedule, ".txt", "the scheduling directives of every kernel, without the directives that are switched off")     \
    X(output_code, ".cpp", "every kernel as the C++ program for Halide, ready to compile")                             \
    X(loop_nest, ".txt", "the loops of every kernel, as Halide prints them")                                           \
    X(lowered, ".stmt",                                                                                                \
      "the statements to which Halide lowers every kernel. For this log, Halide lowers each kernel a second time")     \
    X(assembly, ".s", "the assembly code of every kernel. For this log, Halide compiles each kernel a second time")    \
    X(full_code, ".cpp",                                                                                               \
      "for a program that uses the API: C++ code that shows what runs in place of each compiled function. The code "   \
      "has the guards, a function for each graph, and a function for each place where the program resumes. Its "       \
      "main() repeats the calls that are recorded in the folder `trace/` beside the file")                             \
    X(times, ".md", "the time of each step, pass and kernel in the compilation of a captured graph")                   \
    X(step, ".cpp",                                                                                                    \
      "for a program that uses the API: code that a debugger can step through. Each interpreted graph becomes C++ "    \
      "code, and each kernel becomes the C code that Halide writes. Whittle builds this code without optimization, "   \
      "and runs the code in place of the graph or kernel")

#define WHITTLE_ROW(name, ...) name,
enum class LogChannel : std::uint8_t { WHITTLE_LOG_CHANNELS(WHITTLE_ROW) };
enum class LogArtifact : std::uint8_t { WHITTLE_LOG_ARTIFACTS(WHITTLE_ROW) };
#undef WHITTLE_ROW

#define WHITTLE_ROW(name, ...) LogChannel::name,
inline constexpr LogChannel kAllLogChannels[] = {WHITTLE_LOG_CHANNELS(WHITTLE_ROW)};
#undef WHITTLE_ROW
#define WHITTLE_ROW(name, ...) LogArtifact::name,
inline constexpr LogArtifact kAllLogArtifacts[] = {WHITTLE_LOG_ARTIFACTS(WHITTLE_ROW)};
#undef WHITTLE_ROW

std::string_view name(LogChannel channel);
std::string_view name(LogArtifact artifact);
std::string_view extension(LogArtifact artifact);
/// Whether a debug folder has it without being asked: not what compiles something again, nor what changes how it runs.
constexpr bool is_written_by_default(LogArtifact artifact) {
    return artifact != LogArtifact::lowered && artifact != LogArtifact::assembly && artifact != LogArtifact::picture &&
           artifact != LogArtifact::step;
}

/// All of them with what they show, as share/doc/reference/logs.md has it.
std::string logs_page();

struct LogOptions {
    std::string variable = {};     ///< what $WHITTLE_LOGS says: components and artifacts, see above
    std::string spec = {};         ///< the same of --log; comes after it
    std::string file = {};         ///< written instead of stderr; truncated
    std::string debug_dir = {};    ///< artifacts are files below it, see base/debug_folder.h; empty: no files
    std::string debug_parts = {};  ///< which are
    bool quiet = false;            ///< components that `spec` does not name show errors only
    bool color = false;            ///< colored levels on stderr
};

/// Replaces the configuration; until the first call warnings go to stderr. Throws Error for an unknown name (with a
/// close spelling and the list) and for a file that cannot be written; the old configuration then stays.
void configure_log(const LogOptions& options);

/// What $WHITTLE_LOGS has to say in another process that logs the same.
std::string log_spec();

/// What $WHITTLE_DEBUG_DIR, absolute, and $WHITTLE_DEBUG_PARTS have to say in another process that writes the same.
struct DebugVariables {
    std::string dir, parts;
};
DebugVariables debug_variables();

/// True when a message of this level on this channel would be written, for people or into the structured log, which has
/// information and above: ask before building an expensive one.
bool log_enabled(LogChannel channel, LogLevel level);
/// True when it would be logged or written as a file. Artifacts have one level. The structured log has those that are,
/// and guards, graph breaks and recompiles.
bool log_enabled(LogArtifact artifact);

void log_debug(LogChannel channel, std::string_view message);
void log_info(LogChannel channel, std::string_view message);
void log_warning(LogChannel channel, std::string_view message);
void log_error(LogChannel channel, std::string_view message);

/// As log_info(), to people alone: the structured log (base/event_log.h) has it in its own form.
void show_info(LogChannel channel, std::string_view message);

/// E.g. log_artifact(LogArtifact::graph_code, "graph_1", print(graph)): in the log a heading line, then the
/// text as it is.
void log_artifact(LogArtifact artifact, std::string_view title, std::string_view text);

/// True when the artifact is written into a debug folder.
bool is_debug_file(LogArtifact artifact);

/// The artifact's file in the debug folder, written now or before; empty where none is written.
std::string debug_file(LogArtifact artifact, std::string_view title, std::string_view text);

/// A folder of that name beside the artifact's files, made now or before; empty where none are written.
std::string debug_subfolder(LogArtifact artifact, const std::string& name);

struct DebugScope;

/// While it lives, artifacts of the whole process are files in DIR and in no other debug folder, those of `parts` (see
/// LogOptions); of several the one made last counts, and they may end in any order. Throws Error as configure_log()
/// does.
class DebugFiles {
  public:
    DebugFiles(const std::string& dir, const std::string& parts);
    ~DebugFiles();
    DebugFiles(const DebugFiles&) = delete;
    DebugFiles& operator=(const DebugFiles&) = delete;

  private:
    std::unique_ptr<DebugScope> scope_;
};

/// While it lives, what this thread makes is in a folder of its own in that of the run, e.g. all of one compilation.
/// People are told the folder when it ends, where there is one.
struct DebugSection : Exchanged<std::string> {
    explicit DebugSection(std::string title);
    ~DebugSection();
};

/// While it lives, this thread makes no artifacts, and backends do not warn: for what is compiled unasked.
struct ArtifactPause : Exchanged<bool> {
    ArtifactPause();
};

/// For a copy of this process (run_forked): what it logs goes to the descriptor instead, for whoever made the copy …
void send_log_to(int descriptor);
/// … and writes it here, all of one copy together. A warning or an error that was relayed before is not written again:
/// of a thousand queries each may have the same to say.
void relay_log(std::string_view sent);

/// Whether this thread is within the log, which holds its lock: who watches the C library's output functions neither
/// looks at what is written then, nor logs.
bool writing_log();

/// The file that the log is written to, absolute; empty where it is none. Other processes append to it: what
/// $WHITTLE_LOG_FILE names is never cut.
std::string log_file();

}  // namespace whittle
