#include "diagnose/blame.h"

#include <algorithm>
#include <vector>

#include "base/log.h"
#include "graph/abilities.h"
#include "judge/judge.h"

namespace whittle::diagnose {
namespace {

constexpr int kMostLevels = 16;
constexpr std::size_t kMostSwitches = 200;

class BlameFinder {
  public:
    BlameFinder(const Graph& graph, std::span<const Tensor> expected, Backend& backend, Switchable& switches,
                const Limits& limits)
        : graph_(graph),
          failure_(*graph.failure),
          expected_(expected),
          backend_(backend),
          switches_(switches),
          limits_(limits) {}

    Blame run() {
        const auto inspection = switches_.inspect(graph_, failure_.options);
        Blame blame;
        // What has schedules is asked about by minify, one directive at a time.
        if (!inspection || inspection->parts().directive_is.empty()) return blame;
        const Switchable::Parts& parts = inspection->parts();
        blame.kind = parts.directive_is;
        for (const Switchable::Pass& pass : parts.passes)
            if (find_level(pass, blame)) break;
        if (!blame.level.empty() && blame.passes_to < 0) return blame;  // wrong with all of it switched off
        blame.off = guilty(parts);
        return blame;
    }

  private:
    Again ask(const BackendOptions& options) const {
        return ask_again({.graph = graph_, .expected = expected_, .limits = limits_, .options = options}, backend_)
            .again;
    }
    bool fails(const BackendOptions& options) const { return ask(options) == Again::fails; }
    bool right(const BackendOptions& options) const { return ask(options) == Again::right; }

    /// False: the pass decides nothing that a number tells.
    bool find_level(const Switchable::Pass& pass, Blame& blame) const {
        if (pass.applications > kMostLevels) return false;
        int fails_at = pass.applications + 1;
        while (fails_at > 0 && fails(switches_.limited(failure_.options, pass.name, fails_at - 1))) fails_at--;
        if (fails_at > pass.applications) return false;
        const int below = fails_at - 1;
        if (below >= 0 && !right(switches_.limited(failure_.options, pass.name, below))) return false;
        blame.level = pass.name, blame.passes_to = below, blame.fails_at = fails_at;
        log_info(LogChannel::repro, pass.name + ": right up to " + std::to_string(below) + ", wrong from " +
                                        std::to_string(fails_at) + " on");
        return true;
    }

    std::string guilty(const Switchable::Parts& parts) const {
        const auto alone = [&](const std::string& name) { return right(switches_.without(failure_.options, {name})); };
        if (failure_.culprit && failure_.culprit->component == "switch")
            return alone(failure_.culprit->directive) ? failure_.culprit->directive : "";
        if (parts.directives.size() > kMostSwitches) return {};
        const auto found = std::ranges::find_if(
            parts.directives, [&](const Switchable::Directive& directive) { return alone(directive.text); });
        return found == parts.directives.end() ? "" : found->text;
    }

    const Graph& graph_;
    const Failure& failure_;
    const std::span<const Tensor> expected_;
    Backend& backend_;
    Switchable& switches_;
    const Limits& limits_;
};

}  // namespace

Blame blame_of(const Graph& graph, std::span<const Tensor> expected, Backend& backend, const Limits& limits) {
    Switchable* const switches = offered<Switchable>(backend);
    return switches ? BlameFinder(graph, expected, backend, *switches, limits).run() : Blame{};
}

}  // namespace whittle::diagnose
