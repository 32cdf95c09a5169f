#include "reduce/culprit.h"

#include <algorithm>

#include "graph/abilities.h"
#include "ops/core/interpreter.h"
#include "reduce/oracle.h"
#include "reduce/search.h"

namespace whittle::reduce {
namespace {

class CulpritFinder {
  public:
    CulpritFinder(const Graph& graph, Backend& backend, Switchable& switchable, const CulpritOptions& options)
        : graph_(graph), failure_(*graph.failure), backend_(backend), switchable_(switchable), options_(options) {}

    std::optional<Culprit> run() {
        const std::unique_ptr<Switchable::Inspection> inspection = switchable_.inspect(graph_, failure_.options);
        if (!inspection) return std::nullopt;
        directives_ = inspection->parts().directives;
        expected_ = evaluate(graph_, failure_.inputs);
        Set all;
        for (std::size_t i = 0; i < directives_.size(); i++) all.push_back(static_cast<int>(i));
        if (!fails(all)) return std::nullopt;
        if (!directives_.empty() && !fails(Set{})) return directive(all);
        if (stopped()) return std::nullopt;
        std::optional<Culprit> found;
        if (failure_.signature.kind == name(Outcome::Kind::mismatch)) found = inspection->wrong_before(expected_);
        if (found && found->component == "lowering") return found;
        for (const Switchable::Pass& pass : inspection->parts().passes)
            if (std::vector<std::string> limits = first_failing(pass); !limits.empty())
                return Culprit{found ? found->component : "compiler", {}, std::move(limits), pass.name};
        return found ? found : Culprit{"compiler", {}, {}, {}};
    }

  private:
    bool stopped() const { return options_.stop && options_.stop(); }

    /// The last good and the first bad limit of the pass, as backend options; none when it fails without the pass too.
    std::vector<std::string> first_failing(const Switchable::Pass& pass) {
        const auto fails_with = [&](int most) { return fails(switchable_.limited(failure_.options, pass.name, most)); };
        int passing = 0, failing = pass.applications;
        if (failing <= 0 || fails_with(0)) return {};
        while (failing - passing > 1 && !stopped()) {
            const int middle = passing + (failing - passing) / 2;
            (fails_with(middle) ? failing : passing) = middle;
        }
        const auto option = [&](int most) {
            std::string text;
            for (const auto& [key, value] : switchable_.limited({}, pass.name, most))
                text += (text.empty() ? "" : " ") + key + "=" + value;
            return text;
        };
        return {option(passing), option(failing)};
    }

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
        Problem problem;
        problem.count = static_cast<int>(directives_.size());
        problem.legal = [this](const Set& wish) { return legal(wish); };
        problem.test = [&](const Set& set) {
            return set == all || fails(set) ? Verdict::fails : Verdict::passes;  // `all` is known to
        };
        const Result found = search(problem, {.stop = options_.stop});
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
        Culprit culprit{"schedule", directives_[static_cast<std::size_t>(guilty)].text, {}, {}};
        for (const int item : found.kept)
            if (item != guilty) culprit.together.push_back(directives_[static_cast<std::size_t>(item)].text);
        return culprit;
    }

    const Graph& graph_;
    const Failure& failure_;
    Backend& backend_;
    Switchable& switchable_;
    const CulpritOptions& options_;
    std::vector<Tensor> expected_;
    std::vector<Switchable::Directive> directives_;
};

}  // namespace

std::optional<Culprit> find_culprit(const Graph& graph, Backend& backend, const CulpritOptions& options) {
    Switchable* switchable = offered<Switchable>(backend);
    if (!graph.failure || graph.failure->backend.empty() || !switchable) return std::nullopt;
    return CulpritFinder(graph, backend, *switchable, options).run();
}

}  // namespace whittle::reduce
