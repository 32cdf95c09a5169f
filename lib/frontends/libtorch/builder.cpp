#include "frontends/libtorch/builder.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <set>

#include "base/log.h"
#include "base/words.h"
#include "capture/log.h"
#include "frontends/libtorch/fold.h"
#include "frontends/libtorch/notes.h"
#include "frontends/libtorch/piece_graph.h"
#include "graph/verify.h"
#include "ops/aten/capture.h"
#include "ops/core/registry.h"

namespace whittle::libtorch {

namespace {

class Builder {
  public:
    Builder(const EventFile& file, const BuildOptions& options)
        : options_(options),
          recording_(file, options.level, options.functions),
          cutter_(recording_, options.dynamic_shapes),
          elements_(file) {}

    CapturedProgram build() {
        CapturedProgram program;
        for (const Step& step : recording_.steps) program.op_count += step.kind == StepKind::op ? step.times() : 0;
        FrameFolder folder(options_.most_variants);
        for (const FrameSteps& steps : recording_.frames.frames) {
            if (options_.functions.empty() && !steps.root && is_constructor(steps.function)) {
                initialisations_[steps.function] += op_count(steps);
                continue;
            }
            if (std::optional<capture::CapturedFrame> captured = build(steps)) folder.add(std::move(*captured));
        }
        program.frames = folder.finish();
        dropped_ = folder.dropped();
        name_frames(program.frames);
        std::ranges::for_each(program.frames, capture::log_frame);
        if (recording_.file.with_times) add_times(program);
        add_callers(program);
        add_notes(program);
        return program;
    }

  private:
    /// Nothing for a frame without graphs, unless that is because of operations that no graph can have. A write that
    /// turns out to be none of a graph's becomes a break, and the frame is cut again.
    std::optional<capture::CapturedFrame> build(const FrameSteps& steps) {
        log_debug(LogChannel::capture, "cutting an execution of " + steps.function + " into graphs");
        for (;;) {
            const FramePlan plan = cutter_.plan(steps);
            std::optional<Refusal> refusal;
            std::optional<capture::CapturedFrame> frame = build(plan, refusal);
            if (!refusal) return frame;
            if (auto* reason = std::get_if<std::string>(&refusal->why))
                cutter_.refuse(refusal->step, std::move(*reason));
            else
                cutter_.end_before(refusal->step, std::get<capture::GraphBreak>(std::move(refusal->why)));
        }
    }

    std::optional<capture::CapturedFrame> build(const FramePlan& plan, std::optional<Refusal>& refusal) {
        capture::CapturedFrame frame{.function = plan.steps->function,
                                     .file = plan.steps->file,
                                     .line = plan.steps->line,
                                     .calls = plan.steps->times + plan.steps->alike};
        PieceGraphs graphs(recording_, cutter_, elements_, *plan.steps);
        std::int64_t made = 0;
        std::uint64_t told = 0;  // branches before this event are told
        for (const Piece& piece : plan.pieces) {
            if (makes_only(piece)) {
                made += static_cast<std::int64_t>(piece.steps.size());
                continue;
            }
            if (auto graph = graphs.build(piece, refusal)) {
                rely_on_host(*graph, *plan.steps, told, recording_.step(piece.steps.back()).order());
                told = recording_.step(piece.steps.back()).order();
                graph->runs = frame.calls;
                frame.graphs.push_back(std::move(*graph));
            }
            if (refusal) return std::nullopt;
        }
        made_ += frame.calls * made;
        const bool impossible = std::ranges::any_of(plan.breaks, [](const capture::GraphBreak& entry) {
            return entry.kind == capture::BreakKind::unregistered_op;
        });
        if (frame.graphs.empty() && !impossible) return std::nullopt;
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

    /// Of all executions, captured ones or not; a function that is no frame is called as it is.
    void add_times(CapturedProgram& program) const {
        std::map<std::string, std::string> names;
        for (const capture::CapturedFrame& frame : program.frames) names.emplace(frame.function, frame.name);
        std::map<std::pair<std::string, std::string>, OpTime> times;
        for (const FrameSteps& frame : recording_.frames.frames)
            for (const std::int32_t index : frame.steps) {
                const Step& step = recording_.step(index);
                if (step.kind != StepKind::op || !step.end) continue;
                const auto known = names.find(frame.function);
                const std::string& name = known == names.end() ? frame.function : known->second;
                OpTime& time =
                    times.try_emplace({name, step.op->target()}, OpTime{name, step.op->target()}).first->second;
                ++time.calls;
                time.seconds += 1e-9 * static_cast<double>(step.end->nanoseconds);
            }
        for (auto& [key, time] : times) program.op_times.push_back(std::move(time));
        std::ranges::stable_sort(program.op_times, [](const OpTime& a, const OpTime& b) {
            return a.frame != b.frame ? a.frame < b.frame : a.seconds > b.seconds;
        });
    }

    void add_callers(CapturedProgram& program) const {
        std::map<std::string, std::string> names;
        for (const capture::CapturedFrame& frame : program.frames) names.emplace(frame.function, frame.name);
        for (const FrameSteps& frame : recording_.frames.frames) {
            const auto name = names.find(frame.function);
            if (frame.root || frame.steps.empty() || name == names.end()) continue;
            const std::vector<StackFrame>& stack = recording_.stack(frame.steps.front());
            const auto outside = stack.begin() + std::ssize(inside(stack, frame.function));
            if (outside == stack.end()) continue;
            const auto known = std::ranges::find_if(program.callers, [&](const Caller& caller) {
                return caller.frame == name->second &&
                       std::ranges::equal(caller.stack, std::span(outside, stack.end()));
            });
            if (known != program.callers.end())
                known->calls += frame.times + frame.alike;
            else if (program.callers.size() < kMostCallers)
                program.callers.push_back({name->second, {outside, stack.end()}, frame.times + frame.alike});
        }
    }

    /// "f", then "f_1", "f_2" …; a frame's graphs "f_0", "f_1" … where there are several. No two are called the same.
    static void name_frames(std::vector<capture::CapturedFrame>& frames) {
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

    /// "C::C", "C.__init__" of Python: what it computes are the initial values of parameters.
    static bool is_constructor(const std::string& function) {
        if (function.ends_with(".__init__")) return true;
        const auto colons = function.rfind("::");
        if (colons == std::string::npos || function.ends_with('>')) return false;
        std::string scope = function.substr(0, colons);
        if (const auto angle = scope.find('<'); angle != std::string::npos) scope.resize(angle);
        const auto outer = scope.rfind("::");
        return function.substr(colons + 2) == (outer == std::string::npos ? scope : scope.substr(outer + 2));
    }

    std::int64_t op_count(const FrameSteps& steps) const {
        std::int64_t count = 0;
        for (const std::int32_t step : steps.steps)
            count += recording_.step(step).kind == StepKind::op ? recording_.step(step).times() : 0;
        return count;
    }

    /// "Net__forward"; "main_lambda_at_app_cpp_90" of main::{lambda at app.cpp:90}; of Python "module" of <module>,
    /// "train_locals_step" of train.<locals>.step.
    static std::string identifier_of(const std::string& function) {
        const bool python = function.starts_with('<') || function.find(".<") != std::string::npos;
        std::string name = identifier(python ? function : short_name(function));
        if (!python && function.find('{') == std::string::npos) return name;
        const auto both = [](char a, char b) { return a == '_' && b == '_'; };
        name.erase(std::unique(name.begin(), name.end(), both), name.end());
        if (name.ends_with('_')) name.pop_back();
        return name.starts_with('_') ? name.substr(1) : name;
    }

    static std::string short_name(const std::string& function) {
        const auto angle = function.find('<');
        const std::string plain = angle == std::string::npos || angle == 0 ? function : function.substr(0, angle);
        return plain.empty() ? "frame" : plain;
    }

    /// Ops without tensor arguments, and those that fill a tensor with one number.
    bool makes_only(const Piece& piece) const {
        return std::ranges::all_of(piece.steps, [&](std::int32_t step) {
            return recording_.reads(step).empty() || capture_role(recording_.step(step).op->name) == CaptureRole::fills;
        });
    }

    void add_notes(CapturedProgram& program) const {
        std::vector<std::string>& notes = program.notes;
        for (std::vector<std::string> more :
             {notes_of_functions(recording_, options_.functions), notes_of_end(recording_, options_.ended)})
            std::ranges::move(more, std::back_inserter(notes));
        if (!recording_.frames.names && !recording_.steps.empty())
            notes.push_back(
                "the program has no symbols (stripped): functions are told by address; build it with -g for names, "
                "files and lines");
        else if (!recording_.frames.lines && !recording_.steps.empty())
            notes.push_back("the program has no debug information: no files and lines; build it with -g");
        std::ranges::move(notes_of_escapes(recording_), std::back_inserter(notes));
        std::ranges::move(notes_of_placements(program.frames), std::back_inserter(notes));
        if (made_)
            notes.push_back("counted in no graph: " + plural(made_, "operation") +
                            " that only make tensors (ones, arange ...); these are inputs");
        for (const auto& [function, count] : initialisations_)
            notes.push_back("initialisation: " + plural(count, "operation") + " of " + function +
                            " in no graph (--function " + function + " captures them)");
        if (dropped_)
            notes.push_back(plural(dropped_, "recompile") + " counted only: of each graph " +
                            std::to_string(options_.most_variants) + " specializations are told");
        if (program.frames.empty()) return;
        notes.push_back(std::string("never seen: ") + (recording_.file.with_data ? "" : "untyped data_ptr() and ") +
                        "sizes that the program reads");
    }

    const BuildOptions& options_;
    Recording recording_;
    Cutter cutter_;
    Elements elements_;
    std::int64_t made_ = 0, dropped_ = 0;
    std::map<std::string, std::int64_t> initialisations_;  ///< ops of constructors
};

}  // namespace

CapturedProgram build_frames(const EventFile& file, const BuildOptions& options) {
    return Builder(file, options).build();
}

}  // namespace whittle::libtorch
