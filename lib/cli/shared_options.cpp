#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/log.h"
#include "base/variables.h"
#include "cli/terminal.h"
#include "cli/tool.h"

namespace whittle::cli {

static bool wants_color(const std::string& mode, int fd) {
    if (mode != "auto") return mode == "always";
    const char *no_color = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
    return ::isatty(fd) && !(no_color && *no_color) && terminal && std::string_view(terminal) != "dumb";
}

static ProgressStyle progress_style(const std::string& wanted) {
    if (wanted == "auto") return ::isatty(STDERR_FILENO) ? ProgressStyle::line : ProgressStyle::sparse;
    return wanted == "json" ? ProgressStyle::json : ProgressStyle::plain;
}

static std::vector<std::string> log_names() {
    std::vector<std::string> names = {"all"};
    for (const LogChannel channel : kAllLogChannels) names.emplace_back(name(channel));
    for (const LogArtifact artifact : kAllLogArtifacts) names.emplace_back(name(artifact));
    return names;
}

void Shared::declare(Tool& tool) {
    tool.section("Options of every program");
    tool.flag("--json", json, "Print the result, or the error, as one JSON document on stdout.");
    tool.option("--log", log_spec, "SPEC",
                "Channels to log, separated by commas. NAME: log errors, warnings and information of the channel NAME. "
                "+NAME: also log debugging output. -NAME: log only errors. 'explain list logs' lists the channels. The "
                "channels in $WHITTLE_LOGS are logged, too. The log goes to stderr, or to the file $WHITTLE_LOG_FILE "
                "if this variable is set.");
    tool.offers(log_names, Tool::Offered::list);
    tool.option(
        "--debug-dir", debug_dir, "DIR",
        "Write graphs, guards, kernels and generated code to a new folder DIR/run_N. $WHITTLE_DEBUG_PARTS selects the "
        "kinds of files. Default: $WHITTLE_DEBUG_DIR; if this variable is not set, nothing is written.");
    tool.choice("--progress", progress_mode, {"auto", "plain", "json"},
                "How to show progress on stderr. auto (default): update one line if stderr is a terminal; otherwise "
                "print a line every minute. plain: print a line every ten seconds. json: print JSON objects, one per "
                "line.");
    tool.flag("-q,--quiet", quiet,
              "Print only errors and failures: no warnings, no progress, and no lines about successes.");
    tool.choice("--color", color, {"auto", "always", "never"},
                "When to print colors. auto (default): on a terminal, unless $NO_COLOR is set. always: also in files "
                "and pipes. never: nowhere. $FORCE_HYPERLINK=1 turns on clickable links to files, and "
                "$FORCE_HYPERLINK=0 turns off these links.");
    tool.flag("-v,--verbose", verbose, "Print lists and call stacks in full.");
    tool.flag("-h,--help", help, "Print this help.");
    tool.flag("--version", version, "Print the version, and the compiler and libraries with which Whittle was built.");
}

void Shared::configure() {
    color_out = wants_color(color, STDOUT_FILENO);
    color_err = wants_color(color, STDERR_FILENO);
    if (terminal_takes_links(STDOUT_FILENO) && !json) link_standard_output();
    if (terminal_takes_links(STDERR_FILENO)) link_standard_error();
    if (!quiet) progress = progress_style(progress_mode);
    const std::string log_file = variable("WHITTLE_LOG_FILE");
    configure_log({.variable = variable("WHITTLE_LOGS"),
                   .spec = log_spec,
                   .file = log_file,
                   .debug_dir = debug_dir.empty() ? variable("WHITTLE_DEBUG_DIR") : debug_dir.string(),
                   .debug_parts = variable("WHITTLE_DEBUG_PARTS"),
                   .quiet = quiet,
                   .color = color_err});
    log_elsewhere = !log_file.empty();
}

}  // namespace whittle::cli
