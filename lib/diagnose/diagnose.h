// diagnose(): which part of the compiler is to blame for the failure of a minimized graph, and whether wrong results
// are more than rounding noise.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "graph/abilities.h"
#include "graph/failure.h"
#include "graph/graph.h"
#include "graph/rate.h"
#include "judge/divergence.h"
#include "judge/judge.h"

namespace whittle::diagnose {

struct DiagnoseOptions {
    Limits limits = {};
    bool flaky = false;  ///< it is known to fail in some runs only
    /// True: stop (an interrupt).
    std::function<bool()> stop = {};
};

struct Diagnosis {
    /// Of a backend that offers Switchable, or of one whose own gradients differ (wrong_rule.h); nothing for others,
    /// when interrupted, when the graph does not fail as recorded, and where rounding explains all: another order of it
    /// is no fault of a lowering. That a directive makes it is worth knowing.
    std::optional<Culprit> culprit = {};
    Rate rate = {};  ///< at which it fails; of no run where the backend is not Switchable
    /// Of wrong results: whether they are rounding noise.
    std::optional<Closeness> closeness = {};
};

/// `graph` carries its failure. The search of reduce/search.h finds the fewest directives with which it still fails.
/// Where it fails without any, the backend is asked what was wrong before them; then passes are switched off and the
/// application with which it begins to fail is bisected (bisect.h). Another pass without which that same application
/// does no harm is told with it, as its partner. What remains is the compiler itself. Where it fails
/// in some runs only, the rate is measured, and each question is asked as often as graph/rate.h wants before its answer
/// is that it passes. Throws Interrupted.
Diagnosis diagnose(const Graph& graph, Backend& backend, const DiagnoseOptions& options);

/// `options` without the pass or the switch that is guilty, in any graph: what fails with them has another culprit.
/// Nothing where the culprit is no such part: a lowering cannot be switched off, and a directive of one schedule says
/// nothing of another's.
std::optional<BackendOptions> without_culprit(const Culprit& culprit, const Switchable& switchable,
                                              const BackendOptions& options);

/// A small graph may fail where a part of the compiler is on that the model does not need to fail. Then what is to
/// blame for the model, which `inputs` show, is to blame, if `graph` needs it, too; else the culprit is minimized_only.
/// Of a culprit that cannot be switched off in the model nothing is asked. Throws Interrupted.
void hold_against_model(const Graph& model, std::span<const Tensor> inputs, const Graph& graph, Diagnosis& found,
                        Backend& backend, const DiagnoseOptions& options);

}  // namespace whittle::diagnose
