#include "repro/issue.h"

#include <algorithm>
#include <set>
#include <sstream>

#include "base/subprocess.h"
#include "base/words.h"
#include "graph/graph.h"
#include "graph/value_ref.h"

namespace whittle::repro {
namespace {

constexpr std::size_t kMostLinesInText = 60;

std::string indented(const std::string& text) {
    std::string result;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) result += "    " + line + "\n";
    return result;
}

/// "aten.mm.default, aten.relu.default".
std::string ops(const Graph& graph) {
    std::string text;
    std::set<std::string> seen;
    for (const NodeId id : graph.calls()) {
        const Node& node = graph.node({id});
        if (!is_getitem(node) && seen.insert(node.target).second) text += (text.empty() ? "" : ", ") + node.target;
    }
    return text;
}

std::string environment_line(const Options& options, const char* key, const std::string& what) {
    const auto found = options.environment.find(key);
    return found == options.environment.end() ? "" : "- " + what + found->second + "\n";
}

/// How it is built and run, and what that says.
std::string steps(const Report& report, const Options& options) {
    const std::string program = shell_quote({"./" + options.output.stem().string()});
    std::string text = "    " + report.compile_command + " && " + program + "\n\n";
    if (!report.verified) return text + "It was not verified.\n";
    if (!report.message.empty()) text += "prints\n\n" + indented(report.message) + "\nand ";
    text += "exits with status 1 (0: the bug is gone).";
    if (!report.control.empty()) text += " `" + program + " control` passes: " + report.control + ".";
    return text + "\n";
}

std::string program_text(const Emission& emission, const Options& options) {
    const auto lines = static_cast<std::size_t>(std::ranges::count(emission.text, '\n'));
    if (lines > kMostLinesInText)
        return "The program is `" + options.output.filename().string() + "` (" + plural(lines, "line") +
               ", attached).\n";
    return "```cpp\n" + emission.text + "```\n";
}

}  // namespace

std::string issue_text(const Graph& graph, const Emission& emission, const Report& report, const Options& options) {
    const Failure& failure = *graph.failure;
    const std::string summary = emission.summary.empty() ? failure.signature.text() : emission.summary;
    std::string title = summary;
    while (title.ends_with('.')) title.pop_back();
    std::string text = "Title: " + title + "\n\n### What happens\n\n" + summary + "\n\n";
    if (emission.summary.empty()) text += failure.message + "\n\n";
    text += "### To reproduce\n\n" + program_text(emission, options) + "\n" + steps(report, options);
    text += "\n### Versions\n\n";
    text += "- " + (emission.compiler.empty() ? failure.backend : emission.compiler) + "\n";
    text += environment_line(options, "compiler", "") + environment_line(options, "os", "") +
            environment_line(options, "cpu", "");
    text += "\n### Where it comes from\n\nReduced from a model in which " + ops(graph) + " failed (" +
            failure.signature.text() + ")";
    if (failure.culprit && !failure.culprit->directive.empty())
        text += "; there the directive was `" + failure.culprit->directive + "`";
    // What a program cannot know is not ticked by one.
    text +=
        ".\n\n### Before sending\n\n"
        "- [ ] I read the program, and what it calls expected is right by the documentation.\n"
        "- [ ] It fails with the current release, too, or the fix is not in a release that I can use.\n"
        "- [ ] I looked for it among the open and closed issues.\n";
    return text;
}

}  // namespace whittle::repro
