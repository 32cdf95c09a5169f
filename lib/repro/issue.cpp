#include "repro/issue.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/words.h"
#include "graph/graph.h"
#include "graph/short_program.h"
#include "ops/core/registry.h"

namespace whittle::repro {
namespace {

constexpr std::size_t kMostLinesInText = 60;
constexpr std::size_t kMostLinesPrinted = 12;

/// The lines of what a program printed as a block of Markdown; of many the first and the last ones, between which it
/// says how many there are. Empty where it printed nothing.
std::string printed_block(const std::string& text) {
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);) lines.push_back(line.empty() ? "" : "    " + line);
    while (!lines.empty() && lines.back().empty()) lines.pop_back();
    if (lines.size() > kMostLinesPrinted) {
        const std::size_t first = kMostLinesPrinted / 2, last = kMostLinesPrinted - first - 1;
        const std::size_t omitted = lines.size() - first - last;
        const auto from = lines.begin() + static_cast<std::ptrdiff_t>(first);
        const auto at = lines.erase(from, from + static_cast<std::ptrdiff_t>(omitted));
        lines.insert(at, "    [… " + plural(omitted, "line") + " …]");
    }
    std::string block;
    for (const std::string& line : lines) block += line + "\n";
    return block;
}

std::string environment_line(const Options& options, const char* key, const std::string& what) {
    const auto found = options.environment.find(key);
    return found == options.environment.end() ? "" : "- " + what + found->second + "\n";
}

/// How it is built and run, and what that says.
std::string steps(const Emission& emission, const Report& report) {
    std::string line;
    for (const std::string& step : {report.get, report.compile_command, report.run_command})
        if (!step.empty()) line += (line.empty() ? "" : " && ") + step;
    std::string text = "    " + line + "\n\n";
    if (!report.verified) return text + "It was not verified.\n";
    if (!emission.ends_by.empty()) return text + "ends by " + emission.ends_by + " (without the bug: with status 0).\n";
    const std::string printed = printed_block(report.printed);
    if (!printed.empty()) text += "prints\n\n" + printed + "\nand ";
    text += "exits with status 1 (0: the bug is gone).";
    if (report.control.empty()) return text + "\n";
    if (emission.control_in_each_run) return text + " What is right in the same run: " + report.control + ".\n";
    return text + " `" + report.run_command + " control` passes: " + report.control + ".\n";
}

std::string language_of(const std::filesystem::path& file) {
    const std::string extension = file.extension().string();
    return extension == ".py" ? "python" : extension == ".mjs" ? "js" : "cpp";
}

std::string program_text(const Emission& emission, const Report& report) {
    const auto lines = static_cast<std::size_t>(std::ranges::count(emission.text, '\n'));
    const std::string name = report.output.filename().string();
    if (lines > kMostLinesInText) return "The program is `" + name + "` (" + plural(lines, "line") + ", attached).\n";
    std::string text = "```" + language_of(name) + "\n" + emission.text + "```\n";
    if (!emission.folder) return text;
    for (const ProgramFolder::Other& other : emission.folder->others)
        text += "\nThe same for " + std::string(other.name.ends_with(".py") ? "Python" : "C++") + ": `" + other.name +
                "`, attached.\n";
    return text;
}

/// An op's definition: the words of the registry, and the place in ONNX's documents that they name as a link.
std::string definition_of(const RegisteredOp& op) {
    std::string doc(op.def->doc), name(op.def->name);
    const std::string source = "onnx Operators.md#";
    const auto at = doc.find(source);
    if (at == std::string::npos) return "- `" + name + "`: " + doc + "\n";
    const std::string section =
        doc.substr(at + source.size(), doc.find_first_of(", ", at + source.size()) - at - source.size());
    return "- [`" + section + "`](https://github.com/onnx/onnx/blob/main/docs/Operators.md#" + section +
           "): " + doc.substr(0, at - 1) + "\n";
}

/// Why that is expected, where the project computes ops: the definition of each, of a few.
std::string definitions_of(const Graph& graph) {
    constexpr std::size_t kMost = 6;
    std::vector<std::string> lines;
    for (const NodeId id : graph.calls()) {
        const RegisteredOp* const op = Registry::instance().op(graph.node({id}).target);
        if (!op || op->def->doc.empty()) continue;
        const std::string line = definition_of(*op);
        if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
    }
    if (lines.empty() || lines.size() > kMost) return "";
    std::string text = "By definition:\n\n";
    for (const std::string& line : lines) text += line;
    return text;
}

/// What only a person can say: no program ticks it.
constexpr const char* kOpen =
    "- [ ] I read the program, and what it calls expected is right by the documentation.\n"
    "- [ ] It fails with the current release, too, or the fix is not in a release that I can use.\n"
    "- [ ] I looked for it among the open and closed issues.\n";

/// A section of a report: what stands under its heading is one of the parts that are written here, or said by
/// everybody.
enum class Part { what, reproduce, versions, os, compiler, origin, fixed };
struct Section {
    const char* heading;
    Part part;
    const char* text = "";
};
struct Form {
    std::string_view tracker;
    std::vector<Section> sections;
};

/// The forms of the projects' trackers; the first is for those that have none.
const std::vector<Form>& forms() {
    static const std::vector<Form> all = {
        {"",
         {{"What happens", Part::what},
          {"To reproduce", Part::reproduce},
          {"Versions", Part::versions},
          {"Where it comes from", Part::origin},
          {"Before sending", Part::fixed, kOpen}}},
        {"onnxruntime",
         {{"Describe the issue", Part::what},
          {"To reproduce", Part::reproduce},
          {"Urgency", Part::fixed, "None.\n"},
          {"Platform", Part::fixed, "Linux\n"},
          {"OS Version", Part::os},
          {"ONNX Runtime Installation", Part::fixed, "Released Package\n"},
          {"ONNX Runtime Version or Commit ID", Part::compiler},
          {"ONNX Runtime API", Part::fixed, "JavaScript\n"},
          {"Execution Provider", Part::fixed, "Default CPU\n"},
          {"Before sending", Part::fixed, kOpen}}},
        {"opencv",
         {{"System Information", Part::versions},
          {"Detailed description", Part::what},
          {"Steps to reproduce", Part::reproduce},
          {"Issue submission checklist", Part::fixed,
           "- [ ] I report the issue, it's not a question\n"
           "- [ ] I checked the problem with documentation, FAQ, open issues, forum.opencv.org, Stack Overflow, etc "
           "and "
           "have not found any solution\n"
           "- [ ] I updated to the latest OpenCV version and the issue is still there\n"
           "- [x] There is reproducer code and related data files (videos, images, onnx, etc)\n"}}},
        {"pytorch",
         {{"\U0001F41B Describe the bug", Part::what},
          {"To reproduce", Part::reproduce},
          {"Versions", Part::versions},
          {"Before sending", Part::fixed, kOpen}}}};
    return all;
}

const Form& form_of(const std::string& tracker) {
    const auto found = std::ranges::find(forms(), tracker, &Form::tracker);
    return found == forms().end() ? forms().front() : *found;
}

class Issue {
  public:
    Issue(const Graph& graph, const Emission& emission, const Report& report, const Options& options)
        : graph_(graph), failure_(*graph.failure), emission_(emission), report_(report), options_(options) {}

    std::string write() const {
        std::string title = summary();
        while (title.ends_with('.')) title.pop_back();
        std::string text = "Title: " + title + "\n";
        for (const Section& section : form_of(emission_.tracker).sections)
            text += "\n### " + std::string(section.heading) + "\n\n" + part(section);
        return text;
    }

  private:
    std::string summary() const { return emission_.summary.empty() ? failure_.signature.text() : emission_.summary; }

    std::string part(const Section& section) const {
        switch (section.part) {
            case Part::what:
                return what();
            case Part::reproduce:
                return program_text(emission_, report_) + "\n" + steps(emission_, report_);
            case Part::versions:
                return "- " + (emission_.compiler.empty() ? failure_.backend : emission_.compiler) + "\n" +
                       environment_line(options_, "compiler", "") + environment_line(options_, "os", "") +
                       environment_line(options_, "cpu", "");
            case Part::os:
                return found("os") + ", " + found("kernel") + "\n";
            case Part::compiler:
                return emission_.compiler + "\n";
            case Part::origin:
                return origin();
            case Part::fixed:
                break;
        }
        return section.text;
    }

    std::string found(const char* key) const {
        const auto value = options_.environment.find(key);
        return value == options_.environment.end() ? "unknown" : value->second;
    }

    std::string what() const {
        std::string text;  // the title has been said
        const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "\n") + part; };
        if (emission_.facts.empty()) add(summary() + "\n");
        if (!emission_.releases.empty()) add("Releases: " + emission_.releases + ".\n");
        if (emission_.summary.empty()) add(failure_.message + "\n");
        if (!emission_.facts.empty()) add(emission_.facts);
        const std::string definitions = emission_.tracker.empty() ? "" : definitions_of(graph_);
        if (!definitions.empty()) add(definitions);
        return text;
    }

    std::string origin() const {
        std::string text =
            "Reduced from a model in which " + ops_of(graph_) + " failed (" + failure_.signature.text() + ")";
        if (failure_.culprit && !failure_.culprit->directive.empty())
            text += "; there the " +
                    (failure_.culprit->component == "switch" ? failure_.culprit->op : std::string("directive")) +
                    " was `" + failure_.culprit->directive + "`";
        return text + ".\n";
    }

    const Graph& graph_;
    const Failure& failure_;
    const Emission& emission_;
    const Report& report_;
    const Options& options_;
};

}  // namespace

std::string issue_text(const Graph& graph, const Emission& emission, const Report& report, const Options& options) {
    return Issue(graph, emission, report, options).write();
}

}  // namespace whittle::repro
