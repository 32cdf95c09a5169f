#include "diagnose/diagnose.h"

#include <algorithm>

#include "backends/registry.h"
#include "base/error.h"
#include "base/interrupt.h"
#include "base/log.h"
#include "compile/gradients.h"
#include "compile/program.h"
#include "diagnose/asker.h"
#include "diagnose/compiled.h"
#include "graph/value_ref.h"
#include "ops/core/recorder.h"
#include "passes/no_grad.h"
#include "reduce/search/search.h"

namespace whittle::diagnose {

namespace {

/// A call alone on its values, as failing as the graph. All of its operands that can have a gradient want one; what it
/// reads twice is read twice, by its rule and not by who adds gradients up.
Graph alone(const Graph& functional, NodeId id, const std::map<ValueRef, Tensor>& values, const Failure& failure) {
    Graph made = blank_graph(functional, functional.name);
    std::vector<Tensor> inputs;
    const NodeRef result = made.add(map_inputs(functional.node({id}), [&](NodeRef ref) {
        const Node& operand = functional.node(ref);
        inputs.push_back(values.at(value_of(functional, ref)).with_requires_grad(is_floating(operand.meta().dtype)));
        return Arg(made.placeholder(operand.name, ValueMeta::of(inputs.back())));
    }));
    made.output(add_results(made, result));
    made = with_gradients_told(std::move(made));
    made.failure = failure;
    made.failure->inputs = std::move(inputs);
    return made;
}

}  // namespace

std::optional<Culprit> wrong_rule(Asker& asker) {
    const auto made = program::differentiate(asker.graph());
    if (!made || !made->refused.empty()) return std::nullopt;
    Graph captured = asker.graph();
    captured.failure.reset();
    program::CompiledProgram program(std::move(captured));
    const Graph& functional = program.graph(CompileStage::functional);
    Recorder reference(functional);
    reference.run(functional, asker.failure().inputs);
    std::vector<NodeId> calls = functional.calls();
    std::ranges::reverse(calls);
    for (const NodeId id : calls) {
        const Node& call = functional.node({id});
        if (is_getitem(call)) continue;
        std::vector<Tensor> outputs;
        for (int i = 0; i < static_cast<int>(call.results.size()); ++i) outputs.push_back(reference.values.at({id, i}));
        try {
            const Answer said = asker.ask(alone(functional, id, reference.values, asker.failure()), outputs);
            if (said.again == Again::fails && said.outcome.failed_at_gradients())
                return Culprit{"gradient", {}, {}, call.target};
        } catch (const Error&) {  // it cannot be judged alone
        }
    }
    return Culprit{"pass", {}, {}, std::string(name(PassId::joint))};
}

namespace {

using Pass = Switchable::Pass;
using reduce::Set;

/// Among the parts that a backend's own options switch off or limit.
class CulpritSearch {
  public:
    CulpritSearch(const Graph& graph, Backend& backend, Switchable& switchable, const DiagnoseOptions& options)
        : asker_(graph, backend, options.limits, options.stop),
          failure_(*graph.failure),
          switchable_(switchable),
          inspection_(switchable.inspect(graph, failure_.options)) {
        if (inspection_) parts_ = inspection_->parts();
        for (std::size_t i = 0; i < parts_.directives.size(); i++) all_.push_back(static_cast<int>(i));
    }

    std::optional<Culprit> culprit(Rate& rate) {
        if (!inspection_) return std::nullopt;
        rate = asker_.measure();
        if (rate.failed == 0) return std::nullopt;
        if (auto found = directive()) return found;
        const bool opaque = parts_.directives.empty() && parts_.passes.empty();
        const std::string& kind = failure_.signature.kind;
        std::optional<Culprit> before;
        // What fails to run where nothing can be switched off, a pass made so; else a compiler may have its reasons.
        if (kind == name(Outcome::Kind::mismatch) || (opaque && kind == name(Outcome::Kind::exception)))
            before = wrong_before();
        if (before && before->component == "lowering") return before;
        for (const Pass& pass : parts_.passes)
            if (const auto limits = culprit_application(pass))
                return Culprit{.component = before ? before->component : "compiler",
                               .together = {added(limited(pass, limits->right)), added(limited(pass, limits->fails))},
                               .op = pass.name,
                               .application = application(pass, limits->fails),
                               .partner = partner(pass, limits->fails)};
        return before || opaque ? before : Culprit{"compiler", {}, {}, {}};
    }

    Blame blame() {
        Blame blame;
        // What has schedules is asked about by minify, one directive at a time.
        if (!inspection_ || parts_.directive_is.empty()) return blame;
        for (const Pass& pass : parts_.passes)
            if (find_level(pass, blame)) break;
        if (!blame.level.empty() && blame.passes_to < 0) return blame;  // wrong with all of it switched off
        const std::optional<Culprit> culprit = failure_.culprit ? failure_.culprit : directive();
        if (!culprit || culprit->component != "switch") return blame;
        const Asker::Asked& alone = asker_.ask(without({culprit->directive}));
        if (alone.again == Again::right) blame.off = culprit->directive, blame.exact = alone.exact;
        return blame;
    }

  private:
    BackendOptions limited(const Pass& pass, int most) const {
        return switchable_.limited(failure_.options, pass.name, most);
    }
    BackendOptions without(const std::vector<std::string>& directives) const {
        return switchable_.without(failure_.options, directives);
    }
    const std::string& text(int directive) const { return parts_.directives[static_cast<std::size_t>(directive)].text; }

    /// What the options have beside the failure's, as they are typed: "pass-limit=fuse=1".
    std::string added(const BackendOptions& options) const {
        std::string text;
        for (const auto& [key, value] : options) {
            const auto given = failure_.options.find(key);
            if (given != failure_.options.end() && given->second == value) continue;
            text += (text.empty() ? "" : " ") + key + "=" + value;
        }
        return text;
    }

    // ---- directives and switches

    /// Whether it fails with these directives alone.
    bool fails_with(const Set& on) {
        std::vector<std::string> off;
        for (const int item : all_)
            if (!std::ranges::binary_search(on, item)) off.push_back(text(item));
        return asker_.fails(without(off));
    }

    /// Directives whose prerequisites are there too.
    Set legal(const Set& wish) const {
        Set set;
        for (const int item : wish)
            if (std::ranges::all_of(parts_.directives[static_cast<std::size_t>(item)].needs,
                                    [&](int other) { return std::ranges::binary_search(set, other); }))
                set.push_back(item);
        return set;
    }

    /// Nothing where it fails without any.
    std::optional<Culprit> directive() {
        if (all_.empty() || fails_with({})) return std::nullopt;
        reduce::Problem problem;
        problem.count = static_cast<int>(all_.size());
        problem.legal = [this](const Set& wish) { return legal(wish); };
        problem.test = [this](const Set& set) {
            return set == all_ || fails_with(set) ? reduce::TestResult::fails : reduce::TestResult::passes;
        };
        const Set kept = reduce::search(problem, {}).kept;
        if (kept.empty()) return std::nullopt;
        const auto left_without = [&](int item) {
            Set others = all_;
            std::erase(others, item);
            return legal(others);
        };
        // The one that is enough to switch off; the last of the fewest builds on the others.
        const auto enough =
            std::find_if(kept.rbegin(), kept.rend(), [&](int item) { return !fails_with(left_without(item)); });
        const int decisive = enough == kept.rend() ? kept.back() : *enough;
        Culprit culprit{parts_.directive_is.empty() ? "schedule" : "switch", text(decisive), {}, parts_.directive_is};
        for (const int item : kept)
            if (item != decisive) culprit.together.push_back(text(item));
        const Set left = left_without(decisive);
        for (const int item : all_)
            if (item != decisive && !std::ranges::binary_search(left, item)) culprit.dependents.push_back(text(item));
        return culprit;
    }

    // ---- passes and levels

    /// With at most how many applications of the pass it begins to fail.
    Begin begin(const Pass& pass, int failing) {
        return begin_of_failure(static_cast<std::size_t>(failing), [&](std::size_t most) {
            return asker_.ask(limited(pass, static_cast<int>(most))).again;
        });
    }

    /// As the failure's culprit says; nothing where that is something else.
    std::optional<Begin> recorded_begin(const Pass& pass) const {
        const std::optional<Culprit>& culprit = failure_.culprit;
        if (!culprit || !culprit->directive.empty() || culprit->op != pass.name || culprit->together.size() != 2)
            return std::nullopt;
        Begin found;
        for (int most = 0; most <= pass.applications; ++most) {
            const std::string text = added(limited(pass, most));
            const auto number = static_cast<std::size_t>(most);
            if (text == culprit->together[1]) return found.fails = number, found;
            if (text == culprit->together[0])
                found.right = number;
            else if (found.right)
                found.silent.push_back(number);  // between the two
        }
        return std::nullopt;
    }

    static std::string application(const Pass& pass, int number) {
        const auto at = static_cast<std::size_t>(number - 1);
        return at < pass.each.size() ? pass.each[at] : "";
    }

    struct PassLimits {
        int right, fails;
    };
    /// Nothing where it fails without the pass.
    std::optional<PassLimits> culprit_application(const Pass& pass) {
        if (pass.applications == 0 || asker_.fails(limited(pass, 0))) return std::nullopt;
        const Begin found = begin(pass, pass.applications);
        if (!found.right) return std::nullopt;
        return PassLimits{static_cast<int>(*found.right), static_cast<int>(found.fails)};
    }

    /// False: the pass decides nothing that a number tells.
    bool find_level(const Pass& pass, Blame& blame) {
        constexpr int kMostLevels = 16;
        const std::optional<Begin> known = recorded_begin(pass);
        if (!known && pass.applications > kMostLevels) return false;
        const Begin found = known ? *known : begin(pass, pass.applications + 1);  // without a limit it fails
        const int fails_at = static_cast<int>(found.fails);
        if (fails_at > pass.applications || !found.silent.empty()) return false;
        blame.level = pass.name, blame.passes_to = fails_at - 1, blame.fails_at = fails_at;
        if (fails_at > 0) blame.exact = asker_.ask(limited(pass, fails_at - 1)).exact;
        log_info(LogChannel::repro, pass.name + ": right with at most " + std::to_string(blame.passes_to) +
                                        " applications, wrong from application " + std::to_string(fails_at) + " on");
        return true;
    }

    /// Another pass, without which it does not fail although the application is still there; empty: there is none.
    std::string partner(const Pass& pass, int application) {
        for (const Pass& other : parts_.passes) {
            if (other.name == pass.name || other.applications == 0) continue;
            const BackendOptions options = limited(other, 0);
            const auto look = switchable_.inspect(asker_.graph(), options);
            const auto applied = [&](const Pass& one) {
                return one.name == pass.name && one.applications >= application;
            };
            if (look && std::ranges::any_of(look->parts().passes, applied) && !asker_.fails(options)) return other.name;
        }
        return "";
    }

    /// What is wrong before the directives, of as many compilations as it takes to see it. One compilation that a
    /// lowering spoilt looks like a pass that did, when each op of it is lowered once more and well; so a lowering that
    /// is seen to be wrong is the answer.
    std::optional<Culprit> wrong_before() {
        std::optional<Culprit> found = inspection_->wrong_before(asker_.expected());
        for (int left = asker_.runs(); left > 1 && !(found && found->component == "lowering"); left--) {
            const auto again = switchable_.inspect(asker_.graph(), failure_.options);
            std::optional<Culprit> seen = again ? again->wrong_before(asker_.expected()) : std::nullopt;
            if (seen && (!found || seen->component == "lowering")) found = std::move(seen);
        }
        if (!found) asker_.passed();
        return found;
    }

    Asker asker_;
    const Failure& failure_;
    Switchable& switchable_;
    const std::unique_ptr<Switchable::Inspection> inspection_;
    Switchable::Parts parts_;
    Set all_;  ///< directives
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

Diagnosis culprit_of(const Graph& graph, Backend& backend, const DiagnoseOptions& options) {
    Diagnosis found;
    if (Switchable* switchable = offered<Switchable>(backend)) {
        found.culprit = CulpritSearch(graph, backend, *switchable, options).culprit(found.rate);
    } else if (offered<OwnGradients>(backend) && graph.failure->signature.at_gradients()) {
        Asker asker(graph, backend, options.limits, options.stop);
        found.culprit = wrong_rule(asker);
    }
    found.closeness = closeness(graph, backend, options.limits, found.rate);
    if (found.closeness == Closeness::noise && found.culprit && found.culprit->directive.empty()) found.culprit.reset();
    return found;
}

/// Whether the model no longer fails with the culprit switched off; nothing where it cannot be.
std::optional<bool> is_off(const Graph& model, const Culprit& culprit, Backend& backend, const DiagnoseOptions& how) {
    Switchable* const switches = offered<Switchable>(backend);
    const auto options = switches ? without_culprit(culprit, *switches, model.failure->options) : std::nullopt;
    return options ? std::optional(!Asker(model, backend, how.limits, how.stop).fails(*options)) : std::nullopt;
}

void hold_against_model(const Graph& graph, Culprit& culprit, Backend& backend, const DiagnoseOptions& options) {
    Graph model = options.model->graph;
    model.failure = graph.failure;
    model.failure->inputs = options.model->inputs;
    const auto off = [&](const Graph& of, const Culprit& part) { return is_off(of, part, backend, options); };
    if (off(model, culprit).value_or(true)) return;
    const std::optional<Culprit> its = culprit_of(model, backend, options).culprit;
    if (its && off(model, *its).value_or(false) && off(graph, *its).value_or(false))
        culprit = *its;
    else
        culprit.minimized_only = true;
}

}  // namespace

std::optional<BackendOptions> without_culprit(const Culprit& culprit, const Switchable& switchable,
                                              const BackendOptions& options) {
    if (culprit.component == "switch") return switchable.without(options, {culprit.directive});
    if (!culprit.directive.empty() || culprit.together.size() != 2) return std::nullopt;
    return switchable.limited(options, culprit.op, 0);
}

Diagnosis diagnose(const Graph& graph, Backend& own, const DiagnoseOptions& options) {
    if (!graph.failure || graph.failure->backend.empty()) return {};
    Graph compiled = as_compiled(graph, own);
    const auto other =
        compiled.failure->backend == graph.failure->backend ? nullptr : find_backend(compiled.failure->backend);
    Backend& backend = other ? *other : own;
    Diagnosis found = culprit_of(compiled, backend, options);
    if (options.model && !other && found.culprit) hold_against_model(graph, *found.culprit, backend, options);
    if (!other) compiled = graph;  // as the releases get it
    if (found.rate.flaky()) compiled.failure->signature.rate = found.rate;
    try {
        found.releases = release_history(compiled, backend, options.limits, options.stop);
    } catch (const Interrupted&) {  // the culprit is known all the same
    }
    return found;
}

Blame blame_of(const Graph& graph, Backend& backend, const Limits& limits) {
    Switchable* const switchable = offered<Switchable>(backend);
    return switchable ? CulpritSearch(graph, backend, *switchable, {.limits = limits}).blame() : Blame{};
}

}  // namespace whittle::diagnose
