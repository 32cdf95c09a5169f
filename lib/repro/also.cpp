#include "repro/also.h"

#include <vector>

#include "backends/registry.h"
#include "base/log.h"
#include "base/suggest.h"
#include "graph/releases.h"
#include "run/suspect.h"

namespace whittle::repro {
namespace {

enum class Verdict { fails, right, none };

/// A value is wrong in any way: another release may be wrong otherwise.
Verdict verdict_of(const Outcome& outcome, const Failure& failure) {
    if (!outcome.failed()) return Verdict::right;
    return name(outcome.kind) == failure.signature.kind ? Verdict::fails : Verdict::none;
}

}  // namespace

std::string also_text(const Subject& subject, const Options& options) {
    const Failure& failure = *subject.graph.failure;
    std::vector<std::string> fail, right, none;
    for (const BackendSpec& spec : options.also) {
        const auto backend = find_backend(spec);
        Suspect suspect = suspect_of(failure, options.limits);
        suspect.spec = spec, suspect.options = {};
        const Outcome outcome = query(subject.graph, failure.inputs, subject.expected, *backend, suspect);
        const std::string version = version_of(*backend, {});
        const Verdict verdict = verdict_of(outcome, failure);
        log_info(LogChannel::repro, spec.text() + ": " + (outcome.failed() ? outcome.message : "right"));
        (verdict == Verdict::fails   ? fail
         : verdict == Verdict::right ? right
                                     : none)
            .push_back(version.empty() ? spec.text() : version);
    }
    std::string text;
    const auto add = [&](const std::string& part) { text += (text.empty() ? "" : "; ") + part; };
    const bool values = failure.signature.kind == name(Outcome::Kind::mismatch);
    if (!fail.empty()) add((values ? "also wrong in " : "also fails in ") + join(fail));
    if (!right.empty()) add("right in " + join(right));
    if (!none.empty()) add(join(none) + " cannot tell");
    return text;
}

}  // namespace whittle::repro
