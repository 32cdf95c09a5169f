#include "cli/shared_options.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

#include "base/error.h"
#include "base/log.h"
#include "base/variables.h"
#include "cli/hyperlinks.h"

namespace whittle::cli {

static bool wants_color(const std::string& mode, int fd) {
    if (mode != "auto") return mode == "always";
    const char *no_color = std::getenv("NO_COLOR"), *terminal = std::getenv("TERM");
    return ::isatty(fd) && !(no_color && *no_color) && terminal && std::string_view(terminal) != "dumb";
}

static std::vector<std::string> log_names(bool channels) {
    std::vector<std::string> names;
    if (channels) {
        names.emplace_back("all");
        for (const LogChannel channel : kAllLogChannels) names.emplace_back(name(channel));
    }
    for (const LogArtifact artifact : kAllLogArtifacts) names.emplace_back(name(artifact));
    return names;
}

void SharedOptions::declare(Tool& tool) {
    tool.section("Options of every program");
    tool.flag(
        "--json", shared.json,
        "Write machine output to stdout: one JSON document; of a mistake {\"error\": {\"message\", \"hint\", \"file\", "
        "\"position\"}}.");
    tool.option(
        "--log", log_spec, "SPEC",
        "Log to stderr: a comma-separated list of channels, as in '+capture,guards'. NAME shows information, +NAME "
        "debugging too, -NAME errors only. Added to $WHITTLE_LOGS; explain --list-logs lists them.");
    tool.offers([] { return log_names(true); }, Tool::Offered::list);
    tool.option("--log-file", log_file, "FILE", "Write the log to FILE instead of stderr.");
    tool.option("--debug-dir", debug_dir, "DIR",
                "Write graphs, guards, kernels and their code as files, into a new folder DIR/run_N with an index.md. "
                "Default: $WHITTLE_DEBUG_DIR; unset: nowhere.");
    tool.option("--debug-parts", debug_parts, "LIST",
                "Which of them: only these (guards,ir), or what is otherwise than by default (+assembly,-ir); explain "
                "--list-logs lists them. Default: $WHITTLE_DEBUG_PARTS.");
    tool.offers([] { return log_names(false); }, Tool::Offered::list);
    tool.flag("-q,--quiet", shared.quiet, "Neither warnings nor progress.");
    tool.choice("--color", color, {"auto", "always", "never"},
                "Colors: on a terminal (auto, which also honours $NO_COLOR), always or never.");
    tool.choice("--hyperlink", hyperlink, {"auto", "always", "never"},
                "Names of files as links: on a terminal that is known to take them (auto), always or never.");
    tool.flag("-v,--verbose", shared.verbose, "Say more: full lists and full stacks.");
    tool.flag("-h,--help", help, "Print this page.");
    tool.flag("--version", version, "Print the version and what was built in.");
}

void SharedOptions::configure() {
    shared.color_out = wants_color(color, STDOUT_FILENO);
    shared.color_err = wants_color(color, STDERR_FILENO);
    const auto link = [&](int fd) { return hyperlink == "auto" ? terminal_takes_links(fd) : hyperlink == "always"; };
    if (link(STDOUT_FILENO) && !shared.json) link_standard_output();
    if (link(STDERR_FILENO)) link_standard_error();
    shared.progress = !shared.quiet && ::isatty(STDERR_FILENO);
    const std::string folder = debug_dir.empty() ? variable("WHITTLE_DEBUG_DIR") : debug_dir.string();
    if (!debug_parts.empty() && folder.empty()) throw Error("--debug-parts requires --debug-dir");
    configure_log({.variable = variable("WHITTLE_LOGS"),
                   .spec = log_spec,
                   .file = log_file.string(),
                   .debug_dir = folder,
                   .debug_parts = debug_parts.empty() ? variable("WHITTLE_DEBUG_PARTS") : debug_parts,
                   .quiet = shared.quiet,
                   .color = shared.color_err});
    shared.log_elsewhere = !log_file.empty();
}

}  // namespace whittle::cli
