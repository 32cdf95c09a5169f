#include "debug/diagnose.h"

#include <algorithm>

#include "debug/bisect.h"
#include "graph/abilities.h"
#include "ops/core/interpreter.h"
#include "reduce/search.h"

namespace whittle::debug {
namespace {

using reduce::Set;

class CulpritFinder {
  public:
    CulpritFinder(const Graph& graph, Backend& backend, Switchable& switchable, const DiagnoseOptions& options)
        : graph_(graph), failure_(*graph.failure), backend_(backend), switchable_(switchable), options_(options) {}

    std::optional<Culprit> run() {
        const std::unique_ptr<Switchable::Inspection> inspection = switchable_.inspect(graph_, failure_.options);
        if (!inspection) return std::nullopt;
        directives_ = inspection->parts().directives;
        directive_is_ = inspection->parts().directive_is;
        expected_ = evaluate(graph_, failure_.inputs);
        Set all;
        for (std::size_t i = 0; i < directives_.size(); i++) all.push_back(static_cast<int>(i));
        if (!fails(all)) return std::nullopt;
        if (!directives_.empty() && !fails(Set{})) return directive(all);
        if (stopped()) return std::nullopt;
        std::optional<Culprit> found;
        if (failure_.signature.kind == name(Outcome::Kind::mismatch)) found = inspection->wrong_before(expected_);
        if (found && found->component == "lowering") return found;
        for (const Switchable::Pass& pass : inspection->parts().passes) {
            const auto fails_with = [&](int most) {
                return fails(switchable_.limited(failure_.options, pass.name, most));
            };
            if (const auto limits = bisect(pass.applications, fails_with, options_.stop))
                return Culprit{
                    found ? found->component : "compiler", {}, as_options(*limits, switchable_, pass.name), pass.name};
        }
        return found ? found : Culprit{"compiler", {}, {}, {}};
    }

  private:
    bool stopped() const { return options_.stop && options_.stop(); }

    /// Whether it fails as recorded with these directives alone.
    bool fails(const Set& on) {
        std::vector<std::string> off;
        for (std::size_t i = 0; i < directives_.size(); i++)
            if (!std::binary_search(on.begin(), on.end(), static_cast<int>(i))) off.push_back(directives_[i].text);
        return fails(switchable_.without(failure_.options, off));
    }

    bool fails(const BackendOptions& options) {
        Suspect suspect = suspect_of(failure_, options_.limits);
        suspect.options = options;
        const Outcome outcome = query(graph_, failure_.inputs, expected_, backend_, suspect);
        return outcome.is_failure() && signature_of(outcome) == failure_.signature;
    }

    /// Directives whose prerequisites are there too.
    Set legal(const Set& wish) const {
        Set set;
        for (const int item : wish) {
            const std::vector<int>& needs = directives_[static_cast<std::size_t>(item)].needs;
            if (std::all_of(needs.begin(), needs.end(),
                            [&](int other) { return std::binary_search(set.begin(), set.end(), other); }))
                set.push_back(item);
        }
        return set;
    }

    std::optional<Culprit> directive(const Set& all) {
        reduce::Problem problem;
        problem.count = static_cast<int>(directives_.size());
        problem.legal = [this](const Set& wish) { return legal(wish); };
        problem.test = [&](const Set& set) {
            return set == all || fails(set) ? reduce::Verdict::fails : reduce::Verdict::passes;  // `all` is known to
        };
        const reduce::Result found = reduce::search(problem, {.stop = options_.stop});
        if (!found.finished || found.kept.empty()) return std::nullopt;
        // The one that is enough to switch off; the last of the fewest builds on the others.
        int guilty = found.kept.back();
        for (std::size_t i = found.kept.size(); i-- > 0;) {
            Set others = all;
            std::erase(others, found.kept[i]);
            if (fails(legal(others))) continue;
            guilty = found.kept[i];
            break;
        }
        Culprit culprit{directive_is_.empty() ? "schedule" : "switch",
                        directives_[static_cast<std::size_t>(guilty)].text,
                        {},
                        directive_is_};
        for (const int item : found.kept)
            if (item != guilty) culprit.together.push_back(directives_[static_cast<std::size_t>(item)].text);
        return culprit;
    }

    const Graph& graph_;
    const Failure& failure_;
    Backend& backend_;
    Switchable& switchable_;
    const DiagnoseOptions& options_;
    std::vector<Tensor> expected_;
    std::vector<Switchable::Directive> directives_;
    std::string directive_is_;
};

std::optional<Culprit> culprit_of(const Graph& graph, Backend& backend, const DiagnoseOptions& options) {
    Switchable* switchable = offered<Switchable>(backend);
    if (!switchable) return std::nullopt;
    return CulpritFinder(graph, backend, *switchable, options).run();
}

std::optional<Closeness> closeness(const Graph& graph, Backend& backend, const Limits& limits) {
    const Failure& failure = *graph.failure;
    if (failure.signature.kind != name(Outcome::Kind::mismatch)) return std::nullopt;
    const Outcome outcome = run_isolated(graph, failure.inputs, backend, failure.options, limits);
    if (outcome.failed()) return std::nullopt;
    return closeness_of(graph, failure.inputs, outcome.outputs, failure.accuracy);
}

}  // namespace

Diagnosis diagnose(const Graph& graph, Backend& backend, const DiagnoseOptions& options) {
    if (!graph.failure || graph.failure->backend.empty()) return {};
    Diagnosis found{.culprit = culprit_of(graph, backend, options),
                    .closeness = closeness(graph, backend, options.limits)};
    if (found.closeness == Closeness::noise && found.culprit && found.culprit->directive.empty()) found.culprit.reset();
    return found;
}

}  // namespace whittle::debug
