// diagnose(): which part of the compiler is to blame for the failure of a minimized graph, and whether wrong results
// are more than rounding noise. blame_of(): what of it a repro shows.
#pragma once

#include <functional>
#include <optional>

#include "diagnose/asker.h"
#include "diagnose/release_history.h"
#include "graph/abilities.h"
#include "graph/emitter.h"
#include "judge/divergence.h"
#include "judge/frame.h"

namespace whittle::diagnose {

/// The asker's graph fails at gradients on the backend, which has its own way to compute them. The first call, of the
/// last in the graph to the first, whose gradients by themselves differ, on the values and from tangents of its own;
/// where each is right, the joint graph that puts them together. Nothing where the graph has no gradients.
std::optional<Culprit> wrong_rule(Asker& asker);

struct DiagnoseOptions {
    Limits limits = {};
    std::function<bool()> stop = {};     ///< true: throws Interrupted before the next question
    const LoadedFrame* model = nullptr;  ///< that was minimized; null: it is not at hand
};

struct Diagnosis {
    /// Of a backend that offers Switchable, or of one whose own gradients differ (wrong_rule()); nothing for others,
    /// when the graph does not fail as recorded, and where rounding explains all: another order of it is no fault of a
    /// lowering. That a directive makes it is worth knowing.
    std::optional<Culprit> culprit = {};
    Rate rate = {};  ///< at which it fails; of no run where the backend is not Switchable
    /// Of wrong results: whether they are rounding noise.
    std::optional<Closeness> closeness = {};
    std::optional<ReleaseHistory> releases = {};
};

/// `graph` carries its failure; what is looked into is what was compiled of it (compiled.h), on the backend that did
/// so. The search of reduce/search.h finds the fewest directives with which it still fails. Where it fails without any,
/// the backend is asked what was wrong before them; then passes are switched off and the application with which it
/// begins to fail is bisected. Another pass without which that same application does no harm is told with it, as its
/// partner. What remains is the compiler itself. Where it fails in some runs only, the rate is measured.
///
/// A small graph may fail where a part of the compiler is on that the model does not need to fail. Then what is to
/// blame for the model is to blame, if `graph` needs it, too; else the culprit is minimized_only. Of a culprit that
/// cannot be switched off in the model nothing is asked, nor where another backend compiled. Throws Interrupted; where
/// that happens while releases are asked, there is only no history.
Diagnosis diagnose(const Graph& graph, Backend& backend, const DiagnoseOptions& options);

/// `options` without the pass or the switch that is guilty, in any graph: what fails with them has another culprit.
/// Nothing where the culprit is no such part: a lowering cannot be switched off, and a directive of one schedule says
/// nothing of another's.
std::optional<BackendOptions> without_culprit(const Culprit& culprit, const Switchable& switchable,
                                              const BackendOptions& options);

/// Which level and which switch decide whether a graph fails, what a maintainer asks first: of a backend that is
/// Switchable and has no schedule, else nothing. Of levels the highest that is right next to one that fails; the switch
/// is the one without which the graph is right. What the failure's culprit says of either is not searched again.
Blame blame_of(const Graph& graph, Backend& backend, const Limits& limits);

}  // namespace whittle::diagnose
