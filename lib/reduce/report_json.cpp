#include "reduce/report.h"

#include "formats/fields.h"
#include "reduce/distinct.h"

namespace whittle {

template <>
struct Fields<diagnose::ReleaseHistory> {
    static constexpr const char *kName = "releases",
                                *kMeaning = "Which installed releases of the compiler fail, and which do not.";
    static void visit(auto& field) {
        field("installed", &diagnose::ReleaseHistory::installed, "");
        field.maybe("last_good", &diagnose::ReleaseHistory::last_good,
                    "The last release that is right; absent if none is.");
        field("first_bad", &diagnose::ReleaseHistory::first_bad,
              "The first release that fails. Both releases were run.");
        field.maybe("cannot_tell", &diagnose::ReleaseHistory::cannot_tell,
                    "Releases between last_good and first_bad, or before first_bad, that cannot run the model or fail "
                    "in another way.");
        field.maybe("newest", &diagnose::ReleaseHistory::newest,
                    "The newest of the releases that are newer than the release used.");
        field.maybe("newest_is", &diagnose::ReleaseHistory::newest_is,
                    "The verdict of the newest release: \"right\", \"wrong\" or \"cannot tell\".");
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
        field.maybe("application", &ShownCulprit::application,
                    "For a pass: the first bad application, as the compiler names it.");
        field.maybe("partner", &ShownCulprit::partner,
                    "For a pass: another pass without which this pass causes no failure.");
        field.maybe("minimized_only", &ShownCulprit::minimized_only,
                    "Whether the original model still fails with the culprit switched off.");
        field.maybe("dependents", &ShownCulprit::dependents,
                    "The directives that depend on the culprit, and are switched off with it.");
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

std::map<std::string, std::string> backend_options(const Minimized& minimized) {
    const auto& failure = minimized.smallest.graph.failure;
    return failure ? failure->options : std::map<std::string, std::string>();
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
            "The verdict on the model: right, fails or not_judged.");
        field.maybe("reason", said(&Judgement::reason), "How the backend fails, or why there is no verdict.");
        field.maybe("compared", said(&Judgement::compared), "What the backend's results were compared with.");
        field.maybe("agree", said(&Judgement::agree), "If results differ: which sources of results agree.");
        field(
            "result", [](const Minimized& all) { return name(all.ending); },
            "The kind of result: minimized, not_failing, unsupported, flaky or interrupted.");
        field(
            "signature", [](const Minimized& all) { return all.signature.text(); }, "");
        field("message", &Minimized::message, "The message of the failing run.");
        field.maybe("minimized_message", reduce::minimized_message,
                    "The message of the minimized graph, if this message differs.");
        field.maybe(
            "graph",
            [](const Minimized& all) {
                const Graph& graph = all.smallest.graph;
                return graph.failure ? std::optional(graph.name) : std::nullopt;
            },
            "The name of the minimized graph in the model.");
        field("confirmed", &Minimized::confirmed, "Whether the result was run again and failed in the same way.");
        field(
            "calls_before", [](const Minimized& all) { return all.before.calls; }, "");
        field(
            "calls_after", [](const Minimized& all) { return all.after.calls; }, "");
        field(
            "inputs_after", [](const Minimized& all) { return all.smallest.graph.placeholders().size(); }, "");
        field("before", &Minimized::before, "");
        field("after", &Minimized::after, "");
        field("passes", &Minimized::passes, "The reductions in the order in which they ran.");
        field("history", &Minimized::history, "All queries with their answers, in order.");
        field("queries", search(&reduce::Result::queries), "The number of graphs judged, including the original.");
        field("cache_hits", search(&reduce::Result::cache_hits),
              "The number of candidates that equal an earlier candidate.");
        field("unresolved", search(&reduce::Result::unresolved), "The number of queries without a verdict.");
        field("from_journal", &Minimized::replayed, "The number of answers reused from an earlier run.");
        field("fell_back", search(&reduce::Result::fell_back),
              "Whether bisection failed and delta debugging finished the search.");
        field("stored", &Minimized::stored, "Whether this failure is the failure that the file stores.");
        field("one_minimal", search(&reduce::Result::one_minimal), "Whether no single further reduction fails.");
        field("reservation", search(&reduce::Result::reservation),
              "Why the result is not 1-minimal, or why this is uncertain.");
        field("seconds", &Minimized::seconds, "", Count{});
        field("drifted", &Minimized::drifted_files, "Files of other failures that the search found.");
        field.maybe("output", &Minimized::output, "The file that was written, if any.");
        field.maybe(
            "flaky", [](const Minimized& all) { return all.flaky.runs ? std::optional(all.flaky) : std::nullopt; }, "");
        field.maybe("folded", &Minimized::folded,
                    "The number of calls that were computed while reading the file, by op.");
        field.maybe(
            "closeness",
            [](const Minimized& all) { return all.closeness ? std::optional(name(*all.closeness)) : std::nullopt; },
            "For wrong results: whether the error is rounding noise or more.");
        field.maybe("culprit", reduce::culprit, "");
        field.maybe("options", reduce::backend_options,
                    "The backend options with which the result fails and the culprit was found.");
        field.maybe("releases", &Minimized::releases, "");
    }
};

template <>
struct Fields<reduce::MinimizedModel> {
    static void visit(auto& field) {
        field("graphs", &reduce::MinimizedModel::graphs, "The number of graphs of the model.");
        field("results", &reduce::MinimizedModel::results, "The results, one per graph that fails.");
        field("not_judged", &reduce::MinimizedModel::not_judged, "Why a graph has no verdict, by file.");
        field(
            "verdict", [](const reduce::MinimizedModel& all) { return name(all.verdict()); },
            "The verdict on the model, as in a single result.");
    }
};

template <>
struct Fields<reduce::Bug> {
    using Bug = reduce::Bug;
    static constexpr const char* kName = "bug";
    static void visit(auto& field) {
        const auto smallest = [](auto member) { return [member](const Bug& bug) { return bug.smallest.*member; }; };
        field("signature", smallest(&reduce::OneFailure::signature), "How the models fail.");
        field("message", smallest(&reduce::OneFailure::message),
              "The message of the model that was minimized furthest.");
        field("minimized", smallest(&reduce::OneFailure::minimized), "Whether the search was complete.");
        field("ops", smallest(&reduce::OneFailure::ops), "The number of ops of the minimized graph.", Count{});
        field("model", &Bug::model, "The model that was minimized furthest.");
        field("output", smallest(&reduce::OneFailure::output),
              "The minimized graph of this model; empty if there is none.");
        field("culprit", smallest(&reduce::OneFailure::culprit), "The culprit, if one was found.");
        field("models", &Bug::models, "All models with this bug.");
    }
};

template <>
struct Fields<reduce::ManyModels> {
    using ManyModels = reduce::ManyModels;
    static void visit(auto& field) {
        field("models", &ManyModels::models, "The number of models of the folder.", Count{});
        field("failing", &ManyModels::failing, "", Count{});
        field("right", &ManyModels::right, "", Count{});
        field("open", &ManyModels::open, "The number of models that were not reached.", Count{});
        field("bugs", &ManyModels::bugs, "The distinct bugs: the bugs of the most models first.");
        field("not_judged", &ManyModels::not_judged, "Why a model has no verdict, by model.");
        field("errors", &ManyModels::errors, "Why a model could not be read or run, by model.");
    }
};

namespace reduce {

nlohmann::json to_json(const Minimized& minimized) { return report_json(minimized); }

nlohmann::json to_json(const MinimizedModel& model) {
    return model.graphs == 1 ? report_json(model.results.at(0)) : report_json(model);
}

nlohmann::json to_json(const ManyModels& all) { return report_json(all); }

nlohmann::ordered_json minify_output_schema() {
    return report_schema<Minimized, MinimizedModel, ManyModels>(
        "What minify --json prints",
        "The result; for a model with several graphs, one result per graph that fails; for a folder of models, the "
        "distinct bugs. More members may be added.");
}

}  // namespace reduce
}  // namespace whittle
