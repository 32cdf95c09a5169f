#include "repro/issue.h"

#include <algorithm>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/program_text.h"
#include "base/subprocess.h"
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

std::string language_of(const std::filesystem::path& file) {
    const std::string extension = file.extension().string();
    return extension == ".py" ? "python" : extension == ".mjs" ? "js" : "cpp";
}

/// The program without the comment that it begins with, which says once more what the report says: the title in the
/// first paragraph, the command in the last. What else there is stays.
std::string without_head(const std::string& program, const std::filesystem::path& file) {
    const std::string mark = file.extension() == ".py" ? "#" : "//";
    std::vector<std::string> paragraphs(1);
    std::size_t begin = 0;
    while (program.compare(begin, mark.size(), mark) == 0) {
        const std::size_t end = program.find('\n', begin) + 1;
        const std::string line = program.substr(begin, end - begin);
        line == mark + "\n" ? void(paragraphs.emplace_back()) : void(paragraphs.back() += line);
        begin = end;
    }
    std::string kept;
    for (std::size_t i = 1; i + 1 < paragraphs.size(); i++) kept += (i > 1 ? mark + "\n" : "") + paragraphs[i];
    return kept + program.substr(begin);
}

/// The program that the report shows, and what came of it.
struct Shown {
    std::string name, text;
    std::vector<std::string> others = {};  ///< names of what shows the same
    std::string command = {};              ///< how it is got, built and run: a line of a shell
    bool built = true;
    std::string printed = {}, ends_by = {};
    std::string control = {};  ///< what passes where it is run once more for that; empty: that is in each run
    std::string runs_on = {};  ///< in the place of the compiler's own version; empty: that is it
};

/// Whether a reader may be told of it: it was not run in vain.
bool may_show(const Emission& emission, const Report& report, std::size_t other) {
    const bool known = emission.others.size() == report.others.size();
    return !known || !report.others[other].ran || report.others[other].verified;
}

Shown first_program(const Emission& emission, const Report& report) {
    Shown shown{.name = report.output.filename().string(), .text = emission.text};
    for (std::size_t i = 0; i < emission.others.size(); i++)
        if (may_show(emission, report, i)) shown.others.push_back(emission.others[i].name);
    for (const std::string& step : {report.get, report.compile_command, report.run_command})
        if (!step.empty()) shown.command += (shown.command.empty() ? "" : " && ") + step;
    shown.built = !emission.folder || !emission.folder->build.empty();
    shown.printed = report.printed, shown.ends_by = emission.ends_by;
    if (report.verified && !report.control.empty() && !emission.control_in_each_run)
        shown.control = "`" + report.run_command + " control` passes: " + report.control;
    return shown;
}

/// The first program, or, where the tracker's readers write another language (`extension`), what there is in that and
/// was run.
Shown shown_program(const Emission& emission, const Report& report, std::string_view extension) {
    Shown shown = first_program(emission, report);
    if (extension.empty()) return shown;
    const auto other = std::ranges::find_if(
        report.others, [&](const OtherReport& one) { return one.verified && one.name.ends_with(extension); });
    if (other == report.others.end()) return shown;
    const OtherProgram& program =
        emission.others.at(static_cast<std::size_t>(std::distance(report.others.begin(), other)));
    std::ranges::replace(shown.others, program.name, shown.name);
    return {.name = program.name,
            .text = program.text,
            .others = shown.others,
            .command = shell_quote(program.run),
            .built = false,
            .printed = other->printed,
            .ends_by = program.ends_by,
            .runs_on = other->runs_on};
}

std::string program_text(const Emission& emission, const Shown& shown) {
    const auto lines = static_cast<std::size_t>(std::ranges::count(shown.text, '\n'));
    if (lines > kMostLinesInText)
        return "The program is `" + shown.name + "` (" + plural(lines, "line") + ", attached).\n";
    const bool is_short = !emission.summary.empty();  // a harness says more
    std::string text = "```" + language_of(shown.name) + "\n" +
                       (is_short ? without_head(shown.text, shown.name) : shown.text) + "```\n";
    for (const std::string& other : shown.others)
        text += "\nFor " + std::string(other.ends_with(".py") ? "Python" : "C++") + ": `" + other + "`, attached.\n";
    return text;
}

/// What that says.
std::string outcome_of(const Shown& shown, const Report& report) {
    if (!report.verified) return "It was not verified.\n";
    const std::string printed = printed_block(shown.printed);
    const std::string prints = report.varies ? "prints, for example,\n\n" : "prints\n\n";
    return (printed.empty() ? "" : prints + printed + "\nand ") +
           (shown.ends_by.empty() ? "exits with status 1 (0: the bug is gone).\n"
                                  : "ends by " + shown.ends_by + " (without the bug: with status 0).\n");
}

/// A definition in words or a formula without the page that it is from: that one is on more than this op.
std::string without_source(const std::string& definition) {
    return definition.substr(0, definition.find(": https://"));
}

/// Why that is expected, where the project computes ops: the words of the registry on each, of a few. (What computes
/// models of ONNX says it by the model's versions: ShortProgram::facts.)
std::string definitions_of(const Graph& graph) {
    constexpr std::size_t kMost = 6;
    constexpr std::string_view kOfAnother = "the gradient";  // of an op whose definition would have to be said first
    std::vector<std::string> lines;
    for (const NodeId id : graph.calls()) {
        const RegisteredOp* const op = Registry::instance().op(graph.node({id}).target);
        if (!op || op->def->doc.empty() || op->def->doc.starts_with(kOfAnother)) continue;
        const std::string line =
            "- `" + std::string(op->def->name) + "`: " + without_source(std::string(op->def->doc)) + "\n";
        if (std::ranges::find(lines, line) == lines.end()) lines.push_back(line);
    }
    if (lines.empty() || lines.size() > kMost) return "";
    if (lines.size() == 1) return "By definition, " + lines[0].substr(2);
    std::string text = "By definition:\n\n";
    for (const std::string& line : lines) text += line;
    return text;
}

/// A section of a report: what stands under its heading is one of the parts that are written here, or said by
/// everybody.
enum class Part {
    what,
    reproduce,  ///< program, command and what it says
    program,
    expected,
    actual,
    versions,
    os,
    architecture,
    compiler,
    target,
    origin,
    fixed
};
struct Section {
    const char* heading;  ///< none: it goes on under the one before it
    Part part;
    const char* text = "";
};
struct IssueForm {
    std::string_view tracker;
    bool defines;               ///< its ops are those of the graph, and have no other definition
    std::string_view language;  ///< what its readers write, by a file's extension; empty: any
    std::vector<Section> sections;
};

/// The forms of the projects' trackers; the first is for those that have none.
const std::vector<IssueForm>& forms() {
    static const std::vector<IssueForm> all = {
        {"",
         false,
         "",
         {{"What happens", Part::what},
          {"To reproduce", Part::reproduce},
          {"Versions", Part::versions},
          {"Where it comes from", Part::origin}}},
        {"halide",
         false,
         "",
         {{"Description", Part::what},
          {"Reproducing case", Part::program},
          {"Expected behavior", Part::expected},
          {"Actual behavior", Part::actual},
          {"Halide version", Part::compiler},
          {"Target", Part::target},
          {"Operating system", Part::os}}},
        {"onnxruntime",
         false,
         "",
         {{"Describe the issue", Part::what},
          {"To reproduce", Part::reproduce},
          {"Urgency", Part::fixed, "None.\n"},
          {"Platform", Part::fixed, "Linux\n"},
          {"OS Version", Part::os},
          {"ONNX Runtime Installation", Part::fixed, "Released Package\n"},
          {"ONNX Runtime Version or Commit ID", Part::compiler},
          {"ONNX Runtime API", Part::fixed, "JavaScript\n"},
          {"Architecture", Part::architecture},
          {"Execution Provider", Part::fixed, "Default CPU\n"}}},
        {"opencv",
         false,
         "",
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
         true,
         ".py",
         {{"\U0001F41B Describe the bug", Part::what}, {"", Part::reproduce}, {"Versions", Part::versions}}}};
    return all;
}

const IssueForm& form_of(const std::string& tracker) {
    const auto found = std::ranges::find(forms(), tracker, &IssueForm::tracker);
    return found == forms().end() ? forms().front() : *found;
}

constexpr std::string_view kTarget = ", target ";  // in what a compiler says that it is

/// Behind a sentence on the same line.
std::string blank(const std::string& sentence) { return sentence.empty() ? "" : " " + chomped(sentence); }

class Issue {
  public:
    Issue(const Graph& graph, const Emission& emission, const Report& report, const Options& options)
        : graph_(graph),
          failure_(*graph.failure),
          emission_(emission),
          report_(report),
          options_(options),
          form_(form_of(emission.tracker)),
          shown_(shown_program(emission, report, form_.language)) {}

    std::string write() const {
        std::string title = options_.title.empty() ? summary() : options_.title;
        while (title.ends_with('.') && !title.ends_with("...")) title.pop_back();
        std::string text = "Title: " + title + "\n", heading;
        for (const Section& section : form_.sections) {
            const std::string said = part(section);
            if (*section.heading) heading = "### " + std::string(section.heading) + "\n\n";
            if (said.empty()) continue;
            text += "\n" + heading + said;
            heading.clear();
        }
        return text;
    }

  private:
    std::string summary() const { return emission_.summary.empty() ? failure_.signature.text() : emission_.summary; }

    std::string outcome() const { return outcome_of(shown_, report_); }

    std::string command() const { return "    " + shown_.command + "\n"; }

    std::string part(const Section& section) const {
        switch (section.part) {
            case Part::what:
                return what();
            case Part::reproduce:
                return program_text(emission_, shown_) + "\n" + command() + "\n" + chomped(outcome()) +
                       blank(shown_.control.empty() ? "" : shown_.control + ".") + "\n";
            case Part::program:
                return program_text(emission_, shown_) + "\n" + command();
            case Part::expected:
                return (emission_.expected.empty() ? "It ends with status 0" : emission_.expected) + ".\n";
            case Part::actual:
                return (report_.verified ? "It " : "") + outcome();
            case Part::versions:
                return "- " + version() + "\n" + checked("- ") + built_by() + environment_line(options_, "os", "") +
                       environment_line(options_, "cpu", "");
            case Part::os:
                return found("os") + ", " + found("kernel") + "\n";
            case Part::architecture:
                return architecture() + "\n";
            case Part::compiler:
                return emission_.compiler.substr(0, emission_.compiler.find(kTarget)) + "\n" + checked("\n");
            case Part::target: {
                const std::size_t at = emission_.compiler.find(kTarget);
                return (at == std::string::npos ? "host" : emission_.compiler.substr(at + kTarget.size())) + "\n";
            }
            case Part::origin:
                return origin();
            case Part::fixed:
                break;
        }
        return section.text;
    }

    std::string version() const {
        if (!shown_.runs_on.empty()) return shown_.runs_on;
        return emission_.compiler.empty() ? failure_.backend : emission_.compiler;
    }

    std::string releases() const {
        const std::string& also = emission_.also.text;
        return emission_.releases + (emission_.releases.empty() || also.empty() ? "" : "; ") + also;
    }

    /// What the user states on versions, each a line behind `mark`.
    std::string checked(const std::string& mark) const {
        std::string text;
        for (const std::string& line : options_.checked) text += mark + line + "\n";
        return text;
    }

    /// A script was built by nobody.
    std::string built_by() const { return shown_.built ? environment_line(options_, "compiler", "") : ""; }

    std::string found(const char* key) const {
        const auto value = options_.environment.find(key);
        return value == options_.environment.end() ? "unknown" : value->second;
    }

    /// As the tracker of ONNX Runtime has them in its list.
    std::string architecture() const {
        constexpr std::pair<std::string_view, const char*> kKnown[] = {{" x86_64", "X64"},
                                                                       {" i686", "X86"},
                                                                       {" aarch64", "ARM64"},
                                                                       {" armv7l", "ARM32"},
                                                                       {" ppc64le", "IBM Power"}};
        const std::string kernel = found("kernel");
        for (const auto& [machine, name] : kKnown)
            if (kernel.ends_with(machine)) return name;
        return "Other / Unknown";
    }

    std::string what() const {
        std::string text;  // the summary is the title, or what a note explains
        const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "\n") + part; };
        for (const std::string& line : options_.notes) add(line + "\n");
        if (!options_.title.empty() && options_.notes.empty()) add(summary() + "\n");
        if (const std::string known = releases(); !known.empty()) add("Releases: " + known + ".\n");
        if (emission_.summary.empty()) add(failure_.message + "\n");
        if (!emission_.facts.empty()) add(emission_.facts);
        if (!emission_.near.empty() && options_.notes.empty()) add(emission_.near + "\n");  // or else the cause is said
        if (!emission_.model.empty()) add(emission_.model);
        if (const std::string why = justification(); !why.empty()) add(why);
        return text;
    }

    /// Of values which the compiler itself computes as expected, with something switched off, nobody asks why; nor
    /// where the user says it.
    std::string justification() const {
        const bool values =
            failure_.signature.kind == "mismatch" && emission_.control.empty() && options_.notes.empty();
        return values && form_.defines ? definitions_of(graph_) : "";
    }

    /// A short program is by itself.
    std::string origin() const {
        if (!emission_.summary.empty()) return "";
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
    const IssueForm& form_;
    const Shown shown_;
};

}  // namespace

std::string before_sending(const Options& options, const Report& report) {
    const bool current = options.also.empty() && options.checked.empty();
    const bool mended = report.also.is_right_in_all;
    return std::string("the program: is what it calls expected right by the documentation?\n") +
           (current ? "the current release: does it fail, too, or is the mend in none that you can use? (--also, "
                      "--checked)\n"
                    : "") +
           (mended ? "the releases: all that were asked are right; is one of them newer, and it mended there?\n" : "") +
           "open and closed issues: has nobody reported it?\n";
}

std::string issue_text(const Graph& graph, const Emission& emission, const Report& report, const Options& options) {
    return Issue(graph, emission, report, options).write();
}

}  // namespace whittle::repro
