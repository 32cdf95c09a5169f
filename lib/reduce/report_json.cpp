#include "reduce/report.h"

#include "graph/fields.h"

namespace whittle {

template <>
struct Fields<diagnose::ReleaseHistory> {
    static constexpr const char *kName = "releases",
                                *kMeaning =
                                    "The first release of the compiler that fails, of those that are installed.";
    static void visit(auto& field) {
        field("installed", &diagnose::ReleaseHistory::installed, "");
        field.maybe("last_good", &diagnose::ReleaseHistory::last_good,
                    "Absent: no release that gives an answer is right.");
        field("first_bad", &diagnose::ReleaseHistory::first_bad, "Both were run.");
        field.maybe(
            "cannot_tell", &diagnose::ReleaseHistory::cannot_tell,
            "Releases between the two, or before the first bad one, that cannot run it or fail in another way.");
        field.maybe("newest", &diagnose::ReleaseHistory::newest,
                    "The newest release, where it is newer than the one that was tested.");
        field.maybe("newest_is", &diagnose::ReleaseHistory::newest_is, "\"right\", \"wrong\" or \"cannot tell\".");
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
        field.maybe("partner", &ShownCulprit::partner, "Of a pass: another pass, without which it does no harm.");
        field.maybe("minimized_only", &ShownCulprit::minimized_only,
                    "The original model fails even with it switched off.");
        field.maybe(
            "last_good", [](const ShownCulprit& culprit) { return culprit.limit(0); }, "");
        field.maybe(
            "first_bad", [](const ShownCulprit& culprit) { return culprit.limit(1); }, "");
    }
};

std::optional<std::string> minimized_message(const Minimized& minimized) {
    const auto& failure = minimized.smallest.graph.failure;
    return failure && failure->message != minimized.message ? std::optional(failure->message) : std::nullopt;
}

std::optional<ShownCulprit> culprit(const Minimized& minimized) {
    const auto& failure = minimized.smallest.graph.failure;
    return failure && failure->culprit ? std::optional(ShownCulprit{*failure->culprit}) : std::nullopt;
}

}  // namespace
}  // namespace reduce

template <>
struct Fields<reduce::Minimized> {
    using Minimized = reduce::Minimized;
    static constexpr const char* kName = "result";
    static void visit(auto& field) {
        const auto search = [](auto member) { return [member](const Minimized& all) { return all.search.*member; }; };
        const auto said = [](auto member) {
            return [member](const Minimized& all) { return all.judgement.value_or(Judgement()).*member; };
        };
        field(
            "verdict", [](const Minimized& all) { return name(all.verdict()); },
            "Of the model: right, fails or not_judged.");
        field.maybe("reason", said(&Judgement::reason), "How it fails, or why it is not judged.");
        field.maybe("compared", said(&Judgement::compared), "What the backend's results were compared with.");
        field.maybe("agree", said(&Judgement::agree),
                    "Where results differ: the backends and files, grouped by equal results.");
        field(
            "result", [](const Minimized& all) { return name(all.ending); },
            "minimized, not_failing, unsupported, flaky or interrupted.");
        field(
            "signature", [](const Minimized& all) { return all.signature.text(); }, "");
        field("message", &Minimized::message, "The message of the failing run.");
        field.maybe("minimized_message", reduce::minimized_message, "The message of the result, where it differs.");
        field.maybe(
            "graph",
            [](const Minimized& all) {
                const Graph& graph = all.smallest.graph;
                return graph.failure ? std::optional(graph.name) : std::nullopt;
            },
            "The graph that was minimized: its name in the model.");
        field("confirmed", &Minimized::confirmed, "The result was run again and failed in the same way.");
        field(
            "calls_before", [](const Minimized& all) { return all.before.calls; }, "");
        field(
            "calls_after", [](const Minimized& all) { return all.after.calls; }, "");
        field(
            "inputs_after", [](const Minimized& all) { return all.smallest.graph.placeholders().size(); }, "");
        field("before", &Minimized::before, "");
        field("after", &Minimized::after, "");
        field("passes", &Minimized::passes, "The reductions, in order.");
        field("history", &Minimized::history, "Every query with its answer, in order.");
        field("queries", search(&reduce::Result::queries), "Graphs that were judged, the original first.");
        field("cache_hits", search(&reduce::Result::cache_hits), "Candidates equal to an earlier one.");
        field("unresolved", search(&reduce::Result::unresolved), "Queries that gave no verdict.");
        field("from_journal", &Minimized::replayed, "Answers from the journal of an earlier run.");
        field("fell_back", search(&reduce::Result::fell_back),
              "Bisection failed, and delta debugging finished the search.");
        field("stored", &Minimized::stored, "The failure is the one recorded in the file.");
        field("one_minimal", search(&reduce::Result::one_minimal), "No single reduction goes further.");
        field("reservation", search(&reduce::Result::reservation), "Why not, or what limits that claim.");
        field("seconds", &Minimized::seconds, "", Count{});
        field("drifted", &Minimized::drifted_files, "Files with other failures that were found.");
        field.maybe("output", &Minimized::output, "The file, when one was written.");
        field.maybe(
            "flaky", [](const Minimized& all) { return all.flaky.runs ? std::optional(all.flaky) : std::nullopt; }, "");
        field.maybe("folded", &Minimized::folded, "By op: calls that were computed while the file was read.");
        field.maybe(
            "closeness",
            [](const Minimized& all) { return all.closeness ? std::optional(name(*all.closeness)) : std::nullopt; },
            "Of wrong results: rounding noise, or more.");
        field.maybe("culprit", reduce::culprit, "");
        field.maybe("releases", &Minimized::releases, "");
    }
};

template <>
struct Fields<reduce::MinimizedModel> {
    static void visit(auto& field) {
        field("graphs", &reduce::MinimizedModel::graphs, "Of the model.");
        field("results", &reduce::MinimizedModel::results, "One for each that fails.");
        field("not_judged", &reduce::MinimizedModel::not_judged, "By file: why.");
        field(
            "verdict", [](const reduce::MinimizedModel& all) { return name(all.verdict()); },
            "Of the model, as above.");
    }
};

namespace reduce {

nlohmann::json to_json(const Minimized& minimized) { return report_json(minimized); }

nlohmann::json to_json(const MinimizedModel& model) {
    return model.graphs == 1 ? report_json(model.results.at(0)) : report_json(model);
}

nlohmann::ordered_json minify_output_schema() {
    return report_schema<Minimized, MinimizedModel>(
        "What minify --json prints",
        "Of a model with several graphs one result for each that fails. More members may be added.");
}

}  // namespace reduce
}  // namespace whittle
