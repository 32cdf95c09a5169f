#include <fmt/format.h>

#include <set>

#include "base/command_words.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "diagnose/compiled.h"
#include "formats/failure_file.h"
#include "graph/backend_options.h"
#include "graph/text.h"
#include "reduce/report.h"

namespace whittle::reduce {
namespace {

using Ending = Minimized::Ending;

/// What the reduction changed: "65 ops -> 1 op, 12 elements -> 3 elements".
std::string size_difference(const Size& before, const Size& after) {
    std::vector<std::string> parts;
    const auto add = [&](auto a, auto b, const char* one) {
        if (a != b) parts.push_back(fmt::format("{} -> {}", a, plural(b, one)));
    };
    add(before.calls, after.calls, "op");
    add(before.inputs, after.inputs, "input");
    add(before.outputs, after.outputs, "output");
    add(before.elements, after.elements, "element");
    return join(parts);
}

/// One line for each reduction that asked anything.
std::string passes(const std::vector<ReductionReport>& passes) {
    std::string text, head = "reductions: ";
    for (const ReductionReport& pass : passes) {
        if (pass.tried == 0 && pass.accepted == 0) continue;
        const std::string changed = size_difference(pass.before, pass.after);
        text += fmt::format("{:<12}{:<10} {} tried, {} accepted{}\n", head, pass.name, pass.tried, pass.accepted,
                            changed.empty() ? "" : ": " + changed);
        head.clear();
    }
    return text;
}

/// What the queries were: "the original and 24 candidates, 2 of them unresolved …".
std::string queries(const Minimized& done) {
    if (done.search.queries <= 1) return {};
    std::string text =
        "            the queries tested the original and " + plural(done.search.queries - 1, "candidate");
    if (done.search.unresolved)
        text += "; " + plural(done.search.unresolved, "candidate") +
                " neither passed nor failed in the same way as the original";
    if (done.replayed)
        text +=
            "; " + plural(done.replayed, "verdict") + (done.replayed == 1 ? " comes" : " come") + " from the journal";
    return text + '\n';
}

/// Where the program's source has the operations that are left.
std::string source_text(const Graph& graph) {
    constexpr std::size_t kMost = 3;
    std::string text, head = "source:     ";
    for (const StackFrame& place : first_places(graph, kMost)) {
        text += head + place_line(place) + '\n';
        head.assign(head.size(), ' ');
    }
    return text;
}

/// Lines "what:       how" of what was found.
std::string found_text(const Minimized& done) {
    const Failure& failure = *done.smallest.graph.failure;
    const Result& search = done.search;
    const bool complete = done.ending == Ending::minimized;
    const bool bare = done.message.empty();
    std::string text = "failure:    " + (bare ? done.signature.text() : done.signature.heading()) +
                       (done.stored ? "; the file records this failure" : "") + '\n';
    if (!bare) text += "            " + done.message + '\n';
    // The same exception differs in names and numbers only.
    if (failure.message != done.message && (bare || done.signature.kind != "exception"))
        text += "            minimized: " + failure.message + '\n';
    text += fmt::format("{}{} -> {} in {}, {:.1f} s\n", complete ? "minimized:  " : "stopped:    ", done.before.calls,
                        plural(done.after.calls, "op"), plural(search.queries, "query", "queries"), done.seconds);
    text += queries(done);
    if (!done.folded.empty())
        text += "folded:     " + folded_text(done.folded) +
                " of the file became constants while Whittle read the file (to keep these ops: --after file)\n";
    Size before = done.before;
    before.calls = done.after.calls;  // told above
    if (const std::string sizes = size_difference(before, done.after); !sizes.empty())
        text += "sizes:      " + sizes + '\n';
    text += passes(done.passes);
    if (done.flaky.runs)
        text += fmt::format(
            "flaky:      the original fails in this way in {} of {} runs; a candidate counts as passing only after {} "
            "runs without this failure\n",
            done.flaky.failures, done.flaky.runs, done.flaky.repeat);
    if (search.fell_back)
        text +=
            "            bisection failed, because some candidates gave no verdict, or a smaller candidate failed "
            "although a larger candidate passed; delta debugging finished the search\n";
    text += std::string("1-minimal:  ") + (search.one_minimal ? "yes" : "no") +
            (search.reservation.empty() ? "" : ": " + search.reservation) + '\n';
    if (complete)
        text += std::string("confirmed:  ") +
                (done.confirmed ? "yes: the result fails again in the same way"
                                : "no: the result did not fail again in this way") +
                '\n';
    if (done.fails_on_nothing)
        text += "            a graph without ops fails in the same way: the failure does not depend on the model\n";
    if (const auto& culprit = failure.culprit)
        text += "culprit:    " + culprit->text() +
                (culprit->minimized_only ? "; with the culprit switched off, the original model still fails" : "") +
                '\n';
    for (const std::string& note : culprit_notes(failure)) text += "            " + note + '\n';
    text += source_text(done.smallest.graph);
    if (done.releases) text += "release:    " + done.releases->text() + '\n';
    if (done.closeness == Closeness::noise)
        text +=
            "            rounding noise: the error, measured against double precision, is no larger than rounding "
            "explains; a bug is unlikely\n";
    for (std::size_t i = 0; i < done.drifted_files.size(); ++i)
        text += "also seen:  " + done.drifted[i].graph.failure->text() +
                ", a different failure: " + done.drifted_files[i].string() + '\n';
    return text;
}

/// A graph that is long in spite of all is for its file; only its begin and end are shown, in lines that fit a screen.
std::string graph_text(const Graph& graph, const std::string& file) {
    constexpr std::size_t kMost = 40, kBegin = 24, kEnd = 8, kColumns = 120;
    const std::string text = print(graph);
    const std::vector<std::string> lines = split(text, '\n');
    if (lines.size() <= kMost) return text;
    std::string shown;
    for (std::size_t i = 0; i < lines.size(); ++i) {
        if (i == kBegin) {
            shown += "  … " + plural(lines.size() - kBegin - kEnd, "more line") + " in " + file + "\n";
            i = lines.size() - kEnd;
        }
        shown += shortened(lines[i], kColumns) + "\n";
    }
    return shown;
}

constexpr std::size_t kLabel = 12;

/// What is done with the result: the repro, or, where there is none, what judged it, run on it once more. Empty where
/// that was done and the result did not fail, and where the caller does it.
std::string next_command(const Minimized& done, const Request& request) {
    if (!done.confirmed) return {};
    const Graph& result = done.smallest.graph;
    if (const auto* judge = std::get_if<CommandOracleOptions>(&request.judge))
        return shell_quote(command_line(*judge, request.output));
    if (!result.nodes.empty() && diagnose::has_repro(result))
        return request.repro_follows ? "" : shell_quote(diagnose::repro_words(request.output));
    if (result.failure && result.failure->slower)  // measures again
        return shell_quote(program_words("minify", {request.output.string()}));
    std::vector<std::string> words =
        program_words("explain", {request.output.string(), "--backend", result.failure->backend});
    for (const auto& more : {option_words(result.failure->options), diagnose::op_library_words()}) append(words, more);
    return shell_quote(words);
}

/// What is left, and where.
std::string result_text(const Minimized& done, const Request& request) {
    const auto& [graph, inputs, expected, part, nodes] = done.smallest;
    const std::string output = done.output.string();
    const std::string shown =
        part ? "parts of " + done.file.string() + ":\n  " + join(nodes, "\n  ") + "\n" : graph_text(graph, output);
    const bool failure_beside = !part && done.output.extension() == ".onnx";
    return "\n" + shown + "\nwritten:    " + output + (failure_beside ? ", " + failure_path(output).string() : "") +
           "\n" + next_line(next_command(done, request), kLabel);
}

}  // namespace

std::string folded_text(const std::map<std::string, std::size_t>& folded) {
    std::size_t total = 0;
    std::vector<std::string> ops;
    for (const auto& [op, number] : folded) total += number, ops.push_back(fmt::format("{} {}", op, number));
    return fmt::format("{} ({})", plural(total, "op"), join(ops));
}

std::string not_failing_text(const Request& request, const std::string& judge, const std::string& seen) {
    if (const Suspect* suspect = request.suspect(); suspect && !request.stored)
        return "right: " + passing_text(judge, suspect->tier);
    const std::string right = "right: with " + judge + " ";
    if (request.stored)
        return right + "the model does not show the recorded failure: " + request.stored->signature.text();
    const auto& command = std::get<CommandOracleOptions>(request.judge);
    if (command.polarity == "test")
        return right + "the script does not exit with status 0; with --test, status 0 means that the candidate fails";
    if (command.polarity == "test-must-fail")
        return right + "the script exits with status 0; any other status means that the candidate fails";
    const bool picky = !command.fail_codes.empty() || !command.ignore_codes.empty() || !command.fail_pattern.empty();
    return right +
           (picky ? "the command " + seen
                  : "the command exits with status 0; with --check, any other status means that the candidate fails");
}

std::string to_text(const Minimized& done, const Request& request) {
    const std::optional<Judgement>& said = done.judgement;
    const std::string unfailing = done.file.string() + " fails, but " + kGraphDoesNotFail;
    if (done.ending == Ending::minimized) return found_text(done) + result_text(done, request);
    if (done.ending == Ending::interrupted)
        return found_text(done) + "written:    " + done.output.string() +
               " (the search is unfinished: " + plural(done.after.calls, "op") + " left)\n" +
               next_line(request.go_on, kLabel);
    if (done.ending == Ending::flaky)
        return "flaky: the model fails in the same way in " + std::to_string(done.flaky.failures) + " of " +
               plural(done.flaky.runs, "run") +
               ", too rarely to minimize\nhint: to run each candidate more often, add --repeat " +
               std::to_string(2 * done.flaky.needed) + "\n";  // the rate is known roughly
    if (said && said->fails() && !request.stored)
        return text_of(*said) + "\nnot minimized: " + (done.no_candidates.empty() ? unfailing : done.no_candidates) +
               (done.rewritten.empty() ? "" : "; while reading: " + join(done.rewritten, "; ")) + "\n";
    if (said && !said->fails() && !done.searched) return text_of(*said) + "\n";
    if (done.ending == Ending::unsupported)
        return "not judged: " + (request.suspect() ? done.judge : "the command") +
               " gives no verdict on this model: " + done.message + "\n";
    if (done.hidden) return "fails: " + done.signature.text() + "\nnot minimized: " + unfailing + "\n";
    std::string text = not_failing_text(request, done.judge, done.message);
    if (request.stored && !done.signature.kind.empty())
        text += "; the model fails in another way: " + done.signature.text() +
                "; to minimize this failure, pass --backend " + done.judge;
    return text + "\n";
}

std::string to_text(const Findings& found, const Request& request, const std::vector<LoadedFrame>& frames) {
    std::set<std::filesystem::path> files;  // of records: one that is cut into parts is several graphs of one file
    std::size_t recorded = 0;
    for (const LoadedFrame& frame : frames) {
        if (!frame.record) continue;
        files.insert(frame.file);
        ++recorded;
    }
    const bool whole = recorded > 0 && files.size() == recorded;  // a graph may have several records
    std::vector<std::string> counts;
    if (!whole || recorded < frames.size()) counts.push_back(plural(frames.size() - (whole ? recorded : 0), "graph"));
    if (whole) counts.push_back(plural(recorded, "record"));
    std::string text = join(counts, " and ") + ", " + plural(found.failing.size(), "distinct failure") + "\n";
    for (const auto& [file, why] : found.not_judged) text += file + ": not judged: " + why + "\n";
    if (found.failing.empty() && found.not_judged.empty())
        text += not_failing_text(request, found.judge, "never fails") + "\n";
    return text;
}

std::string to_text(const Findings::Failing& failing) {
    constexpr std::size_t kMost = 4;
    const std::filesystem::path& file = failing.smallest->file;
    std::vector<std::string> others;
    for (const std::filesystem::path& other : failing.alike)
        if (other != file) others.push_back(other.string());
    if (others.empty()) return file.string();
    return file.string() + "; " + plural(others.size(), "other file") + (others.size() == 1 ? " fails" : " fail") +
           " in the same way: " + listed(others, kMost);
}

}  // namespace whittle::reduce
