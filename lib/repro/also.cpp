#include "repro/also.h"

#include <vector>

#include "backends/registry.h"
#include "base/log.h"
#include "base/suggest.h"
#include "graph/releases.h"
#include "run/release_history.h"
#include "run/suspect.h"

namespace whittle::repro {
namespace {

/// A value is wrong in any way: another release may be wrong otherwise. What is refused has to be so in the same words.
ReleaseAnswer answer_of(const Outcome& outcome, const Failure& failure) {
    if (!outcome.failed()) return ReleaseAnswer::right;
    const bool values = failure.signature.kind == name(Outcome::Kind::mismatch);
    const bool alike = values ? name(outcome.kind) == failure.signature.kind
                              : outcome.is_failure() && signature_of(outcome) == failure.signature;
    return alike ? ReleaseAnswer::fails : ReleaseAnswer::none;
}

}  // namespace

Also ask_also(const Subject& subject, const Options& options) {
    const Failure& failure = *subject.graph.failure;
    std::vector<std::string> fail, right, none;
    for (const BackendSpec& spec : options.also) {
        const auto backend = find_backend(spec);
        Suspect suspect = suspect_of(failure, options.limits);
        suspect.spec = spec, suspect.options = {};
        ReleaseAnswer answer = ReleaseAnswer::right;
        for (int left = runs_until_passing(failure.signature.rate); left > 0 && answer == ReleaseAnswer::right;
             left--) {
            const Outcome outcome = query(subject.graph, failure.inputs, subject.expected, *backend, suspect);
            answer = answer_of(outcome, failure);
            log_info(LogChannel::repro, spec.text() + ": " + (outcome.failed() ? outcome.message : "right"));
        }
        const std::string version = version_of(*backend, {});
        (answer == ReleaseAnswer::fails   ? fail
         : answer == ReleaseAnswer::right ? right
                                          : none)
            .push_back(version.empty() ? spec.text() : version);
    }
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    const bool values = failure.signature.kind == name(Outcome::Kind::mismatch);
    if (!fail.empty()) add((values ? "also wrong in " : "also fails in ") + join(fail));
    if (!right.empty()) add("right in " + join(right));
    if (!none.empty()) add(join(none) + " cannot tell");
    return {text, fail.empty() && none.empty() && !right.empty()};
}

}  // namespace whittle::repro
