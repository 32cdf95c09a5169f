#include "frontends/libtorch/notes.h"

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <utility>

#include "base/words.h"
#include "frontends/libtorch/builder.h"
#include "symbolize/text.h"

namespace whittle::libtorch {
namespace {

std::string place(const std::vector<StackFrame>& stack) {
    if (stack.empty() || stack.front().file.empty() || stack.front().line == 0) return {};
    const StackFrame& frame = stack.front();
    return " at " + std::filesystem::path(frame.file).filename().string() + ":" + std::to_string(frame.line);
}

bool did_not_end(const Recording& recording, std::int32_t index) {
    const Step& step = recording.step(index);
    return !step.end || step.order() == recording.file.unfinished;
}

/// The op that had begun and did not end, or else the last one, and what became of it.
std::string last_op(const Recording& recording) {
    std::int32_t last = -1;
    for (auto i = static_cast<std::int32_t>(recording.steps.size()) - 1; i >= 0; --i) {
        if (recording.step(i).kind != StepKind::op) continue;
        if (last < 0 || did_not_end(recording, i)) last = i;
        if (did_not_end(recording, i)) break;
    }
    if (last < 0) return {};
    const Step& step = recording.step(last);
    return "the last operation, " + step.op->target() + place(recording.stack(last)) +
           (did_not_end(recording, last)    ? ", did not finish"
            : step.threw()                  ? ", threw an exception"
            : recording.file.cut == kCutNan ? ", is the first whose result has a NaN"
                                            : ", finished");
}

std::string note_of_end(const Recording& recording, const std::string& ended, std::optional<std::size_t> successor) {
    const EventFile& file = recording.file;
    const std::string& inside = recording.frames.ended_inside;
    std::string note = "the program ";
    if (ended == kStillRuns) {
        return note + "was still running when this trace was written; later operations are missing";
    } else if (!file.end) {
        note += ended.empty() ? "ended" : ended.starts_with("killed") ? "was " + ended : "ended with " + ended;
        note += " without returning from main";
    } else if (!file.end->replaced_by.empty()) {
        note += "replaced itself by " + file.end->replaced_by + " (" + file.end->function +
                place(recording.frames.end) + "), " +
                (successor ? "which is process " + std::to_string(*successor + 1) : "which was not captured");
    } else {
        note += "ended by " + file.end->function + place(recording.frames.end);
    }
    if (!inside.empty()) note += ", so the last execution of " + inside + " is incomplete";
    if (file.last) return note;  // note_of_last() says what was captured
    const std::string last = last_op(recording);
    note += "; all operations before the end were captured";
    return last.empty() ? note : note + "; " + last;
}

/// Children mostly end so: nothing that the parent would do at its end is theirs.
bool is_end_of_child(const EventFile& file) {
    return file.process.forked && file.end && (file.end->function == "_exit" || file.end->function == "_Exit");
}

}  // namespace

const char* reason_of(CutReason cut) {
    switch (cut) {
        case kNotCut:
            break;
        case kCutSize:
            return "at the size limit (--capture limit)";
        case kCutTime:
            return "at the time limit (--capture seconds)";
        case kCutDisk:
            return "because the disk was full";
        case kCutError:
            return "because of an error in Whittle";
        case kCutReading:
            return "because a signal left no time to process the remaining operations";
        case kCutNan:
            return "at the first result with a NaN (--until)";
    }
    return "";
}

std::string note_of_last(const Recording& recording) {
    const LastOperations& last = recording.file.last.value();
    const std::string op = last_op(recording);
    return "kept " + std::string(last.found < last.asked ? "" : "the last ") + plural(last.found, "operation") +
           (last.full ? ": more operations do not fit into " + std::to_string((last.bytes >> 20) + 1) +
                            " MB (--capture limit)"
                      : "") +
           (op.empty() ? "" : "; " + op);
}

std::string fork_place(const Recording& recording) { return place(recording.frames.fork); }

std::vector<std::string> notes_of_end(const Recording& recording, const std::string& ended, const Processes& processes,
                                      std::size_t process) {
    const EventFile& file = recording.file;
    std::vector<std::string> notes;
    for (const Event& event : file.events)
        if (event.kind == RecordKind::note) notes.push_back(event.text);
    if (file.cut != kNotCut) {
        notes.push_back(std::string("the capture was stopped ") + reason_of(file.cut) +
                        "; later operations are missing" +
                        (file.missed ? ": " + plural(file.missed, "operation") : ""));
    } else if ((!file.finished && !is_end_of_child(file)) || !recording.frames.ended_inside.empty()) {
        notes.push_back(note_of_end(recording, ended, processes.successor(process)));
    }
    if (file.left_out)
        notes.push_back("the elements of " + plural(file.left_out, "tensor") +
                        " were not recorded because of the size limit (--capture limit): graphs that need these "
                        "elements have no record");
    if (file.lost)
        notes.push_back(plural(file.lost, "event") +
                        " could not be captured, because memory ran out or the tensors are of an unknown kind");
    if (const std::int64_t compiling = static_cast<std::int64_t>(file.traced) + recording.compiling)
        notes.push_back(plural(compiling, "operation") +
                        " that torch.compile or torch.export ran while compiling the program " +
                        (compiling == 1 ? "is" : "are") + " in no graph");
    std::int64_t repeated = 0;
    for (const Step& step : recording.steps) repeated += step.kind == StepKind::op ? step.times() - 1 : 0;
    if (repeated)
        notes.push_back("long loops: " + plural(repeated, "operation") +
                        " were only counted, because these operations repeat earlier iterations; the numbers among the "
                        "arguments may differ between iterations");
    if (file.cut == kNotCut && file.missed)
        notes.push_back(plural(file.missed, "operation") +
                        " that ran after main, in exit handlers and destructors of static objects, "
                        "are in no graph");
    std::ranges::move(notes_of_processes(processes, process, file.processes), std::back_inserter(notes));
    return notes;
}

std::vector<std::string> notes_of_escapes(const Recording& recording) {
    std::vector<std::string> notes;
    const auto blobs = static_cast<std::uint64_t>(
        std::ranges::count_if(recording.steps, [](const Step& step) { return step.kind == StepKind::blob; }));
    if (blobs)
        notes.push_back(
            "possible untracked mutation: " + plural(blobs, "tensor") +
            " made by from_blob share memory that the program can change without an operation" +
            (recording.file.with_data ? "" : "; to detect such changes, run trace, which compares the elements"));
    const TracedValue* first = nullptr;
    std::set<std::pair<std::uint64_t, std::int32_t>> writes;  // storage, step that read it
    for (const TracedValue& value : recording.values.values)
        if (value.unseen && writes.emplace(value.tensor.storage, value.first_use).second && !first) first = &value;
    if (first)
        notes.push_back(
            "untracked mutation: " + plural(writes.size(), "time") +
            ", the program wrote to a tensor through a pointer (data_ptr(), from_blob ...), and not by an operation. "
            "Such a tensor is an input of the next graph. The first of these writes was before " +
            recording.step(first->first_use).op->target() + place(recording.stack(first->first_use)));
    return notes;
}

std::vector<std::string> notes_of_parameters(const Recording& recording) {
    // What is missing may read them, and so may code that is not seen.
    const auto unseen = [](const Step& step) { return step.kind == StepKind::compiled; };
    const EventFile& file = recording.file;
    if (file.cut != kNotCut || file.last || std::ranges::any_of(recording.steps, unseen)) return {};
    std::set<std::int32_t> initializing;
    for (const FrameSteps& frame : recording.frames.frames)
        if (frame.constructor) initializing.insert(frame.steps.begin(), frame.steps.end());
    std::set<std::uint64_t> read;
    for (std::size_t i = 0; i < recording.steps.size(); ++i)
        if (!initializing.contains(static_cast<std::int32_t>(i)))
            for (const EventValue& value : recording.steps[i].begin->values)
                for_each_tensor(value, [&](const TensorRef& tensor) { read.insert(tensor.id); });
    const auto module = [](const TensorName& name) { return std::pair(name.root, name.root ? "" : name.type); };
    std::set<std::pair<std::uint64_t, std::string>> used;
    for (const TensorName& name : recording.file.names)
        if (read.contains(name.tensor)) used.insert(module(name));
    std::vector<std::string> unread;
    for (const TensorName& name : recording.file.names)
        if (name.kind == NameKind::parameter && !read.contains(name.tensor) && used.contains(module(name)))
            unread.push_back(name.path);
    constexpr std::size_t kShown = 8;
    if (unread.empty()) return {};
    return {"no operation reads " + plural(unread.size(), "parameter") +
            " of modules that the program uses: " + listed(unread, kShown)};
}

std::vector<std::string> notes_of_placements(const std::vector<capture::CapturedFrame>& frames) {
    std::set<std::string> kinds;
    std::size_t graphs = 0;
    for (const capture::CapturedFrame& frame : frames)
        for (const capture::CapturedGraph& captured : frame.graphs) {
            graphs += misplaced_value(captured.graph).has_value();
            for (const Node& node : captured.graph.nodes)
                for (const ValueMeta& meta : node.results)
                    if (meta.placement) kinds.insert(meta.placement->text());
        }
    if (!graphs) return {};
    std::string list;
    for (const std::string& kind : kinds) list += (list.empty() ? "" : ", ") + kind;
    return {plural(graphs, "graph") + (graphs > 1 ? " have" : " has") + " values that no backend supports (" + list +
            "): replay skips " + (graphs > 1 ? "these graphs" : "this graph")};
}

std::vector<std::string> notes_of_functions(const std::set<std::string>& seen,
                                            const std::vector<std::string>& functions) {
    std::vector<std::string> notes;
    std::vector<std::string> known;  // by the names that --function takes, too
    for (const std::string& function : seen) {
        known.push_back(function);
        if (unqualified(function) != function) known.push_back(unqualified(function));
    }
    for (const std::string& name : functions) {
        if (std::ranges::find(known, name) != known.end()) continue;
        std::string note = "--function " + name + ": no operation of LibTorch was called from a function of this name";
        std::string hint = did_you_mean(name, known);
        if (hint.empty() && !seen.empty()) {
            constexpr std::size_t kShown = 8;
            hint = "found " + listed(std::vector<std::string>(seen.begin(), seen.end()), kShown);
        }
        notes.push_back(note + (hint.empty() ? "" : "; " + hint));
    }
    return notes;
}

}  // namespace whittle::libtorch
