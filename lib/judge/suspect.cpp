#include "judge/suspect.h"

#include "graph/abilities.h"

namespace whittle {

Suspect suspect_of(const Failure& failure, const Limits& limits) {
    return {.spec = failure.backend,
            .options = failure.options,
            .accuracy = failure.accuracy,
            .limits = limits,
            .tier = failure.signature.kind == name(Outcome::Kind::mismatch) ? Tier::computes : Tier::ends,
            .slower = failure.slower};
}

void describe(const Suspect& suspect, Failure& failure) {
    failure.backend = suspect.spec.text();
    failure.options = suspect.options;
    failure.accuracy = suspect.compared_by();
    failure.slower = suspect.slower;
}

Unoptimized unoptimized(const Graph& graph, Backend& backend, const BackendOptions& given) {
    Switchable* const switches = offered<Switchable>(backend);
    const auto look = switches ? switches->inspect(graph, given) : nullptr;
    if (!look) return {};
    const Switchable::Parts& parts = look->parts();
    if (parts.directives.empty() && parts.passes.empty()) return {.possible = !parts.directive_is.empty()};
    BackendOptions off = given;
    if (!parts.directive_is.empty() && !parts.passes.empty()) {  // levels of a compiler without schedules
        off = switches->limited(given, parts.passes.front().name, 0);
    } else {
        std::vector<std::string> all;
        for (const Switchable::Directive& directive : parts.directives) all.push_back(directive.text);
        off = switches->without(given, all);
    }
    return {.possible = true, .options = off == given ? std::nullopt : std::optional(std::move(off))};
}

Outcome run_suspect(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const Suspect& suspect) {
    if (!suspect.launcher.prefix.empty()) return run_launched(graph, inputs, suspect);
    if (suspect.slower) return race(graph, inputs, backend, suspect);
    return run_isolated(graph, inputs, backend, suspect.options, suspect.limits);
}

Outcome query(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected, Backend& backend,
              const Suspect& suspect) {
    Outcome outcome = run_suspect(graph, inputs, backend, suspect);
    if (suspect.tier == Tier::ends) return outcome;
    return judge(std::move(outcome), graph, inputs, expected, suspect.compared_by());
}

}  // namespace whittle
