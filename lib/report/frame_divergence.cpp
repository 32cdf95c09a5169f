#include "report/frame_divergence.h"

#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/suggest.h"
#include "judge/frames.h"

namespace whittle::report {

namespace {

/// Nobody ran the frame, so that there are no values to compare.
bool not_run(const Judgement& said) {
    return said.verdict == Verdict::not_judged && (!said.no_reference.empty() || said.outcome.outputs.empty());
}

/// The verdict where it is not what the comparison of the graph with the reference says.
std::string verdict_line(const FrameDivergence& one) {
    const Judgement& said = one.judgement;
    if (said.verdict != Verdict::not_judged && said.fails() == one.divergence.plain.failed()) return {};
    return "verdict:     " + text_of(said) + "\n" +
           (one.rewritten.empty() ? "" : "read:        " + join(one.rewritten, "; ") + "\n");
}

}  // namespace

bool FrameDivergence::differs() const {
    return judgement.fails() || (judgement.right() && !divergence.plain.failed() && divergence.first);
}

FrameDivergence diverge(const LoadedFrame& frame, const Suspect& suspect) {
    const std::unique_ptr<Backend> backend = find_backend(suspect.spec, suspect.options);
    FrameDivergence one{.file = frame.file.string(), .backend = suspect.spec.text(), .rewritten = frame.rewritten};
    Suspect compared = suspect;
    compared.tier = Tier::computes;
    one.judgement = judge(case_of(frame, compared), *backend);
    if (not_run(one.judgement))
        one.divergence.failure = one.judgement.reason;
    else
        one.divergence =
            whittle::diverge(frame.graph, frame.inputs, *backend, suspect.options, suspect.limits, suspect.accuracy);
    return one;
}

std::string to_text(const FrameDivergence& one, const DivergenceTextOptions& options) {
    const std::string title = "divergence of " + one.backend + " from the reference on " + one.file + "\n";
    if (not_run(one.judgement)) return title + text_of(one.judgement) + "\n";
    return title + verdict_line(one) + to_text(one.divergence, one.backend, options);
}

nlohmann::json to_json(std::span<const FrameDivergence> all) {
    nlohmann::json list = nlohmann::json::array();
    for (const FrameDivergence& one : all) {
        list.push_back(to_json(one.divergence));
        list.back()["file"] = one.file;
        add_verdict(list.back(), judged_frame("", one.file, one.judgement));
    }
    return {{"backend", all.empty() ? "" : all.back().backend}, {"divergence", std::move(list)}};
}

}  // namespace whittle::report
