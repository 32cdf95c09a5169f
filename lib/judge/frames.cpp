#include "judge/frames.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "base/words.h"
#include "judge/exact.h"

namespace whittle {

/// Of a backend that was to run the graphs of a program that has none.
static constexpr char kNoGraphRun[] = "no graph was run";

Accuracy accuracy_for(const LoadedFrame& frame, const Suspect& suspect) {
    if (suspect.accuracy) return *suspect.accuracy;
    if (frame.record) return frame.record->accuracy;
    return frame.graph.failure ? frame.graph.failure->accuracy : Accuracy{};
}

FailingCase case_of(const LoadedFrame& frame, const Suspect& suspect) {
    FailingCase asked{.graph = frame.graph,
                      .inputs = frame.inputs,
                      .given = {frame.expected, frame.expected_from},
                      .suspect = suspect,
                      .file = frame.onnx ? &*frame.onnx : nullptr,
                      .broken = frame.breaks.empty() ? "" : frame.breaks.front().reason,
                      .scope = frame.scope};
    asked.suspect.accuracy = accuracy_for(frame, suspect);
    return asked;
}

void make_exact(LoadedFrame& frame, std::uint64_t seed) {
    if (frame.graph.nodes.empty()) return;  // known by its file alone
    ExactCase made = exact_case(frame.graph, frame.inputs, seed);
    if (!made.chosen) return;
    frame.scope = made.scope();
    frame.graph = std::move(made.graph);
    frame.inputs = std::move(made.inputs);
    frame.inputs_from = "exact data, seed " + std::to_string(seed);
    frame.expected.clear();
    frame.expected_from.clear();
    frame.updates.clear();
    frame.onnx.reset();
}

std::string interpreter_of(const LoadedFrame& frame) {
    if (frame.graph.failure && !frame.graph.failure->python.empty()) return frame.graph.failure->python;
    if (!frame.record) return {};
    const auto found = frame.record->environment.find(kInterpreterKey);
    return found == frame.record->environment.end() ? std::string() : found->second;
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
            .only_file = !judgement.only_file.empty()};
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
    if (frames.empty()) return std::string("Not judged: ") + kNoGraphRun + "\n";
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
        text += "Backend " + backend + " runs " + graphs + "; there are no expected results to compare with.\n";
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
        for (const auto& one : more) add_once(list, one);
    };
    for (const JudgedFrame& frame : with_verdict(frames, all.verdict)) {
        if (all.reason.empty()) all.reason = frame.reason;
        add(all.compared, frame.compared);
        add(all.agree, frame.agree);
    }
    if (frames.empty()) all.reason = kNoGraphRun;
    add_verdict(json, all);
}

nlohmann::json to_json(const JudgedFrame& frame) {
    nlohmann::json json = {{"frame", frame.name}, {"file", frame.file}};
    add_verdict(json, frame);
    return json;
}

std::string passing_text(const std::string& backend, Tier tier) {
    return backend + (tier == Tier::computes
                          ? " compiles and runs the model, and the results match the results of eager"
                          : " compiles and runs the model (the results are compared only with --accuracy)");
}

}  // namespace whittle
