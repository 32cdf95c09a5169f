#include "diagnose/diagnose.h"

#include <algorithm>

#include "diagnose/bisect.h"
#include "diagnose/wrong_rule.h"
#include "graph/abilities.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"
#include "reduce/search/search.h"

namespace whittle::diagnose {
namespace {

using reduce::Set;

class CulpritFinder {
  public:
    CulpritFinder(const Graph& graph, Backend& backend, Switchable& switchable, const DiagnoseOptions& options)
        : graph_(graph), failure_(*graph.failure), backend_(backend), switchable_(switchable), options_(options) {}

    /// Valid after run().
    const Rate& rate() const { return rate_; }

    std::optional<Culprit> run() {
        const std::unique_ptr<Switchable::Inspection> inspection = switchable_.inspect(graph_, failure_.options);
        if (!inspection) return std::nullopt;
        directives_ = inspection->parts().directives;
        directive_is_ = inspection->parts().directive_is;
        // What an op gives that Whittle does not know is not needed: such a failure is not one of results.
        if (opaque_ops(graph_).empty()) expected_ = evaluate(graph_, failure_.inputs);
        Set all;
        for (std::size_t i = 0; i < directives_.size(); i++) all.push_back(static_cast<int>(i));
        measure();
        if (rate_.failed == 0) return std::nullopt;
        if (!directives_.empty() && !fails(Set{})) return directive(all);
        if (stopped()) return std::nullopt;
        std::optional<Culprit> found;
        const bool opaque = directives_.empty() && inspection->parts().passes.empty();
        const std::string& kind = failure_.signature.kind;
        // What fails to run where nothing can be switched off, a pass made so; else a compiler may have its reasons.
        if (kind == name(Outcome::Kind::mismatch) || (opaque && kind == name(Outcome::Kind::exception)))
            found = wrong_before(*inspection);
        if (found && found->component == "lowering") return found;
        for (const Switchable::Pass& pass : inspection->parts().passes) {
            const auto fails_with = [&](int most) {
                return fails(switchable_.limited(failure_.options, pass.name, most));
            };
            if (const auto limits = bisect(pass.applications, fails_with, options_.stop))
                return Culprit{.component = found ? found->component : "compiler",
                               .together = as_options(*limits, switchable_, pass.name, failure_.options),
                               .op = pass.name,
                               .partner = partner(pass.name, limits->failing, inspection->parts().passes)};
        }
        return found || opaque ? found : Culprit{"compiler", {}, {}, {}};
    }

  private:
    bool stopped() const { return options_.stop && options_.stop(); }

    /// How often it fails as recorded.
    void measure() {
        constexpr int kAlike = 2, kFlaky = 40;
        for (int runs = options_.flaky ? kFlaky : kAlike; rate_.runs < runs && !stopped();) {
            rate_.failed += fails_once(failure_.options);
            rate_.runs++;
            if (rate_.flaky()) runs = kFlaky;
        }
    }

    /// What is wrong before the directives, of as many compilations as it takes to see it. One compilation that a
    /// lowering spoilt looks like a pass that did, when each op of it is lowered once more and well; so a lowering that
    /// is seen to be wrong is the answer.
    std::optional<Culprit> wrong_before(Switchable::Inspection& first) {
        std::optional<Culprit> found = first.wrong_before(expected_);
        const int most = repeats(rate_, passed_ + 1);
        for (int i = 1; i < most && !(found && found->component == "lowering") && !stopped(); i++) {
            const auto again = switchable_.inspect(graph_, failure_.options);
            std::optional<Culprit> seen = again ? again->wrong_before(expected_) : std::nullopt;
            if (seen && (!found || seen->component == "lowering")) found = std::move(seen);
        }
        passed_ += !found;
        return found;
    }

    /// Whether it fails as recorded with these directives alone.
    bool fails(const Set& on) {
        std::vector<std::string> off;
        for (std::size_t i = 0; i < directives_.size(); i++)
            if (!std::binary_search(on.begin(), on.end(), static_cast<int>(i))) off.push_back(directives_[i].text);
        return fails(switchable_.without(failure_.options, off));
    }

    bool fails(const BackendOptions& options) {
        for (int left = repeats(rate_, passed_ + 1); left > 0 && !stopped(); left--)
            if (fails_once(options)) return true;
        passed_++;
        return false;
    }

    bool fails_once(const BackendOptions& options) {
        const Question question{.graph = graph_, .expected = expected_, .limits = options_.limits, .options = options};
        return ask_again(question, backend_, 1).again == Again::fails;
    }

    /// Another pass, without which it does not fail although the application is still there; empty: there is none.
    std::string partner(const std::string& pass, int application, const std::vector<Switchable::Pass>& passes) {
        for (const Switchable::Pass& other : passes) {
            if (other.name == pass || other.applications == 0 || stopped()) continue;
            const BackendOptions options = switchable_.limited(failure_.options, other.name, 0);
            const auto look = switchable_.inspect(graph_, options);
            const auto applied = [&](const Switchable::Pass& one) {
                return one.name == pass && one.applications >= application;
            };
            if (look && std::ranges::any_of(look->parts().passes, applied) && !fails(options)) return other.name;
        }
        return "";
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
            return set == all || fails(set) ? reduce::TestResult::fails
                                            : reduce::TestResult::passes;  // `all` is known to
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
    Rate rate_;
    int passed_ = 0;  ///< questions that were answered so
};

/// With `rate`, of the first run that fails.
std::optional<Closeness> closeness(const Graph& graph, Backend& backend, const Limits& limits, const Rate& rate) {
    const Failure& failure = *graph.failure;
    if (failure.signature.kind != name(Outcome::Kind::mismatch)) return std::nullopt;
    for (int left = runs_until_passing(rate); left > 0; left--) {
        const Outcome outcome = run_isolated(graph, failure.inputs, backend, failure.options, limits);
        if (outcome.failed()) return std::nullopt;
        if (const auto close = closeness_of(graph, failure.inputs, outcome.outputs, failure.accuracy)) return close;
    }
    return std::nullopt;
}

/// Whether the model no longer fails with the culprit switched off; nothing where it cannot be.
std::optional<bool> is_off(const Graph& model, const Culprit& culprit, Backend& backend, const Limits& limits) {
    Switchable* const switches = offered<Switchable>(backend);
    const auto options = switches ? without_culprit(culprit, *switches, model.failure->options) : std::nullopt;
    if (!options) return std::nullopt;
    const auto expected = opaque_ops(model).empty() ? evaluate(model, model.failure->inputs) : std::vector<Tensor>();
    return !still_fails({.graph = model, .expected = expected, .limits = limits, .options = options}, backend);
}

}  // namespace

std::optional<BackendOptions> without_culprit(const Culprit& culprit, const Switchable& switchable,
                                              const BackendOptions& options) {
    if (culprit.component == "switch") return switchable.without(options, {culprit.directive});
    if (!culprit.directive.empty() || culprit.together.size() != 2) return std::nullopt;
    return switchable.limited(options, culprit.op, 0);
}

Diagnosis diagnose(const Graph& graph, Backend& backend, const DiagnoseOptions& options) {
    if (!graph.failure || graph.failure->backend.empty()) return {};
    Diagnosis found;
    if (Switchable* switchable = offered<Switchable>(backend)) {
        CulpritFinder finder(graph, backend, *switchable, options);
        found.culprit = finder.run();
        found.rate = finder.rate();
    }
    if (offered<OwnGradients>(backend) && graph.failure->signature.at_gradients())
        found.culprit = wrong_rule(graph, backend, options.limits);
    found.closeness = closeness(graph, backend, options.limits, found.rate);
    if (found.closeness == Closeness::noise && found.culprit && found.culprit->directive.empty()) found.culprit.reset();
    return found;
}

void hold_against_model(const Graph& given, std::span<const Tensor> inputs, const Graph& graph, Diagnosis& found,
                        Backend& backend, const DiagnoseOptions& options) {
    if (!found.culprit) return;
    Graph model = given;
    model.failure = graph.failure;
    model.failure->inputs.assign(inputs.begin(), inputs.end());
    const auto off = [&](const Graph& of, const Culprit& culprit) {
        return is_off(of, culprit, backend, options.limits);
    };
    if (off(model, *found.culprit).value_or(true)) return;
    const std::optional<Culprit> its = diagnose(model, backend, options).culprit;
    if (its && off(model, *its).value_or(false) && off(graph, *its).value_or(false))
        found.culprit = its;
    else
        found.culprit->minimized_only = true;
}

}  // namespace whittle::diagnose
