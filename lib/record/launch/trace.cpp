#include "record/launch/trace.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "backends/registry.h"
#include "base/command_words.h"
#include "base/interrupt.h"
#include "base/subprocess.h"
#include "base/words.h"
#include "frontends/cpp/description.h"
#include "frontends/halide/recording.h"
#include "frontends/halide/runs.h"
#include "graph/abilities.h"
#include "record/full_code.h"

namespace whittle {
namespace fs = std::filesystem;

namespace {

/// How graphs of a program are checked. Who was told to stop should not go on for long.
CaptureCheck check_of(const TraceRequest& request, const RanProgram& ran) {
    constexpr double kPart = 0.2, kLeast = 1;
    if (request.check == CheckPolicy::always) return CaptureCheck(CheckPolicy::always);
    if (request.check == CheckPolicy::never || interrupt_signal()) return CaptureCheck(CheckPolicy::never);
    return CaptureCheck(CheckPolicy::budget, std::max(kLeast, kPart * ran.seconds));
}

/// Each captured function as C++, beside its graphs.
std::vector<std::string> write_code(const fs::path& folder) {
    FullCode code = write_full_code(folder);
    for (const auto& [frame, text, file] : code.functions)
        code.notes.push_back(file.string() + " holds the code that runs in place of " +
                             file.parent_path().filename().string() +
                             "; read this code, or step through it in a debugger");
    return code.notes;
}

/// A program of our own API has written the folder itself. It ran on the backend, so that an error was its own to
/// handle and a crash its end; wrong results show when its frames are run once more.
void complete_own(const RanProgram& ran, const TraceRequest& request, Backend& backend, Traced& traced) {
    TraceWriter writer = TraceWriter::continued(request.folder);
    name_models(writer.index(), request.folder, request.models);
    writer.index().environment = request.environment;
    CaptureCheck check = check_of(request, ran);
    check_records(request.folder, writer.index(), check);
    writer.save();
    traced.index = writer.index();
    for (const IndexGraph& graph : traced.index.graphs)
        traced.frames.push_back(
            {.frame = graph.frame, .ops = graph.ops, .graph = graph.file, .capture_fault = graph.capture_fault});
    if (offered<Reference>(backend) || traced.index.graphs.empty() || request.records == RecordPolicy::never) return;
    Suspect suspect = request.suspect;
    suspect.tier = Tier::computes;
    traced.judged = try_frames(request.load(request.folder), backend, suspect).frames;
}

void write_folder(const RanProgram& ran, const TraceRequest& request, Backend& backend, Traced& traced) {
    std::map<std::string, std::string> environment = request.environment;
    if (!ran.interpreter.empty()) environment[kInterpreterKey] = ran.interpreter;
    TraceFolder folder(request.folder, request.models, request.suspect.spec.text(), std::move(environment));
    folder.check_with(check_of(request, ran));
    for (const capture::CapturedFrame& frame : ran.frames)
        for (TracedFrame& run : folder.add(frame, "LibTorch", backend, request.suspect, request.records))
            traced.frames.push_back(std::move(run));
    TraceIndex& index = folder.index();
    append(index.notes, ran.notes);
    index.op_times = ran.op_times;
    index.callers = ran.callers;
    index.torch_compilations = ran.torch_compilations;
    if (cpp::save_descriptions(request.folder, cpp::read_program(ran.program))) folder.add_file(cpp::kDescriptions);
    folder.save();
    traced.index = index;
    traced.compared = !index.records.empty() && !offered<Reference>(backend);
}

/// Runs of pipelines of Halide join the trace.
void add_halide_runs(const RanProgram& ran, const TraceRequest& request, Traced& traced) {
    const halide_program::Program program = halide_program::read_recording(request.halide, ran.program);
    halide_program::SavedRuns saved =
        save_runs(program, halide_program::Recording(request.halide, {}).inputs_folder(), request.folder);
    saved.notes.insert(saved.notes.begin(), program.notes.begin(), program.notes.end());
    if (program.found() && program.runs.empty())
        saved.notes.push_back("the program uses Halide, and runs no pipeline in its own process: no run was recorded");
    if (saved.records.empty() && saved.notes.empty()) return;
    TraceWriter writer = TraceWriter::continued(request.folder);
    TraceIndex& index = writer.index();
    for (halide_program::SavedRuns::Record& record : saved.records) {
        writer.add_file(record.file);
        traced.halide.push_back({std::move(record.file), std::move(record.name), record.runs});
    }
    for (const fs::path& file : saved.data) writer.add_file(file);
    if (program.found() && index.frames.empty()) {  // that it does not use LibTorch is no news then
        index.notes.clear();
        traced.unseen.clear();
    }
    for (std::vector<std::string>* const notes : {&index.notes, &traced.unseen})
        notes->insert(notes->end(), saved.notes.begin(), saved.notes.end());
    writer.save();
    traced.index = index;
}

/// "3 graphs, 2 graph breaks, 3 records".
std::string counts(const TraceIndex& index) {
    std::int64_t breaks = 0;
    for (const IndexBreak& entry : index.breaks) breaks += entry.count;
    const auto size = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
    return plural(size(index.graphs), "graph") + ", " + plural(breaks, "graph break") + ", " +
           plural(size(index.records), "record") +
           (index.graphs.empty() ? "" : ", " + checks_text(count_checks(index)));
}

}  // namespace

/// Why the run was no good; empty where it was.
static std::string failure_of(const TracedFrame& run) {
    return run.judged && run.judged->verdict == Verdict::fails ? run.judged->reason : run.failure;
}

std::size_t Traced::failures() const {
    return static_cast<std::size_t>(
        std::ranges::count_if(frames, [](const TracedFrame& run) { return !failure_of(run).empty(); }));
}

std::vector<JudgedFrame> Traced::all_judged() const {
    std::vector<JudgedFrame> all = judged;
    for (const TracedFrame& run : frames)
        if (run.judged) all.push_back(*run.judged);
    return all;
}

bool Traced::minifiable() const { return !by_reference && verdict_of(all_judged()) == Verdict::fails; }

bool Traced::only_file() const { return std::ranges::any_of(all_judged(), &JudgedFrame::only_file); }

bool Traced::wrong() const { return std::ranges::any_of(all_judged(), &JudgedFrame::wrong); }

bool Traced::good() const {
    return failures() == 0 && verdict_of(judged) != Verdict::fails &&
           std::ranges::all_of(frames, [](const TracedFrame& run) { return run.capture_fault.empty(); });
}

Verdict Traced::verdict() const {
    if (!good()) return Verdict::fails;
    const std::vector<JudgedFrame> all = all_judged();
    return all.empty() && compared ? Verdict::right : verdict_of(all);
}

Traced trace(const std::vector<LoadedFrame>& frames, const TraceRequest& request, const TraceObserver& observer) {
    const auto backend = find_backend(request.suspect.spec, request.suspect.options);
    TraceFolder folder(request.folder, request.models, request.suspect.spec.text(), request.environment);
    if (request.check == CheckPolicy::never) folder.check_with(CaptureCheck(CheckPolicy::never));
    Traced traced{.folder = request.folder, .by_reference = offered<Reference>(*backend) != nullptr};
    for (const LoadedFrame& frame : frames) {
        observer.before(frame);
        FrameToTrace run{.name = frame.name,
                         .file = frame.file.string(),
                         .asked = case_of(frame, request.suspect),
                         .inputs_from = frame.inputs_from};
        run.asked.suspect.accuracy = request.suspect.accuracy;  // else as the new record says
        try {
            traced.frames.push_back(folder.add(run, *backend, request.records));
        } catch (const Error& error) {
            if (frames.size() == 1) throw;
            traced.not_traced.push_back({frame.file.string(), error});
            observer.failed(error);
            continue;
        }
        observer.after(traced.frames.back());
    }
    if (!traced.frames.empty()) folder.save();
    traced.index = folder.index();
    return traced;
}

Traced trace(const RanProgram& ran, const TraceRequest& request) {
    const auto backend = find_backend(request.suspect.spec, request.suspect.options);
    Traced traced{.folder = request.folder,
                  .unseen = ran.notes,
                  .status = ran.status,
                  .ending = ran.ending(),
                  .by_reference = offered<Reference>(*backend) != nullptr};
    (ran.own ? complete_own : write_folder)(ran, request, *backend, traced);
    if (!request.halide.empty()) add_halide_runs(ran, request, traced);
    traced.code = write_code(request.folder);
    return traced;
}

RanProgram run_to_trace(ProgramRequest program, const TraceRequest& request) {
    program.with_data = true;
    program.folder = request.folder;
    program.records = request.records;
    program.halide = request.halide;
    program.halide_runs = true;
    program.so_far = [&](const RanProgram& so_far, const fs::path& into) {
        TraceRequest now = request;
        now.folder = into;
        now.suspect = {.spec = kReferenceBackend};  // which need not run what LibTorch has computed
        now.check = CheckPolicy::never;
        now.halide.clear();  // its runs are read when it has ended
        trace(so_far, now);
        TraceIndex index = load_index(into);
        name_models(index, request.folder, request.models);  // from where it will be
        save_index(into, index);
    };
    return run_program(program);
}

bool is_good(const TracedFrame& traced) {
    const bool unjudged = traced.judged && traced.judged->verdict == Verdict::not_judged;
    return traced.capture_fault.empty() && traced.gradient_faults.empty() && failure_of(traced).empty() && !unjudged;
}

std::string to_text(const TracedFrame& traced, const fs::path& folder) {
    std::string text = (folder / traced.graph).string() + ": " + plural(traced.ops, "op") + "\n";
    if (traced.record)
        text += (folder / *traced.record).string() + ": " +
                (traced.inputs_from.empty() ? "no inputs" : "inputs from " + traced.inputs_from) +
                (traced.expected_from.empty() ? ", no expected outputs"
                                              : ", expected outputs from " + traced.expected_from) +
                "\n";
    if (!traced.capture_fault.empty()) text += "CAPTURE FAULT " + traced.capture_fault + "\n";
    if (const std::string failure = failure_of(traced); !failure.empty())
        text += "FAIL " + failure + "\n";
    else if (traced.judged && !(traced.judged->verdict == Verdict::right && traced.judged->compared.empty()))
        text += text_of(*traced.judged) + "\n";
    return text;
}

std::string not_traced_text(const Traced& traced) {
    std::vector<std::string> files;
    for (const NotTraced& one : traced.not_traced) files.push_back(one.file);
    return files.empty() ? "" : "not traced: " + join(files) + "\n";
}

std::string next_replay(const Traced& traced) {
    const auto judged = [](const TracedFrame& run) {
        return run.record && run.runnable && !(run.judged && run.judged->verdict == Verdict::not_judged);
    };
    if (std::ranges::none_of(traced.frames, judged)) return {};
    return next_line(shell_quote(program_words("replay", {traced.folder.string(), "--backend", "halide"})));
}

std::vector<std::string> to_lines(const Traced& traced, bool quiet) {
    std::vector<std::string> lines;
    for (const TracedFrame& run : traced.frames) {
        const std::string file = (traced.folder / run.graph).string();
        if (!run.capture_fault.empty()) lines.push_back("CAPTURE FAULT " + file + ": " + run.capture_fault);
        for (const std::string& fault : run.gradient_faults) lines.push_back("GRADIENT FAULT " + file + ": " + fault);
        if (const std::string failure = failure_of(run); !failure.empty())
            lines.push_back("FAIL " + file + ": " + failure);
        else if (run.judged && run.judged->verdict == Verdict::not_judged)
            lines.push_back(file + ": " + text_of(*run.judged));
    }
    for (const JudgedFrame& frame : with_verdict(traced.judged, Verdict::fails))
        lines.push_back("FAIL " + frame.file + ": " + frame.reason);
    const std::size_t failures = traced.failures();
    if (traced.index.frames.empty() || failures)
        for (const std::string& note : traced.unseen) lines.push_back((failures ? "note: " : "") + note);
    if (quiet) return lines;
    append(lines, traced.code);
    for (const Traced::HalideRecord& record : traced.halide)
        lines.push_back((traced.folder / record.file).string() + ": " + plural(record.runs, "run") +
                        " of the pipeline " + record.pipeline);
    if (!traced.halide.empty() && traced.index.frames.empty()) {
        lines.push_back(traced.folder.string() + ": " + plural(traced.halide.size(), "pipeline") +
                        " of Halide; the program " + traced.ending);
        return lines;
    }
    lines.push_back(traced.folder.string() + ": " + counts(traced.index) +
                    (traced.compared ? ", " + plural(failures, "difference") + " from LibTorch" : "") +
                    "; the program " + traced.ending);
    return lines;
}

nlohmann::json to_json(const Traced& traced) {
    nlohmann::json frames = nlohmann::json::array();
    for (const TracedFrame& run : traced.frames) {
        nlohmann::json& entry =
            frames.emplace_back(nlohmann::json{{"frame", run.frame}, {"graph", run.graph.string()}});
        const auto add = [&](const char* key, const std::string& text) {
            if (!text.empty()) entry[key] = text;
        };
        if (run.record) entry["record"] = run.record->string();
        add("inputs_from", run.inputs_from);
        add("expected_from", run.expected_from);
        add("capture_fault", run.capture_fault);
        add("failure", failure_of(run));
        if (run.judged) add_verdict(entry, *run.judged);
        if (!run.gradient_faults.empty()) entry["gradient_faults"] = run.gradient_faults;
    }
    nlohmann::json all = {{"output", traced.folder.string()}, {"frames", frames}, {"verdict", name(traced.verdict())}};
    for (const NotTraced& one : traced.not_traced)
        all["not_traced"].push_back({{"file", one.file}, {"message", std::string(one.error.what())}});
    for (const Traced::HalideRecord& record : traced.halide)
        all["halide"].push_back(
            {{"record", record.file.string()}, {"pipeline", record.pipeline}, {"runs", record.runs}});
    if (!traced.status.empty()) all["program"] = traced.status;
    for (const JudgedFrame& frame : traced.judged) all["judged"].push_back(to_json(frame));
    return all;
}

}  // namespace whittle
