#include "debug/check.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/error.h"
#include "base/log.h"
#include "ops/core/interpreter.h"
#include "ops/core/opaque.h"
#include "reduce/identity.h"

namespace whittle::debug {

Findings check(const std::vector<LoadedFrame>& frames, const Search& search) {
    const Judging judge = judging(search);
    reduce::Identity identity(*judge.oracle);
    Findings findings{.judge = judge.oracle->name()};
    std::set<std::string> asked;
    std::map<std::string, std::size_t> by_signature;  // position in `failing`
    for (const LoadedFrame& frame : frames) {
        const std::string id = identity(frame.graph, frame.inputs);
        if (!asked.insert(id).second) continue;  // the same graph on the same values
        reduce::Observation seen;
        const auto leave_out = [&](const Error& error) {
            log_warning(LogChannel::reduce, frame.file.string() + ": left out: " + error.what());
        };
        std::vector<Tensor> expected;
        try {
            const bool unknown = !search.compares() && !opaque_ops(frame.graph).empty();
            if (!unknown) expected = evaluate(frame.graph, frame.inputs);
        } catch (const Error& error) {  // of the reference
            leave_out(error);
            continue;
        }
        try {
            for (int i = 0; i < search.repeat && !seen.failed; ++i)
                seen = judge.oracle->observe({frame.graph, frame.inputs, expected, id});
        } catch (const reduce::NotWritten& error) {
            leave_out(error);
            continue;
        }
        if (seen.unresolved) findings.declined[frame.file] = declined_text(search, findings.judge, seen.message);
        if (!seen.failed || seen.unresolved) continue;
        const auto [entry, added] = by_signature.try_emplace(seen.signature.text(), findings.failing.size());
        if (added)
            findings.failing.push_back(&frame);
        else if (const LoadedFrame*& smallest = findings.failing[entry->second];
                 frame.graph.calls().size() < smallest->graph.calls().size())
            smallest = &frame;
    }
    return findings;
}

void TriedFrames::decline(DeclinedFrame frame) {
    const auto alike = [&](const DeclinedFrame& known) { return known.file == frame.file && known.why == frame.why; };
    if (std::ranges::none_of(declined, alike)) declined.push_back(std::move(frame));
}

TriedFrames try_frames(const std::vector<LoadedFrame>& frames, Backend& backend, const Suspect& suspect) {
    TriedFrames tried;
    for (const LoadedFrame& frame : frames) {
        const Trial trial = try_backend(frame.graph, frame.inputs, {frame.expected, frame.expected_from}, backend,
                                        suspect.options, suspect.accuracy);
        const Outcome& outcome = trial.outcome;
        if (outcome.missing) tried.support.emplace_back(frame.graph, *outcome.missing);
        if (outcome.kind == Outcome::Kind::unresolved)
            log_warning(LogChannel::run, frame.file.string() + ": not judged: " + outcome.message);
        else if (outcome.kind == Outcome::Kind::unsupported)
            tried.decline({frame.name, frame.file.string(), outcome.message});
        else
            tried.judged |= trial.no_reference.empty();
        if (trial.failed())
            tried.failing.push_back({frame.name, frame.file.string(), trial.text(),
                                     outcome.kind == Outcome::Kind::mismatch, outcome.rounding});
    }
    return tried;
}

nlohmann::json to_json(const FailingFrame& frame) {
    return {{"frame", frame.name}, {"file", frame.file}, {"failure", frame.failure}};
}

nlohmann::json to_json(const DeclinedFrame& frame) {
    return {{"frame", frame.name}, {"file", frame.file}, {"why", frame.why}};
}

std::string not_failing_text(const std::string& backend, Tier tier) {
    return "not failing: with " + backend +
           (tier == Tier::computes ? " it compiles, runs and computes what eager does"
                                   : " it compiles and runs (wrong results count only with --accuracy)");
}

std::string declined_text(const Search& search, const std::string& judge, const std::string& seen) {
    if (search.suspect()) return "unsupported: " + judge + " does not support this model: " + seen;
    return "no verdict: the command cannot tell of this model: " + seen;
}

std::string declined_text(const std::string& backend, const DeclinedFrame& frame) {
    return "unsupported: " + backend + " does not support " + frame.name + " (" + frame.file + "): " + frame.why;
}

std::string not_failing_text(const Search& search, const std::string& judge, const std::string& seen) {
    if (const Suspect* suspect = search.suspect(); suspect && !search.stored)
        return not_failing_text(judge, suspect->tier);
    const auto how = [&]() -> std::string {
        if (search.stored) return "it does not fail as MODEL has it: " + search.stored->signature.text();
        using Polarity = reduce::CommandOracleOptions::Polarity;
        const auto& command = std::get<reduce::CommandOracleOptions>(search.judge);
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
    return "not failing: with " + judge + " " + how();
}

std::string expects_otherwise(const Search& search, const LoadedFrame& frame) {
    if (!search.compares() || frame.expected.empty() || !opaque_ops(frame.graph).empty()) return {};
    std::vector<Tensor> computed;
    try {
        computed = evaluate(frame.graph, frame.inputs);
    } catch (const Error&) {  // it was left out, which was said
        return {};
    }
    const Accuracy accuracy = frame.record ? frame.record->accuracy : Accuracy();
    for (std::size_t i = 0; i < std::min(computed.size(), frame.expected.size()); ++i)
        if (const auto found = compare(computed[i], frame.expected[i], accuracy))
            return "hint: eager does not compute what " + frame.expected_from + " gave (" + found->description +
                   "); --backend libtorch asks LibTorch who is right\n";
    return {};
}

}  // namespace whittle::debug
