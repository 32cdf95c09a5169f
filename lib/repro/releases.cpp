#include "repro/steps.h"

#include "backends/registry.h"
#include "base/log.h"
#include "base/words.h"
#include "diagnose/release_history.h"
#include "graph/abilities.h"
#include "repro/verify.h"
#include "text/language.h"

namespace whittle::repro {

std::string releases_of(const Graph& graph, Backend& backend) {
    if (!graph.failure->releases.empty()) return graph.failure->releases;
    const auto history = diagnose::release_history(graph, backend, {});
    return history ? history->text() : "";
}

void ask_also(const Options& options, Repro& repro) {
    std::vector<std::string> fail, right, none;
    for (const std::string& text : options.also) {
        const BackendSpec spec = text;
        const auto backend = find_backend(spec);
        // Another release may be wrong in another way.
        const Answer answer =
            ask_again({.graph = repro.graph, .expected = repro.expected, .spec = spec, .any_values = true}, *backend);
        log_info(LogChannel::repro, spec.text() + ": " + (answer.outcome.failed() ? answer.outcome.message : "right"));
        const std::string version = version_of(*backend, {});
        (answer.again == Again::fails   ? fail
         : answer.again == Again::right ? right
                                        : none)
            .push_back(version.empty() ? spec.text() : version);
    }
    const auto add = [&](const std::string& part) { repro.also += (repro.also.empty() ? "" : "; ") + part; };
    const bool values = repro.failure().signature.kind == name(Outcome::Kind::mismatch);
    if (!fail.empty()) add((values ? "also wrong in " : "also fails in ") + join(fail));
    if (!right.empty()) add("right in " + join(right));
    if (!none.empty()) add("no verdict in " + join(none));
    repro.right_in_all_others = fail.empty() && none.empty() && !right.empty();
}

void tell_releases(const Options& options, Repro& repro) {
    if (repro.releases.empty()) return;
    // At the end of its head: the comment that it begins with, up to the first empty line of that.
    const auto tell = [&](std::string& program, const std::filesystem::path& name) {
        const Language language = language_of(name.native());
        const std::string mark(language.mark());
        std::size_t end = 0;
        while (program.compare(end, mark.size() + 1, mark + " ") == 0) end = program.find('\n', end) + 1;
        program.insert(end, language.comment("Releases: " + repro.releases + "."));
    };
    tell(repro.program.text, name_of(repro.program, options));
    for (OtherProgram& other : repro.program.others) tell(other.text, other.name);
}

}  // namespace whittle::repro
