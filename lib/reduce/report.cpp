#include "reduce/report.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/words.h"
#include "graph/fields.h"

namespace whittle {

template <>
struct Fields<reduce::Size> {
    static constexpr const char* kName = "size";
    static void visit(auto& field) {
        field("calls", &reduce::Size::calls, "", Count{});
        field("inputs", &reduce::Size::inputs, "", Count{});
        field("outputs", &reduce::Size::outputs, "", Count{});
        field("elements", &reduce::Size::elements, "", Count{});
    }
};
template <>
struct Fields<reduce::ReductionReport> {
    static void visit(auto& field) {
        field("name", &reduce::ReductionReport::name, "");
        field("tried", &reduce::ReductionReport::tried,
              "Candidates that were judged; their sum and the original are the queries.");
        field("accepted", &reduce::ReductionReport::accepted, "");
        field("before", &reduce::ReductionReport::before, "");
        field("after", &reduce::ReductionReport::after, "");
    }
};
template <>
struct Fields<reduce::Flakiness> {
    static void visit(auto& field) {
        field("failures", &reduce::Flakiness::failures, "");
        field("runs", &reduce::Flakiness::runs, "");
        field("repeat", &reduce::Flakiness::repeat, "", Count{});
    }
};

template <>
struct Fields<ReleaseHistory> {
    static constexpr const char *kName = "releases",
                                *kMeaning =
                                    "Since which release of the compiler it fails, of those that are installed.";
    static void visit(auto& field) {
        field("installed", &ReleaseHistory::installed, "");
        field.maybe("last_good", &ReleaseHistory::last_good, "Absent: none of those that answer is right.");
        field("first_bad", &ReleaseHistory::first_bad, "It was run, as was the last good.");
        field.maybe("cannot_tell", &ReleaseHistory::cannot_tell,
                    "Those between the two, or before the first bad one, that cannot run it or fail otherwise.");
        field.maybe("newest", &ReleaseHistory::newest, "Of those that are newer than the one which was asked.");
        field.maybe("newest_is", &ReleaseHistory::newest_is, "\"right\", \"wrong\" or \"cannot tell\".");
    }
};

template <>
struct Fields<reduce::HistoryEntry> {
    static constexpr const char* kName = "query";
    static void visit(auto& field) {
        field("query", &reduce::HistoryEntry::query, "From 1, the original.", Count{});
        field("seconds", &reduce::HistoryEntry::seconds, "Since the search began.", Count{});
        field("pass", &reduce::HistoryEntry::pass, "The reduction that asked.");
        field(
            "verdict", [](const reduce::HistoryEntry& entry) { return reduce::name(entry.verdict); },
            "fails: as the original does; passes or unresolved.");
        field("calls", &reduce::HistoryEntry::calls, "Of the candidate.", Count{});
        field("elements", &reduce::HistoryEntry::elements, "Of it.", Count{});
    }
};

namespace reduce {
namespace {

/// A culprit as it is printed: with what is unknown, too, and the limits of a pass by their names.
struct ShownCulprit : Culprit {
    std::optional<std::string> limit(std::size_t which) const {
        return directive.empty() && together.size() == 2 ? std::optional(together[which]) : std::nullopt;
    }
    static void fields(auto& field) {
        field("component", &ShownCulprit::component, "", OneOf{"schedule switch lowering gradient pass compiler"});
        field("directive", &ShownCulprit::directive, "");
        field("together", &ShownCulprit::together, "");
        field("op", &ShownCulprit::op, "");
        field.maybe("partner", &ShownCulprit::partner, "Of a pass: another one without which it does no harm.");
        field.maybe("minimized_only", &ShownCulprit::minimized_only,
                    "With it switched off, the model that was given fails all the same.");
        field.maybe(
            "last_good", [](const ShownCulprit& culprit) { return culprit.limit(0); }, "");
        field.maybe(
            "first_bad", [](const ShownCulprit& culprit) { return culprit.limit(1); }, "");
    }
};

struct Output {
    static constexpr const char* kName = "result";
    const Minimized& result;
    const Written& written;

    std::optional<ShownCulprit> culprit() const {
        if (!result.graph.failure || !result.graph.failure->culprit) return std::nullopt;
        return ShownCulprit{*result.graph.failure->culprit};
    }

    std::optional<std::string> minimized_message() const {
        const auto& failure = result.graph.failure;
        return failure && failure->message != result.message ? std::optional(failure->message) : std::nullopt;
    }
    std::optional<std::string> graph() const {
        return result.graph.failure ? std::optional(result.graph.name) : std::nullopt;
    }

    static void fields(auto& field) {
        // A member of one of the two.
        const auto of = [](auto member) { return [member](const Output& all) { return all.result.*member; }; };
        const auto search = [](auto member) {
            return [member](const Output& all) { return all.result.search.*member; };
        };
        const auto written = [](auto member) { return [member](const Output& all) { return all.written.*member; }; };
        const auto said = [](auto member) {
            return [member](const Output& all) {
                return all.written.judgement ? (*all.written.judgement).*member
                                             : std::remove_cvref_t<decltype((*all.written.judgement).*member)>();
            };
        };
        field(
            "verdict", [](const Output& all) { return whittle::name(verdict_of(all.result, all.written)); },
            "Of the model: right, fails or not_judged.");
        field.maybe("reason", said(&Judgement::reason), "How it fails, or why it is not judged.");
        field.maybe("compared", said(&Judgement::compared), "Whose results the backend's were compared with.");
        field.maybe("agree", said(&Judgement::agree), "Where results differ: who computes the same.");
        field(
            "result", [](const Output& all) { return name(all.result.ending); },
            "minimized, not_failing, unsupported, flaky or interrupted.");
        field(
            "signature", [](const Output& all) { return all.result.signature.text(); }, "");
        field("message", of(&Minimized::message), "The failing run's own words.");
        field.maybe("minimized_message", &Output::minimized_message, "Those of the result, where it has its own.");
        field.maybe("graph", &Output::graph, "The graph that was minimized: its name in the model.");
        field("confirmed", of(&Minimized::confirmed), "The result was run again and failed alike.");
        field("calls_before", of(&Minimized::calls_before), "");
        field("calls_after", of(&Minimized::calls_after), "");
        field(
            "inputs_after", [](const Output& all) { return all.result.graph.placeholders().size(); }, "");
        field("before", of(&Minimized::before), "");
        field("after", of(&Minimized::after), "");
        field("passes", of(&Minimized::passes), "The reductions, in order.");
        field("history", of(&Minimized::history), "Every query with its answer, in order.");
        field("queries", search(&Result::queries), "Graphs that were judged, the original first.");
        field("cache_hits", search(&Result::cache_hits), "Candidates equal to one that was judged.");
        field("unresolved", search(&Result::unresolved), "Queries that gave no verdict.");
        field("from_journal", written(&Written::replayed), "Answers that an earlier run left.");
        field("fell_back", search(&Result::fell_back), "Bisection was misled, and delta debugging went on.");
        field("stored", written(&Written::stored), "The failure is the one that the file has.");
        field("one_minimal", search(&Result::one_minimal), "No single reduction goes further.");
        field("reservation", search(&Result::reservation), "Why not, or what weakens it.");
        field("seconds", of(&Minimized::seconds), "", Count{});
        field("drifted", written(&Written::drifted), "Files of other failures that were met.");
        field.maybe("output", written(&Written::output), "The file, when one was written.");
        field.maybe(
            "flaky",
            [](const Output& all) { return all.result.flaky.runs ? std::optional(all.result.flaky) : std::nullopt; },
            "");
        field.maybe("folded", written(&Written::folded), "By op: calls of the file that were computed on reading it.");
        field.maybe(
            "closeness",
            [](const Output& all) {
                return all.written.closeness ? std::optional(name(*all.written.closeness)) : std::nullopt;
            },
            "Of wrong results: rounding noise, or more.");
        field.maybe("culprit", &Output::culprit, "");
        field.maybe("releases", written(&Written::releases), "");
    }
};

/// What cli/minify.cpp prints of a model with several graphs.
struct SeveralOutputs {
    std::size_t graphs = 0;
    std::vector<Output> results = {};
    std::map<std::string, std::string> not_judged = {};
    whittle::Verdict verdict = whittle::Verdict::right;

    static void fields(auto& field) {
        field("graphs", &SeveralOutputs::graphs, "Of the model.");
        field("results", &SeveralOutputs::results, "One for each that fails.");
        field("not_judged", &SeveralOutputs::not_judged, "By file: why.");
        field(
            "verdict", [](const SeveralOutputs& all) { return whittle::name(all.verdict); }, "Of the model, as above.");
    }
};

std::string yes_or_no(bool yes, const std::string& why) {
    return std::string(yes ? "yes" : "no") + (why.empty() ? "" : ": " + why);
}

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
    return fmt::format("{}", fmt::join(parts, ", "));
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

whittle::Verdict verdict_of(const Minimized& result, const Written& written) {
    using Ending = Minimized::Ending;
    using whittle::Verdict;
    if (result.ending == Ending::not_failing || result.ending == Ending::unsupported) {
        if (written.judgement) return written.judgement->verdict;
        if (result.hidden) return Verdict::fails;
        return result.ending == Ending::unsupported ? Verdict::not_judged : Verdict::right;
    }
    return Verdict::fails;
}

nlohmann::json to_json(const Minimized& result, const Written& written) { return report_json(Output{result, written}); }

nlohmann::ordered_json minify_output_schema() {
    return report_schema<Output, SeveralOutputs>(
        "What minify --json prints",
        "Of a model with several graphs one result for each that fails. More members may be added.");
}

std::string report(const Minimized& result, const Written& written) {
    std::string text =
        "failure:    " + result.signature.text() + (written.stored ? ", as recorded in the file" : "") + '\n';
    const std::string &whole = result.message, &minimized = result.graph.failure->message;
    if (!whole.empty()) text += "            " + whole + '\n';
    if (minimized != whole) text += "            minimized: " + minimized + '\n';
    const Result& search = result.search;
    const bool complete = result.ending == Minimized::Ending::minimized;
    text += fmt::format("{}{} -> {} in {}, {:.1f} s\n", complete ? "minimized:  " : "stopped:    ", result.calls_before,
                        plural(result.calls_after, "op"), plural(search.queries, "query", "queries"), result.seconds);
    text += queries(search, written);
    if (!written.folded.empty())
        text += "folded:     " + folded_text(written.folded) +
                " of the file, computed while reading it (see --after file)\n";
    Size before = result.before;
    before.calls = result.after.calls;  // told above
    if (const std::string sizes = size_difference(before, result.after); !sizes.empty())
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
    if (written.fails_on_nothing)
        text += "            a graph that does nothing fails alike: the failure does not depend on the model\n";
    if (const auto& culprit = result.graph.failure->culprit)
        text += "guilty:     " + culprit->text() +
                (culprit->minimized_only ? "; without it, the model fails all the same" : "") + '\n';
    if (written.releases) text += "release:    " + written.releases->text() + '\n';
    if (written.closeness == Closeness::noise)
        text += "            rounding noise: as near to f64 as the reference is, a bug is unlikely\n";
    for (std::size_t i = 0; i < written.drifted.size(); ++i)
        text += "also seen:  " + result.drifted[i].failure->signature.text() +
                ", another failure: " + written.drifted[i].string() + '\n';
    return text;
}

}  // namespace reduce
}  // namespace whittle
