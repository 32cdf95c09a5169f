#include "report/subject.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "backends/registry.h"
#include "base/error.h"
#include "base/log.h"
#include "base/words.h"
#include "record/captured.h"
#include "record/trace_folder.h"
#include "replay/profile.h"
#include "trace/frame_record.h"

namespace whittle::report {
namespace fs = std::filesystem;

Subject subject_of(const fs::path& model, std::vector<LoadedFrame> graphs) {
    Subject subject{.model = model.string()};
    for (LoadedFrame& loaded : graphs) {
        subject.frames.push_back({.name = loaded.name,
                                  .file = loaded.file.string(),
                                  .graph = std::move(loaded.graph),
                                  .breaks = std::move(loaded.breaks),
                                  .unknown = std::move(loaded.unknown)});
    }
    if (!find_trace(model)) return subject;
    subject.index = load_index(model);
    for (const IndexRecord& record : subject.index->records)
        if (record.graph.empty() && failed(load_frame_record(model / record.file)))
            subject.index->notes.push_back("capture of a function failed: " + record.file.string() +
                                           " has the operations of the function; to repeat the capture, run replay");
    for (Frame& frame : subject.frames) frame.captured = was_captured(frame, *subject.index);
    return subject;
}

Subject subject_of(const RanProgram& ran) {
    Subject subject{.model = ran.identity().string(), .program = {ran.program.string()}, .frames = graphs_of(ran)};
    append(subject.program, ran.arguments);
    subject.index = ran.own ? *ran.own : index_of(subject.model, ran.frames);
    if (!ran.op_times.empty()) subject.index->op_times = ran.op_times;
    if (!ran.callers.empty()) subject.index->callers = ran.callers;
    if (!ran.torch_compilations.empty()) subject.index->torch_compilations = ran.torch_compilations;
    std::vector<std::string>& notes = subject.index->notes;
    append(notes, ran.notes);
    if (ran.good()) return subject;
    notes.insert(notes.begin(), "the program: " + ran.status);
    subject.ended = ran.ending();
    return subject;
}

std::vector<std::string> Subject::words(const std::vector<std::string>& options) const {
    std::vector<std::string> words = {program.empty() ? model : program[0]};
    append(words, options);
    if (program.size() < 2) return words;
    words.push_back("--");
    words.insert(words.end(), program.begin() + 1, program.end());
    return words;
}

std::string fullgraph_text(const Subject& subject, const Report& report) {
    if (!report.first_break && !subject.ended.empty()) return "the program " + subject.ended + "\n";
    const std::vector<std::string> why = why_not_whole(report, subject.frames, false);
    return why.empty() ? "" : why[0];
}

std::string graph_of(const Subject& subject, const JudgedFrame& failing) {
    const fs::path file = failing.file;
    if (subject.index)
        for (const IndexRecord& record : subject.index->records)
            if (!record.graph.empty() && file.filename() == record.file.filename()) return record.graph;
    for (const Frame& frame : subject.frames)
        if (frame.file == failing.file && frame.name == failing.name) return frame.graph.name;
    return {};
}

void predict(Subject& subject, std::vector<cpp::Analysis> predictions) {
    if (!predictions.empty() && !subject.index)
        throw Error({subject.model, {}},
                    "found neither a program nor a folder written by trace to compare the predictions with",
                    "leave out MODEL to print only the predictions");
    subject.predictions = std::move(predictions);
}

std::vector<Frame> graphs_of(const RanProgram& ran) {
    std::vector<Frame> all;
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

TriedFrames try_frames(const RanProgram& ran, const fs::path& folder, Backend& backend, const Suspect& suspect) {
    TriedFrames tried;
    const fs::path model = ran.identity();
    TraceFolder trace(folder, {&model, 1}, suspect.spec.text(), {});
    for (const capture::CapturedFrame& frame : ran.frames)
        for (const TracedFrame& run : trace.add(frame, "LibTorch", backend, suspect, RecordPolicy::on_error))
            if (run.judged) {
                tried.frames.push_back(*run.judged);
                tried.frames.back().file = run.graph.filename().string();
            }
    trace.save();
    return tried;
}

void note_tried(Subject& subject, TriedFrames tried) {
    for (Frame& frame : subject.frames)
        for (const auto& [graph, missing] : tried.support)
            if (same_structure(graph, frame.graph)) frame.unsupported = missing;
    subject.tried = true;
    subject.judged = std::move(tried.frames);
}

namespace {

double end_of(const std::vector<TimeSpan>& spans) {
    double end = 0;
    for (const TimeSpan& span : spans) end = std::max(end, span.start + span.seconds);
    return end;
}

/// `more` was measured after `to`, by a clock of its own.
void add_behind(Profile& to, Profile&& more) {
    const double behind = end_of(to.spans);
    for (TimeSpan& span : more.spans) {
        span.start += behind;
        if (!more.backend.empty()) span.backend = more.backend;
    }
    append(to.spans, std::move(more.spans));
    append(to.graphs, std::move(more.graphs));
    append(to.kernels, std::move(more.kernels));
    append(to.memory, std::move(more.memory));
    append(to.ops, std::move(more.ops));
    if (more.machine) to.machine = more.machine;
    if (!more.backend.empty()) to.backend = more.backend;
}

}  // namespace

Profile profile(const std::vector<LoadedFrame>& frames, const Suspect& suspect, bool code) {
    Profile all{.backend = suspect.spec.text()};
    const std::unique_ptr<Backend> backend = find_backend(suspect.spec, suspect.options);
    std::set<std::string> known;
    for (const LoadedFrame& frame : frames) {
        if (known.size() == kMostProfiled) {
            log_warning(LogChannel::run, "only the first " + std::to_string(kMostProfiled) + " graphs are timed");
            break;
        }
        if (!known.insert(frame.graph.name).second) continue;
        add_behind(all, whittle::profile(frame.graph, frame.inputs, *backend, suspect.options,
                                         {.code = code, .limits = suspect.limits}));
    }
    return all;
}

void add_profile(Subject& subject, Profile measured) {
    Profile& all = subject.profile;
    if (subject.index) {
        all.spans = subject.index->spans;
        all.ops = subject.index->op_times;
    }
    add_behind(all, std::move(measured));
    std::set<std::string> known;
    for (const MemoryProfile& memory : all.memory) known.insert(memory.graph);
    for (const Frame& frame : subject.frames)
        if (!frame.graph.nodes.empty() && known.insert(frame.graph.name).second)
            all.memory.push_back(memory_by_liveness(frame.graph));
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

Report report(const Subject& subject, const Backend& backend) {
    Report report = explain(subject.model, subject.frames, &backend, subject.index ? &*subject.index : nullptr);
    report.failing = subject.failing().size();
    if (subject.tried) report.verdict = verdict_text(report.backend, shown(subject));
    return report;
}

std::string to_text(const Subject& subject, const Report& report, const TextOptions& options) {
    std::string text = failures_text(with_verdict(shown(subject), Verdict::fails));
    if (!text.empty()) text += "\n";
    text += to_text(report, options);
    if (options.times && !subject.profile.empty()) text += "\n" + to_text(subject.profile, options);
    if (!subject.predictions.empty()) text += joined_text(subject.predictions, subject.index->breaks, options);
    return text;
}

nlohmann::json to_json(const Subject& subject, const Report& report) {
    nlohmann::json json = to_json(report);
    if (!subject.profile.empty()) json["profile"] = to_json(subject.profile);
    if (!subject.predictions.empty()) json["static"] = joined_json(subject.predictions, subject.index->breaks);
    if (subject.runnable.empty()) return json;
    add_verdict(json, subject.judged);
    json["judged"] = nlohmann::json::array();
    for (const JudgedFrame& frame : subject.judged) json["judged"].push_back(to_json(frame));
    return json;
}

}  // namespace whittle::report
