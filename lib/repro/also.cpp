#include "repro/also.h"

#include <vector>

#include "backends/registry.h"
#include "base/log.h"
#include "base/suggest.h"
#include "graph/releases.h"
#include "judge/judge.h"

namespace whittle::repro {
Also ask_also(const Subject& subject, const Options& options) {
    const Failure& failure = *subject.graph.failure;
    std::vector<std::string> fail, right, none;
    for (const BackendSpec& spec : options.also) {
        const auto backend = find_backend(spec);
        // Another release may be wrong in another way.
        const Answer answer = ask_again({.graph = subject.graph,
                                         .expected = subject.expected,
                                         .limits = options.limits,
                                         .spec = spec,
                                         .any_values = true},
                                        *backend);
        log_info(LogChannel::repro, spec.text() + ": " + (answer.outcome.failed() ? answer.outcome.message : "right"));
        const std::string version = version_of(*backend, {});
        (answer.again == Again::fails   ? fail
         : answer.again == Again::right ? right
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
