#include "debug/check.h"

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

namespace whittle::debug {

namespace {

/// Asks a command, up to `repeat` times until the graph fails.
reduce::Observation ask_command(const LoadedFrame& frame, const Search& search, reduce::Oracle& oracle,
                                const std::string& identity) {
    reduce::Observation seen;
    std::vector<Tensor> expected;
    try {
        if (opaque_ops(frame.graph).empty()) expected = evaluate(frame.graph, frame.inputs);
    } catch (const Error& error) {  // of the reference, without whose values nothing can be minimized
        return {.unresolved = true, .message = error.what()};
    }
    try {
        for (int i = 0; i < search.repeat && !seen.failed; ++i)
            seen = oracle.observe({frame.graph, frame.inputs, expected, identity});
    } catch (const reduce::NotWritten& error) {
        return {.unresolved = true, .message = error.what()};
    }
    return seen;
}

/// Asks the backend in the same way.
reduce::Observation ask_backend(const LoadedFrame& frame, const Search& search, Backend& backend) {
    const Judgement said = judge_repeatedly(frame, *search.suspect(), backend, search.repeat);
    reduce::Observation seen{
        .failed = said.fails(), .unresolved = said.verdict == Verdict::not_judged, .message = said.reason};
    if (seen.failed) seen.signature = signature_of(said.outcome);
    return seen;
}

}  // namespace

Findings check(const std::vector<LoadedFrame>& frames, const Search& search) {
    const Judging judge = judging(search);
    reduce::Identity identity(*judge.oracle);
    Findings findings{.judge = judge.oracle->name()};
    std::set<std::string> asked;
    std::map<std::string, std::size_t> by_signature;  // position in `failing`
    for (const LoadedFrame& frame : frames) {
        const std::string id = identity(frame.graph, frame.inputs);
        if (!asked.insert(id).second) continue;  // the same graph on the same values
        const reduce::Observation seen =
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

FailingCase case_of(const LoadedFrame& frame, const Suspect& suspect) {
    return {.graph = frame.graph,
            .inputs = frame.inputs,
            .given = {frame.expected, frame.expected_from},
            .suspect = suspect,
            .file = frame.onnx ? &*frame.onnx : nullptr};
}

Judgement judge_repeatedly(const LoadedFrame& frame, const Suspect& suspect, Backend& backend, int runs) {
    Judgement said;
    for (int i = 0; i < runs && !said.fails(); ++i) said = judge(case_of(frame, suspect), backend);
    return said;
}

JudgedFrame judged_frame(std::string name, std::string file, const Judgement& judgement) {
    return {.name = std::move(name),
            .file = std::move(file),
            .verdict = judgement.verdict,
            .reason = failure_text(judgement),
            .compared = judgement.compared,
            .agree = judgement.agree,
            .wrong = judgement.fails() && judgement.outcome.kind == Outcome::Kind::mismatch,
            .only_file = judgement.only_file};
}

JudgedFrame judged_frame(const Guilt& guilt) {
    const Tried& decisive = guilt.fails() ? guilt.who() : guilt.tried.back();
    return {.name = guilt.name,
            .file = guilt.file,
            .verdict = guilt.verdict(),
            .reason = guilt.fails() ? decisive.failure : guilt.undecided,
            .compared = decisive.compared};
}

std::vector<JudgedFrame> with_verdict(const std::vector<JudgedFrame>& frames, Verdict verdict) {
    std::vector<JudgedFrame> found;
    for (const JudgedFrame& frame : frames) {
        const auto same = [&](const JudgedFrame& known) {
            return known.file == frame.file && known.reason == frame.reason;
        };
        if (frame.verdict == verdict && std::ranges::none_of(found, same)) found.push_back(frame);
    }
    return found;
}

Verdict verdict_of(const std::vector<JudgedFrame>& frames) {
    std::vector<Verdict> verdicts;
    for (const JudgedFrame& frame : frames) verdicts.push_back(frame.verdict);
    return worst(verdicts);
}

std::string verdict_text(const std::string& backend, const std::vector<JudgedFrame>& frames) {
    std::string text;
    std::set<std::string> compared;
    const std::vector<JudgedFrame> right = with_verdict(frames, Verdict::right);
    for (const JudgedFrame& frame : right) compared.insert(frame.compared.begin(), frame.compared.end());
    const std::string graphs = plural(right.size(), "graph");
    const bool others_fail = verdict_of(frames) == Verdict::fails;
    if (!compared.empty())
        text += (others_fail ? "Right" : "Backend " + backend + " is right") + ": " + graphs + ", compared with " +
                join(std::vector<std::string>(compared.begin(), compared.end())) + ".\n";
    else if (!right.empty())
        text += "Backend " + backend + " runs " + graphs + "; there is nothing to compare the results with.\n";
    for (const JudgedFrame& frame : right)
        if (!frame.reason.empty()) text += "  " + frame.name + " (" + frame.file + "): " + frame.reason + "\n";
    for (const JudgedFrame& frame : with_verdict(frames, Verdict::not_judged))
        text += "Not judged: " + frame.name + " (" + frame.file + "): " + frame.reason + "\n";
    return text;
}

TriedFrames try_frames(const std::vector<LoadedFrame>& frames, Backend& backend, const Suspect& suspect) {
    TriedFrames tried;
    for (const LoadedFrame& frame : frames) {
        const Judgement judgement = judge(case_of(frame, suspect), backend);
        if (judgement.outcome.missing) tried.support.emplace_back(frame.graph, *judgement.outcome.missing);
        tried.frames.push_back(judged_frame(frame.name, frame.file.string(), judgement));
    }
    return tried;
}

void add_verdict(nlohmann::json& json, const JudgedFrame& frame) {
    json["verdict"] = name(frame.verdict);
    if (!frame.reason.empty()) json["reason"] = frame.reason;
    if (!frame.compared.empty()) json["compared"] = frame.compared;
    if (!frame.agree.empty()) json["agree"] = frame.agree;
}

void add_verdict(nlohmann::json& json, const std::vector<JudgedFrame>& frames) {
    JudgedFrame all{.verdict = verdict_of(frames)};
    const auto add = [](auto& list, const auto& more) {
        for (const auto& one : more)
            if (std::ranges::find(list, one) == list.end()) list.push_back(one);
    };
    for (const JudgedFrame& frame : with_verdict(frames, all.verdict)) {
        if (all.reason.empty()) all.reason = frame.reason;
        add(all.compared, frame.compared);
        add(all.agree, frame.agree);
    }
    if (frames.empty()) all.reason = "no graph was run";
    add_verdict(json, all);
}

nlohmann::json to_json(const JudgedFrame& frame) {
    nlohmann::json json = {{"frame", frame.name}, {"file", frame.file}};
    add_verdict(json, frame);
    return json;
}

std::string not_failing_text(const std::string& backend, Tier tier) {
    return "right: with " + backend +
           (tier == Tier::computes ? " it compiles, runs and computes what eager does"
                                   : " it compiles and runs (wrong results count only with --accuracy)");
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
                return "the script exits with 0, and any other exit is interesting";
            case Polarity::check:
                if (picky) return "the command " + seen;
                return "the command exits with 0 (--check: any other exit is the failure)";
        }
        __builtin_unreachable();
    };
    return "right: with " + judge + " " + how();
}

}  // namespace whittle::debug
