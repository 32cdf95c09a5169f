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
    if (wanted == "auto") return ::isatty(STDERR_FILENO) ? ProgressStyle::line : ProgressStyle::none;
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
                "Log channels to print, separated by commas. NAME prints errors, warnings and information; +NAME also "
                "prints debugging output; -NAME prints only errors. 'explain list logs' lists the channels. The "
                "channels in $WHITTLE_LOGS are logged, too. "
                "The log goes to stderr; if $WHITTLE_LOG_FILE is set, the log goes to this file.");
    tool.offers(log_names, Tool::Offered::list);
    tool.option("--debug-dir", debug_dir, "DIR",
                "Write graphs, guards, kernels and generated code to a new folder DIR/run_N. $WHITTLE_DEBUG_PARTS "
                "selects the kinds of files to write. Default: $WHITTLE_DEBUG_DIR, if set.");
    tool.choice("--progress", progress_mode, {"auto", "plain", "json"},
                "Show progress on stderr. auto: one line, only on a terminal. plain: a line every ten seconds. json: "
                "one JSON object per line.");
    tool.flag("-q,--quiet", quiet,
              "Print only errors and failures: no warnings, no progress, and no lines about successes.");
    tool.choice("--color", color, {"auto", "always", "never"},
                "Use colors: auto (on a terminal, unless $NO_COLOR is set), always or never. The environment variable "
                "FORCE_HYPERLINK controls links to files: 1 turns the links on, and 0 turns the links off.");
    tool.flag("-v,--verbose", verbose, "Print full lists and full stacks.");
    tool.flag("-h,--help", help, "Print this help.");
    tool.flag("--version", version, "Print the version, and the compiler and libraries of this build.");
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
