#include "reduce/check.h"

#include <algorithm>
#include <set>

#include "base/error.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"
#include "reduce/identity.h"

namespace whittle::reduce {

namespace {

/// Asks a command, up to `repeat` times until the graph fails.
Observation ask_command(const Case& candidate, const Request& request, Oracle& oracle) {
    Observation seen;
    Case asked = candidate;
    try {
        if (opaque_ops(asked.graph).empty()) asked.expected = evaluate(asked.graph, asked.inputs);
    } catch (const Error& error) {  // of the reference, without whose values nothing can be minimized
        return {.unresolved = true, .message = error.what()};
    }
    try {
        for (std::int64_t i = 0; i < request.how.repeat && !seen.failed; ++i) seen = oracle.observe(asked);
    } catch (const NotWritten& error) {
        return {.unresolved = true, .message = error.what()};
    }
    return seen;
}

/// Asks the backend in the same way.
Observation ask_backend(const LoadedFrame& frame, const Request& request, Backend& backend) {
    const Judgement said = judge_repeatedly(frame, *request.suspect(), backend, static_cast<int>(request.how.repeat));
    Observation seen{.failed = said.fails(), .unresolved = said.verdict == Verdict::not_judged, .message = said.reason};
    if (seen.failed) seen.signature = signature_of(said.outcome);
    return seen;
}

}  // namespace

Findings check(const std::vector<LoadedFrame>& frames, const Request& request) {
    const Judging judge(request.judge);
    Identity identity(*judge.oracle);
    Findings findings{.judge = judge.oracle->name()};
    std::set<std::string> asked;
    std::map<std::string, std::size_t> by_signature;  // position in `failing`
    for (const LoadedFrame& frame : frames) {
        const Case whole{frame.graph, frame.inputs};
        if (!asked.insert(identity(whole)).second) continue;  // the same graph on the same values
        const Observation seen =
            judge.backend ? ask_backend(frame, request, *judge.backend) : ask_command(whole, request, *judge.oracle);
        if (seen.unresolved) findings.not_judged[frame.file.string()] = seen.message;
        if (!seen.failed || seen.unresolved) continue;
        const auto [entry, added] = by_signature.try_emplace(seen.signature.text(), findings.failing.size());
        if (added) findings.failing.push_back({&frame});
        Findings::Failing& failing = findings.failing[entry->second];
        failing.alike.push_back(frame.file);
        if (frame.graph.calls().size() < failing.smallest->graph.calls().size()) failing.smallest = &frame;
    }
    return findings;
}

}  // namespace whittle::reduce
