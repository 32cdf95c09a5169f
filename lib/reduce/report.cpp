#include "reduce/report.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/words.h"

namespace whittle::reduce {
namespace {

nlohmann::json to_json(const Size& size) {
    return {{"calls", size.calls}, {"inputs", size.inputs}, {"outputs", size.outputs}, {"elements", size.elements}};
}

std::string yes_or_no(bool yes, const std::string& why) {
    return std::string(yes ? "yes" : "no") + (why.empty() ? "" : ": " + why);
}

/// What the reduction changed: "65 ops -> 1 op, 12 elements -> 3 elements".
std::string difference(const Size& before, const Size& after) {
    std::vector<std::string> parts;
    const auto add = [&](auto a, auto b, const char* one) {
        if (a != b) parts.push_back(fmt::format("{} -> {}", a, plural(b, one)));
    };
    add(before.calls, after.calls, "op");
    add(before.inputs, after.inputs, "input");
    add(before.outputs, after.outputs, "output");
    add(before.elements, after.elements, "element");
    return fmt::format("{}", fmt::join(parts, ", "));
}

/// One line for each reduction that asked anything.
std::string passes(const std::vector<ReductionReport>& passes) {
    std::string text, head = "reductions: ";
    for (const ReductionReport& pass : passes) {
        if (pass.tried == 0 && pass.accepted == 0) continue;
        const std::string changed = difference(pass.before, pass.after);
        text += fmt::format("{:<12}{:<10} {} tried, {} accepted{}\n", head, pass.name, pass.tried, pass.accepted,
                            changed.empty() ? "" : ": " + changed);
        head.clear();
    }
    return text;
}

/// What the queries were: "the original and 24 candidates, 2 of them unresolved …".
std::string queries(const Result& search, const Written& written) {
    if (search.queries <= 1) return {};
    std::string text = "            the original and " + plural(search.queries - 1, "candidate");
    if (search.unresolved) text += fmt::format(", {} of them unresolved", search.unresolved);
    if (written.replayed) text += fmt::format("; {} answered by the journal", written.replayed);
    return text + '\n';
}

}  // namespace

std::string folded_text(const std::map<std::string, std::size_t>& folded) {
    std::size_t total = 0;
    std::vector<std::string> ops;
    for (const auto& [op, number] : folded) total += number, ops.push_back(fmt::format("{} {}", op, number));
    return fmt::format("{} ({})", plural(total, "op"), fmt::join(ops, ", "));
}

nlohmann::json to_json(const Minimized& result, const Written& written) {
    nlohmann::json passes = nlohmann::json::array();
    for (const ReductionReport& pass : result.passes)
        passes.push_back({{"name", pass.name},
                          {"tried", pass.tried},
                          {"accepted", pass.accepted},
                          {"before", to_json(pass.before)},
                          {"after", to_json(pass.after)}});
    nlohmann::json json = {{"verdict", name(result.verdict)},
                           {"signature", result.signature.text()},
                           {"message", result.message},
                           {"confirmed", result.confirmed},
                           {"calls_before", result.calls_before},
                           {"calls_after", result.calls_after},
                           {"inputs_after", result.graph.placeholders().size()},
                           {"before", to_json(result.before)},
                           {"after", to_json(result.after)},
                           {"passes", passes},
                           {"queries", result.search.queries},
                           {"cache_hits", result.search.cache_hits},
                           {"unresolved", result.search.unresolved},
                           {"from_journal", written.replayed},
                           {"fell_back", result.search.fell_back},
                           {"stored", written.stored},
                           {"one_minimal", result.search.one_minimal},
                           {"reservation", result.search.reservation},
                           {"seconds", result.seconds},
                           {"drifted", written.drifted}};
    if (!written.output.empty()) json["output"] = written.output.string();
    if (result.flaky.runs)
        json["flaky"] = {
            {"failures", result.flaky.failures}, {"runs", result.flaky.runs}, {"repeat", result.flaky.repeat}};
    if (!written.folded.empty()) json["folded"] = written.folded;
    if (written.closeness) json["closeness"] = name(*written.closeness);
    if (result.graph.failure && result.graph.failure->culprit) {
        const Culprit& culprit = *result.graph.failure->culprit;
        json["culprit"] = {{"component", culprit.component},
                           {"directive", culprit.directive},
                           {"together", culprit.together},
                           {"op", culprit.op}};
        if (culprit.directive.empty() && culprit.together.size() == 2) {
            json["culprit"]["last_good"] = culprit.together[0];
            json["culprit"]["first_bad"] = culprit.together[1];
        }
    }
    return json;
}

std::string report(const Minimized& result, const Written& written) {
    std::string text =
        "failure:    " + result.signature.text() + (written.stored ? ", as recorded in the file" : "") + '\n';
    const std::string &whole = result.message, &minimized = result.graph.failure->message;
    if (!whole.empty()) text += "            " + whole + '\n';
    if (minimized != whole) text += "            minimized: " + minimized + '\n';
    const Result& search = result.search;
    const bool complete = result.verdict == Minimized::Verdict::minimized;
    text += fmt::format("{}{} -> {} in {}, {:.1f} s\n", complete ? "minimized:  " : "stopped:    ", result.calls_before,
                        plural(result.calls_after, "op"), plural(search.queries, "query", "queries"), result.seconds);
    text += queries(search, written);
    if (!written.folded.empty())
        text +=
            "folded:     " + folded_text(written.folded) + " of the file, computed while reading it (see --no-fold)\n";
    Size before = result.before;
    before.calls = result.after.calls;  // told above
    if (const std::string sizes = difference(before, result.after); !sizes.empty())
        text += "sizes:      " + sizes + '\n';
    text += passes(result.passes);
    if (result.flaky.runs)
        text += fmt::format(
            "flaky:      the original fails like this in {} of {} runs; candidates that pass were run {} times\n",
            result.flaky.failures, result.flaky.runs, result.flaky.repeat);
    if (search.fell_back)
        text +=
            "            bisection was misled, by answers that are missing or not monotone: delta debugging went on\n";
    text += "1-minimal:  " + yes_or_no(search.one_minimal, search.reservation) + '\n';
    if (complete)
        text += "confirmed:  " +
                std::string(result.confirmed ? "yes: run again, the result fails alike"
                                             : "no: run again, the result ended otherwise") +
                '\n';
    if (const auto& culprit = result.graph.failure->culprit) text += "guilty:     " + culprit->text() + '\n';
    if (written.closeness == Closeness::noise)
        text += "            rounding noise: as near to f64 as the reference is, a bug is unlikely\n";
    for (std::size_t i = 0; i < written.drifted.size(); ++i)
        text += "also seen:  " + result.drifted[i].failure->signature.text() +
                ", another failure: " + written.drifted[i].string() + '\n';
    return text;
}

}  // namespace whittle::reduce
