#include "debug/subject.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/words.h"
#include "run/captured.h"
#include "run/trace_folder.h"
#include "trace/frame_record.h"

namespace whittle::debug {
namespace fs = std::filesystem;

Subject subject_of(const fs::path& model, std::vector<LoadedFrame> graphs) {
    Subject subject{.model = model.string()};
    for (LoadedFrame& loaded : graphs) {
        explain::Frame frame{.name = loaded.name,
                             .file = loaded.file.string(),
                             .graph = std::move(loaded.graph),
                             .unknown = std::move(loaded.unknown)};
        for (const Break& b : loaded.breaks) frame.breaks.push_back({b.node, b.reason});
        subject.frames.push_back(std::move(frame));
    }
    if (!find_trace(model)) return subject;
    subject.index = load_index(model);
    for (const IndexRecord& record : subject.index->records)
        if (record.graph.empty() && failed(load_frame_record(model / record.file)))
            subject.index->notes.push_back("capture failed in a function: " + record.file.string() +
                                           " has what it did; replay captures it again");
    for (explain::Frame& frame : subject.frames) frame.captured = explain::was_captured(frame, *subject.index);
    return subject;
}

/// How the program ended, where that was no success; the subject has an index.
static void note_end(Subject& subject, const RanProgram& ran) {
    if (ran.good()) return;
    subject.index->notes.insert(subject.index->notes.begin(), "the program: " + ran.status);
    subject.ended = ran.ending();
}

Subject subject_of(const fs::path& program, const RanProgram& ran) {
    Subject subject{.model = program.string(), .frames = graphs_of(ran)};
    subject.index = ran.own ? *ran.own : index_of(program.string(), ran.frames);
    if (!ran.op_times.empty()) subject.index->op_times = ran.op_times;
    if (!ran.callers.empty()) subject.index->callers = ran.callers;
    std::vector<std::string>& notes = subject.index->notes;
    notes.insert(notes.end(), ran.notes.begin(), ran.notes.end());
    note_end(subject, ran);
    return subject;
}

std::string fullgraph_text(const Subject& subject, const explain::Report& report) {
    if (!report.first_break && !subject.ended.empty()) return "the program " + subject.ended + "\n";
    const std::vector<std::string> why = explain::why_not_whole(report, subject.frames, false);
    return why.empty() ? "" : why[0];
}

void predict(Subject& subject, std::vector<cpp::Analysis> predictions) {
    if (!predictions.empty() && !subject.index)
        throw Error({subject.model, {}}, "with a source it must be a program, or a folder written by trace",
                    "leave MODEL out to see the predictions alone");
    subject.predictions = std::move(predictions);
}

std::vector<explain::Frame> graphs_of(const RanProgram& ran) {
    std::vector<explain::Frame> all;
    for (std::size_t i = 0; i < ran.own_graphs.size(); ++i) {
        const IndexGraph& entry = ran.own->graphs[i];
        all.push_back({.name = entry.frame, .file = entry.file.string(), .graph = ran.own_graphs[i], .captured = true});
    }
    for (const capture::CapturedFrame& frame : ran.frames)
        for (const capture::CapturedGraph& graph : frame.graphs)
            all.push_back(
                {.name = frame.name, .file = graph.graph.name + ".json", .graph = graph.graph, .captured = true});
    return all;
}

TriedFrames try_frames(const fs::path& program, const RanProgram& ran, const fs::path& folder, Backend& backend,
                       const Suspect& suspect) {
    TriedFrames tried;
    TraceFolder trace(folder, {&program, 1}, suspect.spec.text(), {});
    for (const capture::CapturedFrame& frame : ran.frames)
        for (const TracedFrame& run : trace.add(frame, "LibTorch", backend, suspect.options, RecordPolicy::on_error)) {
            const std::string file = run.graph.filename().string();
            if (run.judgement) tried.frames.push_back(judged_frame(frame.name, file, *run.judgement));
        }
    trace.finish();
    return tried;
}

void note_tried(Subject& subject, TriedFrames tried) {
    for (explain::Frame& frame : subject.frames)
        for (const auto& [graph, missing] : tried.support)
            if (same_structure(graph, frame.graph)) frame.unsupported = missing;
    subject.judged = std::move(tried.frames);
}

/// What the judge said, of a program by the graphs' names: the files that the graphs were judged from are gone.
static std::vector<JudgedFrame> shown(const Subject& subject) {
    std::vector<JudgedFrame> frames = subject.judged;
    if (subject.index)
        for (JudgedFrame& frame : frames)
            if (const fs::path file = frame.file; !file.has_parent_path()) frame.file = file.stem().string();
    return frames;
}

/// A line for each graph that fails: how its first run does.
static std::string failures_text(const std::vector<JudgedFrame>& failing) {
    std::string text;
    for (auto frame = failing.begin(); frame != failing.end(); ++frame) {
        const auto same = [&](const JudgedFrame& other) { return other.file == frame->file; };
        if (std::any_of(failing.begin(), frame, same)) continue;
        const auto more = std::count_if(frame + 1, failing.end(), same);
        text += "FAIL " + frame->name + " (" + frame->file + "): " + frame->reason +
                (more ? "; " + plural(more, "more run") + (more == 1 ? " fails" : " fail") : "") + "\n";
    }
    return text;
}

explain::Report report(const Subject& subject, const Backend& backend) {
    explain::Report report =
        explain::explain(subject.model, subject.frames, &backend, subject.index ? &*subject.index : nullptr);
    report.failing = subject.failing().size();
    report.verdict = verdict_text(report.backend, shown(subject));
    return report;
}

std::string to_text(const Subject& subject, const explain::Report& report, const explain::TextOptions& options) {
    std::string text = failures_text(with_verdict(shown(subject), Verdict::fails));
    if (!text.empty()) text += "\n";
    text += explain::to_text(report, options);
    if (options.times && !subject.profile.empty()) text += "\n" + explain::to_text(subject.profile, options);
    if (!subject.predictions.empty()) text += explain::joined_text(subject.predictions, subject.index->breaks, options);
    return text;
}

nlohmann::json to_json(const Subject& subject, const explain::Report& report) {
    nlohmann::json json = explain::to_json(report);
    if (!subject.profile.empty()) json["profile"] = explain::to_json(subject.profile);
    if (!subject.predictions.empty()) json["static"] = explain::joined_json(subject.predictions, subject.index->breaks);
    if (subject.runnable.empty()) return json;
    add_verdict(json, subject.judged);
    json["judged"] = nlohmann::json::array();
    for (const JudgedFrame& frame : subject.judged) json["judged"].push_back(to_json(frame));
    return json;
}

}  // namespace whittle::debug
