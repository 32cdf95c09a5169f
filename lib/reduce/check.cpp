#include "reduce/check.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "base/suggest.h"
#include "base/words.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"
#include "reduce/identity.h"

namespace whittle::reduce {

namespace {

/// Asks a command, up to `repeat` times until the graph fails.
Observation ask_command(const LoadedFrame& frame, const Search& search, Oracle& oracle, const std::string& identity) {
    Observation seen;
    std::vector<Tensor> expected;
    try {
        if (opaque_ops(frame.graph).empty()) expected = evaluate(frame.graph, frame.inputs);
    } catch (const Error& error) {  // of the reference, without whose values nothing can be minimized
        return {.unresolved = true, .message = error.what()};
    }
    try {
        for (int i = 0; i < search.repeat && !seen.failed; ++i)
            seen = oracle.observe({frame.graph, frame.inputs, expected, identity});
    } catch (const NotWritten& error) {
        return {.unresolved = true, .message = error.what()};
    }
    return seen;
}

/// Asks the backend in the same way.
Observation ask_backend(const LoadedFrame& frame, const Search& search, Backend& backend) {
    const Judgement said = judge_repeatedly(frame, *search.suspect(), backend, search.repeat);
    Observation seen{
        .failed = said.fails(), .unresolved = said.verdict == whittle::Verdict::not_judged, .message = said.reason};
    if (seen.failed) seen.signature = signature_of(said.outcome);
    return seen;
}

}  // namespace

Findings check(const std::vector<LoadedFrame>& frames, const Search& search) {
    const Judging judge = judging(search);
    Identity identity(*judge.oracle);
    Findings findings{.judge = judge.oracle->name()};
    std::set<std::string> asked;
    std::map<std::string, std::size_t> by_signature;  // position in `failing`
    for (const LoadedFrame& frame : frames) {
        const std::string id = identity(frame.graph, frame.inputs);
        if (!asked.insert(id).second) continue;  // the same graph on the same values
        const Observation seen =
            judge.backend ? ask_backend(frame, search, *judge.backend) : ask_command(frame, search, *judge.oracle, id);
        if (seen.unresolved) findings.not_judged[frame.file] = seen.message;
        if (!seen.failed || seen.unresolved) continue;
        const auto [entry, added] = by_signature.try_emplace(seen.signature.text(), findings.failing.size());
        if (added) findings.alike.emplace_back();
        findings.alike[entry->second].push_back(frame.file);
        if (added)
            findings.failing.push_back(&frame);
        else if (const LoadedFrame*& smallest = findings.failing[entry->second];
                 frame.graph.calls().size() < smallest->graph.calls().size())
            smallest = &frame;
    }
    return findings;
}

std::string not_failing_text(const Search& search, const std::string& judge, const std::string& seen) {
    if (const Suspect* suspect = search.suspect(); suspect && !search.stored)
        return not_failing_text(judge, suspect->tier);
    const auto how = [&]() -> std::string {
        if (search.stored) return "it does not fail as MODEL has it: " + search.stored->signature.text();
        using Polarity = CommandOracleOptions::Polarity;
        const auto& command = std::get<CommandOracleOptions>(search.judge);
        const bool picky =
            !command.fail_codes.empty() || !command.ignore_codes.empty() || !command.fail_pattern.empty();
        switch (command.polarity) {
            case Polarity::test:
                return "the script does not exit with 0 (--test: exit 0 is interesting)";
            case Polarity::test_must_fail:
                return "the script exits with 0 (--test-must-fail: any other exit is interesting)";
            case Polarity::check:
                if (picky) return "the command " + seen;
                return "the command exits with 0 (--check: any other exit is the failure)";
        }
        __builtin_unreachable();
    };
    return "right: with " + judge + " " + how();
}

}  // namespace whittle::reduce
