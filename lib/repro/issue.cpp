#include "repro/steps.h"

#include <algorithm>
#include <filesystem>
#include <sstream>
#include <string_view>
#include <vector>

#include "base/program_text.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "formats/json_text.h"
#include "graph/text.h"
#include "ops/core/registry.h"
#include "printers/short_program.h"
#include "printers/title.h"
#include "repro/verify.h"
#include "text/language.h"

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

/// The program without the comment that it begins with, which says once more what the report says: the title in the
/// first paragraph, the command in the last. What else there is stays.
std::string without_head(const std::string& program, const std::filesystem::path& file) {
    const std::string mark(language_of(file.native()).mark());
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

/// A definition in words or a formula without the page that it is from: that one is on more than this op.
std::string without_source(const std::string& definition) {
    return definition.substr(0, definition.find(": https://"));
}

/// Why that is expected, where the project computes ops: the words of the registry on each, of a few. (What computes
/// models of ONNX says it by the model's versions: ReproProgram::facts.)
std::string definitions_of(const Graph& graph) {
    constexpr std::size_t kMost = 6;
    constexpr std::string_view kOfAnother = "the gradient";  // of an op whose definition would have to be said first
    std::vector<std::string> lines;
    for (const NodeId id : graph.calls()) {
        const RegisteredOp* const op = Registry::instance().op(graph.node({id}).target);
        if (!op || op->def->doc.empty() || op->def->doc.starts_with(kOfAnother)) continue;
        const std::string line =
            "- `" + std::string(op->name) + "`: " + without_source(std::string(op->def->doc)) + "\n";
        add_once(lines, line);
    }
    if (lines.empty() || lines.size() > kMost) return "";
    if (lines.size() == 1) return "Definition of " + lines[0].substr(2);
    std::string text = "Definitions:\n\n";
    for (const std::string& line : lines) text += line;
    return text;
}

/// The form of a project's tracker, share/templates/issue_TRACKER.md.in, or the one for those that have none: headings,
/// and paragraphs that are "@PART@" or said by everybody.
std::string_view form_of(const std::string& tracker) {
    const auto templates = program_templates();
    const auto called = [&](const std::string& name) {
        return std::ranges::find(templates, name, &ProgramTemplate::name);
    };
    const auto own = called("issue_" + tracker + ".md");
    return (own == templates.end() ? called("issue.md") : own)->text;
}

/// The form with its parts; a heading under which there is nothing is left out.
std::string filled(std::string_view form, const std::map<std::string_view, std::string>& parts) {
    std::string text, heading;
    while (!form.empty()) {
        const std::size_t end = std::min(form.find("\n\n"), form.size());
        const std::string_view paragraph = form.substr(0, end);
        form.remove_prefix(std::min(end + 2, form.size()));
        if (paragraph.starts_with("### ")) {
            heading = std::string(paragraph) + "\n\n";
            continue;
        }
        const std::string said = paragraph.starts_with('@') ? parts.at(paragraph.substr(1, paragraph.rfind('@') - 1))
                                                            : chomped(std::string(paragraph)) + "\n";
        if (said.empty()) continue;
        text += "\n" + heading + said;
        heading.clear();
    }
    return text;
}

constexpr std::string_view kTarget = ", target ";  // in what a compiler says that it is

class Issue {
  public:
    Issue(const Repro& repro, const Options& options)
        : repro_(repro), program_(repro.program), failure_(repro.failure()), options_(options) {
        // PyTorch's readers write Python: what there is in that and was run.
        if (!program_.tracker.starts_with("pytorch")) return;
        for (const OtherProgram& other : program_.others)
            if (!other_ && other.verified && other.name.ends_with(".py")) other_ = &other;
    }

    std::string write() const {
        std::string title = options_.title.value_or(summary());
        while (title.ends_with('.') && !title.ends_with("...")) title.pop_back();
        const std::string& compiler = program_.compiler;
        const std::size_t target = compiler.find(kTarget);
        const std::string control = this->control();
        return "Title: " + title + "\n" +
               filled(form_of(program_.tracker),
                      {{"WHAT", what()},
                       {"DEFINITIONS", justification()},
                       {"REPRODUCE", program() + "\n" + command() + "\n" + chomped(outcome()) +
                                         (control.empty() ? "" : " " + control) + "\n"},
                       {"PROGRAM", program() + "\n" + command()},
                       {"CONTROL", control.empty() ? "" : control + "\n"},
                       {"EXPECTED",
                        (program_.expected.empty() ? "The program exits with status 0" : program_.expected) + ".\n"},
                       {"ACTUAL", (repro_.verified ? "The program " : "") + outcome()},
                       {"VERSIONS", "- " + version() + "\n" + checked("- ") + built_by() + environment_line("os") +
                                        environment_line("cpu")},
                       {"OS", found("os") + ", " + found("kernel") + "\n"},
                       {"ARCHITECTURE", architecture() + "\n"},
                       {"COMPILER", compiler.substr(0, target) + "\n" + checked("\n")},
                       {"TARGET",
                        (target == std::string::npos ? "host" : compiler.substr(target + kTarget.size())) + "\n"},
                       {"ORIGIN", origin()}});
    }

  private:
    std::string summary() const {
        if (repro_.is_short()) return program_.summary;
        return first_words(as_line(failure_.text()), kMostOfTitle);
    }

    // ---- the program that the report shows: the first, or other_ ----------------------------------------------------

    std::string name() const { return other_ ? other_->name : name_of(program_, options_); }

    std::string program() const {
        const std::string& text = other_ ? other_->text : program_.text;
        const auto lines = static_cast<std::size_t>(std::ranges::count(text, '\n'));
        if (lines > kMostLinesInText)
            return "The program is `" + name() + "` (" + plural(lines, "line") + ", attached).\n";
        std::string shown = "```" + std::string(language_of(name()).name()) + "\n" +
                            (repro_.is_short() ? without_head(text, name()) : text) + "```\n";  // a harness says more
        for (const OtherProgram& other : program_.others) {
            if (other.ran && !other.verified) continue;  // it was run in vain
            const std::string also = &other == other_ ? name_of(program_, options_) : other.name;
            shown += "\nThe same in " + std::string(also.ends_with(".py") ? "Python" : "C++") + ": `" + also +
                     "`, attached.\n";
        }
        return shown;
    }

    std::string command() const {
        return "    " + (other_ ? shell_quote(other_->run) : all_commands(program_, options_)) + "\n";
    }

    /// What that says.
    std::string outcome() const {
        if (!repro_.verified) return "The failure of this program was not verified.\n";
        const std::string printed = printed_block(other_ ? other_->printed : repro_.printed);
        const std::string prints = repro_.varies ? "prints, for example,\n\n" : "prints\n\n";
        const std::string& ends_by = other_ && !other_->ends_by.empty() ? other_->ends_by : program_.ends_by;
        return (printed.empty() ? "" : prints + printed + "\nand ") +
               (ends_by.empty() ? "exits with status 1 (0 when the bug is fixed).\n"
                                : "is killed by " + ends_by + " (exits with status 0 when the bug is fixed).\n");
    }

    /// What passes where it is run once more for that.
    std::string control() const {
        if (other_ || !repro_.verified || !runs_control(program_)) return "";
        return "`" + shell_quote(run_command(program_, options_)) + " control` passes: " + control_of(program_) + ".";
    }

    // ---- versions ---------------------------------------------------------------------------------------------------

    std::string version() const {
        if (other_ && !other_->runs_on.empty()) return other_->runs_on;
        return program_.compiler.empty() ? failure_.backend : program_.compiler;
    }

    /// What the user states on versions, each a line behind `mark`.
    std::string checked(const std::string& mark) const {
        std::string text;
        for (const std::string& line : options_.checked) text += mark + line + "\n";
        return text;
    }

    std::string environment_line(const char* key) const {
        const auto value = options_.environment.find(key);
        return value == options_.environment.end() ? "" : "- " + value->second + "\n";
    }

    /// A script was built by nobody, but torch.compile may build what a script runs.
    std::string built_by() const {
        const bool built =
            program_.tracker == "pytorch_compile" || !(other_ || build_command(program_, options_).empty());
        return built ? environment_line("compiler") : "";
    }

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

    // ---- what happens -----------------------------------------------------------------------------------------------

    std::string what() const {
        std::string text;  // the summary is the title, or what a note explains
        const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "\n") + part; };
        for (const std::string& line : options_.notes) add(line + "\n");
        if (options_.title && options_.notes.empty()) add(summary() + "\n");
        const std::string both = repro_.releases.empty() || repro_.also.empty() ? "" : "; ";
        const std::string releases = repro_.releases + both + repro_.also;
        if (!releases.empty()) add("Releases: " + releases + ".\n");
        if (!repro_.is_short() || !repro_.verified) add(failure_.message + "\n");
        if (!program_.facts.empty()) add(program_.facts);
        if (!program_.near.empty() && options_.notes.empty()) add(program_.near + "\n");  // or else the cause is said
        if (!program_.model.empty()) add(program_.model);
        if (const std::string places = source(); !places.empty()) add(places);
        return text;
    }

    /// Where the user's program has the operations; without the folders, which are the user's own.
    std::string source() const {
        constexpr std::size_t kMost = 3;
        std::string text;
        for (StackFrame place : first_places(repro_.graph, kMost)) {
            place.file = std::filesystem::path(place.file).filename().string();
            text += (text.empty() ? "In the original program:\n\n    " : "    ") + place_line(place) + "\n";
        }
        return text;
    }

    /// Of values which the compiler itself computes as expected, with something switched off, nobody asks why; nor
    /// where the user says it.
    std::string justification() const {
        const bool values =
            failure_.signature.kind == "mismatch" && control_of(program_).empty() && options_.notes.empty();
        return values ? definitions_of(repro_.graph) : "";
    }

    /// A short program is by itself.
    std::string origin() const {
        if (repro_.is_short()) return "";
        std::string text = "The program is reduced from a model in which " + ops_of(repro_.graph) + " failed (" +
                           failure_.signature.heading() + ")";
        if (failure_.culprit && !failure_.culprit->directive.empty())
            text += "; in that model, the " +
                    (failure_.culprit->component == "switch" ? failure_.culprit->op : std::string("directive")) +
                    " was `" + failure_.culprit->directive + "`";
        return text + ".\n";
    }

    const Repro& repro_;
    const ReproProgram& program_;
    const Failure& failure_;
    const Options& options_;
    const OtherProgram* other_ = nullptr;  ///< the one that is shown in the place of the first
};

}  // namespace

std::string before_sending(const Repro& repro, const Options& options) {
    const bool current = options.also.empty() && options.checked.empty();
    const bool fixed_elsewhere = repro.right_in_all_others;
    return std::string("the program: does the documentation confirm the results that the program expects?\n") +
           (current ? "the current release: does this release fail, too? Is there a fix that is not released yet? "
                      "(--also, --checked)\n"
                    : "") +
           (fixed_elsewhere
                ? "the releases: all other tested releases are right; is one of these releases newer, so that the "
                  "bug is fixed?\n"
                : "") +
           "open and closed issues: has someone reported this bug?\n";
}

std::string issue_text(const Repro& repro, const Options& options) { return Issue(repro, options).write(); }

}  // namespace whittle::repro
