#include "frontends/libtorch/builder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/log.h"
#include "base/words.h"
#include "capture/log.h"
#include "frontends/libtorch/notes.h"
#include "frontends/libtorch/piece_graph.h"
#include "frontends/libtorch/statement.h"
#include "frontends/libtorch/torch_names.h"
#include "graph/verify.h"
#include "ops/aten/capture.h"
#include "ops/core/registry.h"

namespace whittle::libtorch {

struct Collected {
    BuildOptions options;
    Processes processes;
    /// By the program that they run: one of them may be executed by another.
    std::vector<std::pair<std::string, FrameFolder>> folders = {};
    std::size_t added = 0;             ///< processes
    std::vector<OpTime> times = {};    ///< by function: frames have no names yet …
    std::vector<Caller> callers = {};  ///< … and so are these
    std::vector<std::string> notes = {}, last = {}, titles = {};
    std::set<std::string> functions = {};
    std::map<std::string, std::int64_t> initialisations = {};  ///< ops of constructors
    std::int64_t op_count = 0, made = 0, imported = 0;         ///< imported: by packages that are
    bool with_data = false, with_times = false;

    FrameFolder& folder_of(const std::string& program) {
        const auto known = std::ranges::find(folders, program, &std::pair<std::string, FrameFolder>::first);
        if (known != folders.end()) return known->second;
        return folders.emplace_back(program, FrameFolder(options.most_variants)).second;
    }
};

namespace {

/// Adds one process.
class Builder {
  public:
    Builder(const EventFile& file, Collected& to)
        : options_(to.options),
          to_(to),
          process_(to.added++),
          recording_(file, options_.level, options_.functions),
          cutter_(recording_, options_.dynamic_shapes),
          elements_(file),
          wanted_(recording_) {}

    void build() {
        std::int64_t op_count = 0;
        for (const Step& step : recording_.steps) op_count += step.kind == StepKind::op ? step.times() : 0;
        to_.op_count += op_count;
        to_.imported += recording_.imported;
        const EventFile& file = recording_.file;
        std::set<std::string> captured_functions;
        FrameFolder& folder = to_.folder_of(file.mappings.empty() ? "" : file.mappings.front().path);
        find_wanted();
        for (const FrameSteps& steps : recording_.frames.frames) {
            if (options_.functions.empty() && !steps.root && steps.constructor) {
                to_.initialisations[steps.function] += this->op_count(steps);
                continue;
            }
            if (std::optional<capture::CapturedFrame> captured = build(steps)) {
                number_apart(*captured);
                captured_functions.insert(captured->function);
                folder.add(std::move(*captured));
            }
        }
        to_.with_data |= file.with_data;
        to_.with_times |= file.with_times;
        to_.functions.insert(recording_.frames.functions.begin(), recording_.frames.functions.end());
        if (file.with_times) add_times();
        add_callers(captured_functions);
        add_notes();
        add_title(op_count);
    }

  private:
    /// Which results are outputs, all executions of a function taken together.
    void find_wanted() {
        std::map<std::pair<std::string, std::string>, int> executions;
        for (const FrameSteps& steps : recording_.frames.frames) ++executions[{steps.function, steps.file}];
        for (const FrameSteps& steps : recording_.frames.frames) {
            const FramePlan plan = cutter_.plan(steps);
            // What is cut once is equal to nothing else.
            if (executions.at({steps.function, steps.file}) < 2 && plan.pieces.size() < 2) continue;
            PieceGraphs graphs(recording_, cutter_, elements_, steps, wanted_);
            for (const Piece& piece : plan.pieces) graphs.find_wanted(piece);
        }
    }

    /// Nothing for a frame without graphs, unless that is because of operations that no graph can have or that threw,
    /// or the frame chooses its way by a tensor's value. Writes that turn out to be none of a graph's become breaks,
    /// the first of each piece, and the frame is cut again.
    std::optional<capture::CapturedFrame> build(const FrameSteps& steps) {
        log_debug(LogChannel::capture, "cutting an execution of " + steps.function + " into graphs");
        for (;;) {
            const FramePlan plan = cutter_.plan(steps);
            std::vector<Refusal> refusals;
            std::optional<capture::CapturedFrame> frame = build(plan, refusals);
            if (refusals.empty()) return frame;
            for (Refusal& refusal : refusals)
                if (auto* reason = std::get_if<std::string>(&refusal.why))
                    cutter_.refuse(refusal.step, std::move(*reason));
                else
                    cutter_.end_before(refusal.step, std::get<capture::GraphBreak>(std::move(refusal.why)));
        }
    }

    std::optional<capture::CapturedFrame> build(const FramePlan& plan, std::vector<Refusal>& refusals) {
        capture::CapturedFrame frame{.function = plan.steps->function,
                                     .file = plan.steps->file,
                                     .line = plan.steps->line,
                                     .calls = plan.steps->times + plan.steps->alike,
                                     .calls_guessed = plan.steps->guessed};
        PieceGraphs graphs(recording_, cutter_, elements_, *plan.steps, wanted_);
        std::int64_t made = 0;
        std::uint64_t told = 0;  // branches before this event are told
        for (const Piece& piece : plan.pieces) {
            if (makes_only(piece)) {
                made += static_cast<std::int64_t>(piece.steps.size());
                continue;
            }
            std::optional<Refusal> refusal;
            std::optional<capture::CapturedGraph> graph = graphs.build(piece, refusal);
            if (refusal) refusals.push_back(std::move(*refusal));
            if (graph) {
                rely_on_host(*graph, *plan.steps, told, recording_.step(piece.steps.back()).order());
                told = recording_.step(piece.steps.back()).order();
                graph->runs = frame.calls;
                frame.graphs.push_back(std::move(*graph));
            }
        }
        if (!refusals.empty()) return std::nullopt;
        to_.made += frame.calls * made;
        // A read that is no more than printed breaks nothing in a frame without operations.
        const bool matters = std::ranges::any_of(plan.breaks, [](const capture::GraphBreak& entry) {
            const bool decides = entry.kind == capture::BreakKind::branch ||
                                 (entry.kind == capture::BreakKind::item && !entry.stack.empty() &&
                                  compares_a_read_value(entry.stack.front().text));
            const bool threw = entry.kind == capture::BreakKind::exception && !entry.op.empty();
            return decides || threw || capture::keeps_op_out(entry.kind);
        });
        if (frame.graphs.empty() && !matters) return std::nullopt;
        frame.breaks = plan.breaks;
        for (capture::GraphBreak& entry : frame.breaks) entry.count += plan.steps->alike;
        return frame;
    }

    /// Adds what probes told of the frame's execution: its numbers, and the ways that it went since the graph before.
    void rely_on_host(capture::CapturedGraph& graph, const FrameSteps& frame, std::uint64_t from,
                      std::uint64_t until) const {
        if (!frame.call || frame.root) return;
        // A value that the program read just before decided.
        const auto data_dependent = [&](std::uint64_t order) {
            const auto next = std::ranges::lower_bound(
                frame.steps, order, {}, [&](std::int32_t index) { return recording_.step(index).order(); });
            if (next == frame.steps.begin()) return false;
            const Step& before = recording_.step(*std::prev(next));
            return before.kind == StepKind::op && (before.op->flags & kReturnsOnlyHost) != 0 && before.order() > from;
        };
        for (capture::Guard& guard : ProbedCalls::value_guards(*frame.call)) graph.guards.push_back(std::move(guard));
        for (capture::Guard& guard : recording_.probes.branch_guards(*frame.call, from, until, data_dependent))
            graph.guards.push_back(std::move(guard));
    }

    /// Graphs of other processes have other numbers, and so have breaks.
    void number_apart(capture::CapturedFrame& frame) const {
        const std::int64_t first = static_cast<std::int64_t>(process_) << 32;
        for (capture::GraphBreak& entry : frame.breaks) entry.order += first;
        for (capture::CapturedGraph& graph : frame.graphs) {
            graph.order += first;
            if (graph.number >= 0) graph.number += first;
            for (std::int64_t& number : graph.differentiates)
                if (number >= 0) number += first;
        }
    }

    /// Of all executions, captured ones or not.
    void add_times() {
        std::map<std::pair<std::string, std::string>, OpTime> times;
        for (const FrameSteps& frame : recording_.frames.frames)
            for (const std::int32_t index : frame.steps) {
                const Step& step = recording_.step(index);
                if (step.kind != StepKind::op || !step.end) continue;
                OpTime& time =
                    times.try_emplace({frame.function, step.op->target()}, OpTime{frame.function, step.op->target()})
                        .first->second;
                ++time.calls;
                time.seconds += 1e-9 * static_cast<double>(step.end->nanoseconds);
            }
        for (auto& [key, time] : times) to_.times.push_back(std::move(time));
    }

    void add_callers(const std::set<std::string>& functions) {
        for (const FrameSteps& frame : recording_.frames.frames) {
            const bool called = !frame.root && code_of(frame.function) == frame.function;  // no iteration of a loop
            if (!called || frame.steps.empty() || !functions.contains(frame.function)) continue;
            const std::vector<StackFrame>& stack = recording_.stack(frame.steps.front());
            const auto outside = stack.begin() + std::ssize(inside(stack, frame.function));
            if (outside == stack.end()) continue;
            const auto known = std::ranges::find_if(to_.callers, [&](const Caller& caller) {
                return caller.frame == frame.function &&
                       std::ranges::equal(caller.stack, std::span(outside, stack.end()));
            });
            if (known != to_.callers.end())
                known->calls += frame.times + frame.alike;
            else if (to_.callers.size() < kMostCallers)
                to_.callers.push_back({frame.function, {outside, stack.end()}, frame.times + frame.alike});
        }
    }

    std::int64_t op_count(const FrameSteps& steps) const {
        std::int64_t count = 0;
        for (const std::int32_t step : steps.steps)
            count += recording_.step(step).kind == StepKind::op ? recording_.step(step).times() : 0;
        return count;
    }

    /// Ops without tensor arguments, and those that fill what they made with one number.
    bool makes_only(const Piece& piece) const {
        const auto is_of_piece = [&](ValueId id) {
            return std::ranges::binary_search(piece.steps, recording_.value(id).step);
        };
        return std::ranges::all_of(piece.steps, [&](std::int32_t step) {
            const auto& read = recording_.reads(step);
            return read.empty() || (capture_role(recording_.step(step).op->name) == CaptureRole::fills &&
                                    std::ranges::all_of(read, is_of_piece));
        });
    }

    /// What is told of other processes than the first says so.
    std::string of_process(std::string text) const {
        return (process_ ? "process " + std::to_string(process_ + 1) + ": " : "") + std::move(text);
    }
    void note(std::string text) const { to_.notes.push_back(of_process(std::move(text))); }

    void add_notes() const {
        if (recording_.file.last) to_.last.push_back(of_process(note_of_last(recording_)));
        for (std::string& text : notes_of_end(recording_, process_ ? "" : options_.ended, to_.processes, process_))
            note(std::move(text));
        if (!recording_.frames.names && !recording_.steps.empty())
            note(
                "the program has no symbols (stripped): functions are shown by address; to see names, files and lines, "
                "build the program with -g");
        else if (!recording_.frames.lines && !recording_.steps.empty())
            note(
                "the program has no debug information: files and lines are unknown; to see files and lines, build the "
                "program with -g");
        for (std::string& text : notes_of_escapes(recording_)) note(std::move(text));
        for (std::string& text : notes_of_parameters(recording_)) note(std::move(text));
    }

    /// "process 2 (forked by process 1 at app.cpp:30): 12 operations, in f (3 calls), g (2 calls (guessed)), main".
    void add_title(std::int64_t op_count) const {
        constexpr std::size_t kShown = 6;
        struct Called {
            std::string function;
            std::int64_t times = 0;
            bool guessed = false;
        };
        std::vector<Called> calls;
        for (const FrameSteps& frame : recording_.frames.frames) {
            auto known = std::ranges::find(calls, frame.function, &Called::function);
            if (known == calls.end()) known = calls.insert(calls.end(), {.function = frame.function});
            known->times += frame.times + frame.alike;
            known->guessed |= frame.guessed;
        }
        std::vector<std::string> functions;
        for (const Called& one : calls) {
            const std::string counted = call_count(one.times, one.guessed);
            functions.push_back(one.function + (counted.empty() ? "" : " (" + counted + ")"));
        }
        to_.titles.push_back(to_.processes.title(process_, fork_place(recording_)) + ": " +
                             plural(op_count, "operation") + (functions.empty() ? "" : ", in ") +
                             listed(functions, kShown));
    }

    const BuildOptions& options_;
    Collected& to_;
    const std::size_t process_;
    Recording recording_;
    Cutter cutter_;
    Elements elements_;
    WantedResults wanted_;
};

// ---- Names

std::string short_name(const std::string& function) {
    const auto angle = function.find('<');
    const std::string plain = angle == std::string::npos || angle == 0 ? function : function.substr(0, angle);
    return plain.empty() ? "frame" : plain;
}

/// "Net__forward"; "main_lambda_at_app_cpp_90" of main::{lambda at app.cpp:90}; of Python
/// "train_locals_step" of train.<locals>.step, and "toplevel" of <module>, which is no torch.nn.Module.
std::string identifier_of(const std::string& function) {
    if (function.starts_with(kModuleCode))  // or a loop there
        return identifier_of("toplevel" + function.substr(kModuleCode.size()));
    const bool python = function.starts_with('<') || function.find(".<") != std::string::npos;
    std::string name = identifier(python ? function : short_name(function));
    if (!python && function.find('{') == std::string::npos) return name;
    const auto both = [](char a, char b) { return a == '_' && b == '_'; };
    name.erase(std::unique(name.begin(), name.end(), both), name.end());
    if (name.ends_with('_')) name.pop_back();
    return name.starts_with('_') ? name.substr(1) : name;
}

/// "f", then "f_1", "f_2" …; a frame's graphs "f_0", "f_1" … where there are several. No two are called the same.
void name_frames(std::vector<capture::CapturedFrame>& frames) {
    std::set<std::string> taken;
    const auto graph_name = [](const capture::CapturedFrame& frame, const std::string& name, std::size_t i) {
        return frame.graphs.size() > 1 ? name + "_" + std::to_string(i) : name;
    };
    for (capture::CapturedFrame& frame : frames) {
        const std::string base = identifier_of(frame.function);
        const auto is_free = [&](const std::string& name) {
            if (taken.contains(name)) return false;
            for (std::size_t i = 0; i < frame.graphs.size(); ++i)
                if (taken.contains(graph_name(frame, name, i))) return false;
            return true;
        };
        frame.name = base;
        for (int i = 1; !is_free(frame.name); ++i) frame.name = base + "_" + std::to_string(i);
        for (std::size_t i = 0; i < frame.graphs.size(); ++i) {
            Graph& graph = frame.graphs[i].graph;
            graph.name = graph_name(frame, frame.name, i);
            taken.insert(graph.name);
            verify(graph, Stage::captured, Registry::instance());
        }
        for (capture::CapturedGraph& backward : frame.graphs)
            for (capture::CapturedGraph& forward : backward.forward)
                forward.graph.name = frame.graphs.at(forward.variant_of.value()).graph.name;
        taken.insert(frame.name);
    }
}

/// Times of functions become those of their frames; a function that is no frame is called as it is. The longest first.
void add_times(std::vector<OpTime> of_functions, CapturedProgram& program) {
    std::map<std::string, std::string> names;
    for (const capture::CapturedFrame& frame : program.frames) names.emplace(frame.function, frame.name);
    std::map<std::pair<std::string, std::string>, OpTime> times;
    for (OpTime& one : of_functions) {
        if (const auto known = names.find(one.frame); known != names.end()) one.frame = known->second;
        const auto [time, fresh] = times.try_emplace({one.frame, one.op}, one);
        if (fresh) continue;
        time->second.calls += one.calls;
        time->second.seconds += one.seconds;
    }
    for (auto& [key, time] : times) program.op_times.push_back(std::move(time));
    std::ranges::stable_sort(program.op_times, [](const OpTime& a, const OpTime& b) {
        return a.frame != b.frame ? a.frame < b.frame : a.seconds > b.seconds;
    });
}

void add_callers(std::vector<Caller> of_functions, CapturedProgram& program) {
    std::map<std::string, std::string> names;
    for (const capture::CapturedFrame& frame : program.frames) names.emplace(frame.function, frame.name);
    for (Caller& caller : of_functions)
        if (const auto name = names.find(caller.frame); name != names.end())
            program.callers.push_back({name->second, std::move(caller.stack), caller.calls});
}

/// "processes 2 to 5, each (forked by process 1 at app.cpp:30): …": neighbours that did alike are told at once. The
/// i-th title begins with "process i".
std::vector<std::string> together(const std::vector<std::string>& titles) {
    const auto number = [](std::size_t i) { return std::to_string(i + 1); };
    const auto rest = [&](std::size_t i) { return titles[i].substr(("process " + number(i)).size()); };
    std::vector<std::string> told;
    for (std::size_t i = 0, end = 0; i < titles.size(); i = end) {
        for (end = i + 1; end < titles.size() && rest(end) == rest(i);) ++end;
        told.push_back(end == i + 1 ? titles[i]
                                    : "processes " + number(i) + " to " + number(end - 1) + ", each" + rest(i));
    }
    return told;
}

void add_notes(Collected& from, CapturedProgram& program) {
    std::vector<std::string>& notes = program.notes;
    notes = notes_of_functions(from.functions, from.options.functions);
    program.last = from.last;
    std::ranges::move(from.last, std::back_inserter(notes));
    std::ranges::move(from.notes, std::back_inserter(notes));
    if (from.titles.size() > 1) std::ranges::move(together(from.titles), std::back_inserter(notes));
    std::ranges::move(notes_of_placements(program.frames), std::back_inserter(notes));
    if (from.made)
        notes.push_back(plural(from.made, "operation") +
                        (from.made == 1 ? " that only creates tensors (ones, arange ...) is"
                                        : " that only create tensors (ones, arange ...) are") +
                        " in no graph; these tensors are inputs of the graphs");
    for (const auto& [function, count] : from.initialisations)
        notes.push_back("initialization: " + plural(count, "operation") + " of " + function +
                        (count == 1 ? " is" : " are") + " in no graph; to capture these operations, add --function " +
                        function);
    if (from.imported)
        notes.push_back("initialization: " + plural(from.imported, "operation") + " during the import of packages " +
                        (from.imported == 1 ? "is" : "are") + " in no graph");
    std::int64_t dropped = 0;
    for (const auto& [name, folder] : from.folders) dropped += folder.dropped();
    if (dropped)
        notes.push_back(plural(dropped, "recompile") + " were only counted, not reported: at most " +
                        std::to_string(from.options.most_variants) +
                        " specializations of each graph are reported (--compile cache_limit)");
    if (program.frames.empty()) return;
    notes.push_back(std::string("capture cannot see when the program ") +
                    (from.with_data ? "" : "calls the untyped data_ptr() or ") + "reads the sizes of a tensor");
}

}  // namespace

ProgramBuilder::ProgramBuilder(BuildOptions options, std::vector<ProcessIdentity> processes)
    : collected_(new Collected{.options = std::move(options), .processes = Processes(std::move(processes))}) {}
ProgramBuilder::~ProgramBuilder() = default;

void ProgramBuilder::add(const EventFile& file) { Builder(file, *collected_).build(); }

CapturedProgram ProgramBuilder::finish() {
    Collected& collected = *collected_;
    CapturedProgram program;
    program.op_count = collected.op_count;
    for (auto& [name, folder] : collected.folders)
        std::ranges::move(folder.finish(), std::back_inserter(program.frames));
    name_frames(program.frames);
    std::ranges::for_each(program.frames, capture::log_frame);
    if (collected.with_times) add_times(std::move(collected.times), program);
    add_callers(std::move(collected.callers), program);
    add_notes(collected, program);
    return program;
}

CapturedProgram build_frames(const EventFile& file, const BuildOptions& options) {
    ProgramBuilder builder(options, {file.process});
    builder.add(file);
    return builder.finish();
}

}  // namespace whittle::libtorch
