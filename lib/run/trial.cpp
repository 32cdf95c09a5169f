#include "run/trial.h"

#include "backends/eager/eager.h"
#include "backends/spec.h"
#include "base/log.h"
#include "graph/abilities.h"
#include "ops/aten/random.h"

namespace whittle {

namespace {

bool is_reference(Backend& backend) { return offered<Reference>(backend) != nullptr; }

/// Only the reference is trusted not to take this process down.
Outcome run(const Graph& graph, std::span<const Tensor> inputs, Backend& backend, const BackendOptions& options) {
    seed_random_ops(0);
    return is_reference(backend) ? run_in_process(graph, inputs, backend, options)
                                 : run_isolated(graph, inputs, backend, options, Limits{});
}

}  // namespace

std::string Trial::text() const {
    if (!outcome.failed()) return {};
    std::string text = std::string(name(outcome.kind)) + (outcome.stage.empty() ? "" : " at " + outcome.stage) +
                       (outcome.part.empty() ? "" : " of " + outcome.part) + ": " + outcome.message;
    if (outcome.rounding) text.append("; ").append(kRounding);
    return text;
}

Trial try_backend(const Graph& graph, std::span<const Tensor> inputs, const Expectation& known, Backend& backend,
                  const BackendOptions& options, const Accuracy& accuracy) {
    Trial trial{.outcome = run(graph, inputs, backend, options), .expected = known};
    if (known.outputs.empty()) {
        const Outcome reference = is_reference(backend) ? trial.outcome : run(graph, inputs, *make_eager_backend(), {});
        if (reference.failed()) {
            trial.no_reference = reference.message;
            return trial;
        }
        trial.expected = {reference.outputs, std::string(kReferenceBackend)};
    }
    trial.outcome = judge_and_explain(std::move(trial.outcome), graph, inputs, trial.expected.outputs, accuracy);
    if (!trial.outcome.failed() && !trial.outcome.no_gradients.empty())
        log_warning(LogChannel::run,
                    "graph " + graph.name + ": its gradients are not compared: " + trial.outcome.no_gradients);
    return trial;
}

}  // namespace whittle
