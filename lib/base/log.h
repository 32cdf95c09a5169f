// The log: leveled messages of components and named artifacts, chosen by a SPEC as with torch's TORCH_LOGS:
//   --log '+capture,guards,graph_code,output_code'
// A component (capture, backend, …) by its name shows info and above, with '+' debug, with '-' errors only; the others
// show warnings. An artifact (guards, graph_code, …) is off unless named. `all` names every component.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

namespace whittle {

enum class LogLevel : std::uint8_t { debug, info, warning, error, off };

/// A component or an artifact, and what it shows.
struct LogChannel {
    std::string_view name;
    std::string_view doc;
    bool artifact;
};

/// All channels, components first: for --help and for the manual pages.
std::span<const LogChannel> log_channels();

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

/// True when a message of this level on this channel would be written: ask before building an expensive one.
/// An unknown channel is a bug.
bool log_enabled(std::string_view channel, LogLevel level);
/// For artifacts, which have one level.
bool log_enabled(std::string_view artifact);

/// For a copy of this process (fork): what it logs goes to the descriptor instead, for whoever made the copy …
void send_log_to(int descriptor);
/// … and writes it here. A warning or an error that was relayed before is not written again: of a thousand queries each
/// may have the same to say.
void relay_log(std::string_view sent);

void log_debug(std::string_view component, std::string_view message);
void log_info(std::string_view component, std::string_view message);
void log_warning(std::string_view component, std::string_view message);
void log_error(std::string_view component, std::string_view message);

/// An artifact, e.g. log_artifact("graph_code", "graph_1", print(graph)): a heading line, then the text as it is.
void log_artifact(std::string_view artifact, std::string_view title, std::string_view text);

}  // namespace whittle
