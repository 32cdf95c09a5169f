#include "judge/suspect.h"

namespace whittle {

Suspect suspect_of(const Failure& failure, const Limits& limits) {
    return {.spec = failure.backend,
            .options = failure.options,
            .accuracy = failure.accuracy,
            .limits = limits,
            .tier = failure.signature.kind == name(Outcome::Kind::mismatch) ? Tier::computes : Tier::ends};
}

void describe(const Suspect& suspect, Failure& failure) {
    failure.backend = suspect.spec.text();
    failure.options = suspect.options;
    failure.accuracy = suspect.compared_by();
}

Outcome run_suspect(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const Suspect& suspect) {
    if (suspect.launcher.prefix.empty()) return run_isolated(graph, inputs, backend, suspect.options, suspect.limits);
    return run_launched(graph, inputs, suspect.spec.text(), suspect.options, suspect.limits, suspect.launcher);
}

Outcome query(const Graph& graph, std::span<const Tensor> inputs, std::span<const Tensor> expected, Backend& backend,
              const Suspect& suspect) {
    Outcome outcome = run_suspect(graph, inputs, backend, suspect);
    if (suspect.tier == Tier::ends) return outcome;
    return judge(std::move(outcome), graph, inputs, expected, suspect.compared_by());
}

}  // namespace whittle
