// What the log has: channels and artifacts by name.
#include "base/log.h"

namespace whittle {
namespace {

struct Row {
    std::string_view name, doc, extension = {};
};
#define WHITTLE_ROW(name, doc) Row{#name, doc},
constexpr Row kChannels[] = {WHITTLE_LOG_CHANNELS(WHITTLE_ROW)};
#undef WHITTLE_ROW
#define WHITTLE_ROW(name, extension, doc) Row{#name, doc, extension},
constexpr Row kArtifacts[] = {WHITTLE_LOG_ARTIFACTS(WHITTLE_ROW)};
#undef WHITTLE_ROW

/// "| `capture` | … |" of each row.
std::string table(const char* heading, std::span<const Row> rows) {
    std::string text = "| " + std::string(heading) + " | shows |\n|---|---|\n";
    for (const Row& row : rows) text += "| `" + std::string(row.name) + "` | " + std::string(row.doc) + " |\n";
    return text;
}

}  // namespace

std::string_view name(LogChannel channel) { return kChannels[static_cast<std::size_t>(channel)].name; }
std::string_view name(LogArtifact artifact) { return kArtifacts[static_cast<std::size_t>(artifact)].name; }
std::string_view extension(LogArtifact artifact) { return kArtifacts[static_cast<std::size_t>(artifact)].extension; }

std::string logs_page() {
    return "# Logs\n\n"
           "<!-- Generated: explain list logs > share/doc/reference/logs.md -->\n\n"
           "The option `--log SPEC` of every program, the environment variable `$WHITTLE_LOGS`, and\n"
           "`whittle::set_logs()` in your own program choose what is logged. Each of these takes a list,\n"
           "separated by commas, for example `--log capture,+backend,guards`. An entry of the list is a\n"
           "channel. A channel is a component or an artifact; `all` stands for every component.\n\n"
           "By default, every component logs warnings and errors, and no artifact is logged. An entry\n"
           "of the list changes this default:\n\n"
           "| entry | logged |\n"
           "|---|---|\n"
           "| `NAME` of a component | errors, warnings and information |\n"
           "| `+NAME` of a component | errors, warnings, information and debugging output |\n"
           "| `-NAME` of a component | only errors |\n"
           "| `NAME` of an artifact | the artifact |\n\n" +
           table("component", kChannels) + "\nThese are the artifacts:\n\n" + table("artifact", kArtifacts) +
           "\n## The debug folder\n\n"
           "`--debug-dir DIR` of every program writes artifacts to files. `$WHITTLE_DEBUG_DIR` does the\n"
           "same, also in a program that uses the Tensor API. The path of a file is, for example,\n"
           "`DIR/run_N/0007_TITLE.ARTIFACT.txt`. Artifacts with the same title and text share a file. The\n"
           "files are numbered in the order in which they were written, and `index.md` lists the files with\n"
           "the times of writing.\n\n"
           "Each run writes to a new folder. In a program that uses the Tensor API, each compilation writes\n"
           "to a subfolder, such as `DIR/run_N/f_0.0-1/`. The log reports the name of the subfolder.\n\n"
           "By default, all artifacts except `lowered`, `assembly`, `picture` and `step` are written.\n"
           "`$WHITTLE_DEBUG_PARTS` selects other artifacts. For example, `guards,ir` writes only these two,\n"
           "and `+assembly,-ir` adds `assembly` to the default artifacts and removes `ir`.\n\n"
           "## Which step failed\n\n"
           "`--log capture,backend,lowering` logs the begin and the end of each step:\n\n"
           "    info: [backend] Step 2: compile by backend NAME: graph main (3 ops): begin\n"
           "    info: [backend] Step 2: compile by backend NAME: graph main (3 ops): done in 0.012 s\n\n"
           "Step 1 is capture, and step 2 is the compilation by the backend. Step 3, a part of step 2, is\n"
           "the lowering to kernels. After a crash, the failing step is the last step that has a `begin` but no\n"
           "end (`done`, `failed` or `ended`). The log of a child process is written when the child\n"
           "process has ended, also after a crash.\n";
}

}  // namespace whittle
