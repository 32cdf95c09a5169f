#include "frontends/libtorch/frames.h"

#include <algorithm>
#include <filesystem>
#include <optional>
#include <string_view>
#include <utility>

#include "frontends/libtorch/callers.h"
#include "frontends/libtorch/guess_calls.h"
#include "frontends/libtorch/stack_reader.h"

namespace whittle::libtorch {
namespace {

constexpr std::string_view kLoop = "::{loop";  // behind the function's name, in that of its iterations

/// Steps of one function, called from one place, that follow each other: one execution or several.
struct Run {
    FrameFunction of;
    const ProbedCall* call = nullptr;  ///< that it belongs to
    bool holes = false;                ///< modules were called between its steps
    std::vector<std::int32_t> steps = {};
};

/// Puts the steps of one thread into frames.
class Assigner {
  public:
    Assigner(const std::vector<Step>& steps, const Values& values, StackReader& stacks, const ProbedCalls& probes,
             const Callers& callers, std::span<const Gap> gaps, std::vector<FrameSteps>& frames)
        : steps_(steps),
          values_(values),
          stacks_(stacks),
          probes_(probes),
          guesser_(steps, values, stacks, callers, gaps),
          frames_(frames) {}

    void add(std::int32_t index) {
        const Step& step = steps_[static_cast<std::size_t>(index)];
        const StackInfo& info = stacks_.info(step.stack);
        const ProbedCall* const call = probes_.at(step.thread, step.order(), info.function);
        if (!info.module || !module_run_ || !module_run_->of.is_same_call(*info.module)) finish(module_run_);
        if (info.outside || info.root) {
            finish(run_);
        } else if (run_ && (!run_->of.is_same_call(info) || call != run_->call)) {
            finish(run_);
        }
        if (info.outside) return;
        if (!info.root && !run_) run_ = Run{.of = info, .call = call};
        if (info.module) {
            if (run_) run_->holes = true;
            if (!module_run_) module_run_ = Run{.of = *info.module};
            module_run_->steps.push_back(index);
        } else if (info.root) {
            if (root_ < 0) root_ = open(info, step.thread, call, true, true);
            frames_[static_cast<std::size_t>(root_)].steps.push_back(index);
        } else {
            run_->steps.push_back(index);
        }
    }

    /// Is the run of steps that was added last one of the function on this stack?
    bool is_running(const StackInfo& info) const {
        return run_ && !info.outside && !info.root && run_->of.is_same_call(info);
    }

    void finish(Ending ending) {
        finish(module_run_, ending);
        finish(run_, ending);
        if (root_ >= 0) split_root();
    }

  private:
    /// Cuts the run into executions.
    void finish(std::optional<Run>& ended, Ending ending = Ending::returned) {
        std::optional<Run> run = std::exchange(ended, std::nullopt);
        if (!run || run->steps.empty()) return;
        const std::vector<Iterations> loops = guesser_.long_loops(run->steps);
        if (!loops.empty()) return split(*run, loops);
        if (guesser_.has_gap(run->steps.front(), run->steps.back()))
            return count_only(function_at(run->steps.front()), run->steps.front());
        const std::uint32_t end = guesser_.last_stack(run->steps, ending);
        std::int32_t frame = -1;
        const std::size_t none = run->steps.size();
        std::size_t first = none;
        std::set<ValueId> made;
        CallerMotion motion;
        for (std::size_t i = 0; i < run->steps.size(); ++i) {
            const std::int32_t index = run->steps[i];
            const Step& step = steps_[static_cast<std::size_t>(index)];
            const FrameFunction& of = function_at(index);
            if (i > 0) guesser_.add(motion, run->steps[i - 1], index);
            const std::uint64_t number = call_number(index), before = i > 0 ? call_number(run->steps[i - 1]) : 0;
            const bool known = run->call || number;  // a call has its number from its start on, or never
            const bool anew = i == 0 || (!run->call && (known ? number != before : motion.moved(of)));
            const bool guess = !anew && !known && first != none && guesser_.may_begin(run->steps, i, first, end);
            if (guess) frames_[static_cast<std::size_t>(frame)].guessed = true;
            if (anew || (guess && guesser_.begins(run->steps, i, first, made, motion))) {
                frame = continued(number);
                if (frame < 0) {
                    frame = open_at(of, index, run->call, run->holes);
                    frames_.back().guessed = guess || (!known && may_go_on(of));
                    frames_.back().returned = ReturnTime{.thread = step.thread, .callers = of.callers};
                }
                if (number) by_call_[number] = frame;
                first = none;
                made.clear();
                motion = {};
            }
            if (first == none && step.kind == StepKind::op) first = i;
            for (const ValueId id : values_.results[static_cast<std::size_t>(index)]) made.insert(id);
            frames_[static_cast<std::size_t>(frame)].steps.push_back(index);
        }
    }

    std::int32_t open(const FrameFunction& of, std::uint32_t thread, const ProbedCall* call, bool root, bool holes) {
        frames_.push_back({of.function, of.file, of.line, root, holes, of.constructor, thread, call, {}});
        return static_cast<std::int32_t>(frames_.size()) - 1;
    }

    std::int32_t open_at(const FrameFunction& of, std::int32_t index, const ProbedCall* call, bool holes) {
        const Step& step = steps_[static_cast<std::size_t>(index)];
        const std::int32_t frame = open(of, step.thread, call, false, holes);
        frames_[static_cast<std::size_t>(frame)].times = step.times();
        return frame;
    }
    const FrameFunction& function_at(std::int32_t index) const {
        return stacks_.info(steps_[static_cast<std::size_t>(index)].stack).innermost();
    }
    /// "main::{loop at app.cpp:30}", the frame of an iteration that begins with the step.
    FrameFunction loop_at(std::int32_t index) const {
        FrameFunction of = function_at(index);
        of.constructor = false;
        const std::string file = std::filesystem::path(of.file).filename().string();
        of.function.append(kLoop) += (file.empty() ? "" : " at " + file + ":" + std::to_string(of.line)) + "}";
        return of;
    }

    /// An execution that is like one before.
    void count_only(const FrameFunction& of, std::int32_t first) {
        const auto like = std::find_if(frames_.rbegin(), frames_.rend(), [&](const FrameSteps& frame) {
            return frame.function == of.function && frame.file == of.file;
        });
        if (like != frames_.rend()) like->alike += steps_[static_cast<std::size_t>(first)].times();
    }

    /// An execution of `of` for each iteration.
    void split_loop(const std::vector<std::int32_t>& steps, const Iterations& loop, const FrameFunction& of,
                    const ProbedCall* call, bool holes) {
        for (std::size_t i = 0; i + 1 < loop.size(); ++i) {
            if (guesser_.has_gap(steps[loop[i]], steps[loop[i + 1] - 1])) {
                count_only(of, steps[loop[i]]);
                continue;
            }
            open_at(of, steps[loop[i]], call, holes);
            frames_.back().guessed = true;
            auto& own = frames_.back().steps;
            for (std::size_t k = loop[i]; k < loop[i + 1]; ++k) own.push_back(steps[k]);
        }
    }

    void split(const Run& run, const std::vector<Iterations>& loops) {
        const std::vector<std::int32_t>& steps = run.steps;
        const bool calls = guesser_.are_calls(steps, loops);
        std::int32_t around = -1;
        const auto add = [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) {
                if (around < 0 || (calls && i == from)) {
                    around = open_at(function_at(steps[i]), steps[i], run.call, run.holes || !calls);
                    frames_.back().guessed = true;
                }
                frames_[static_cast<std::size_t>(around)].steps.push_back(steps[i]);
            }
        };
        std::size_t at = 0;
        for (const Iterations& loop : loops) {
            add(at, loop.front());
            const std::int32_t first = steps[loop.front()];
            split_loop(steps, loop, calls ? function_at(first) : loop_at(first), run.call, run.holes);
            at = loop.back();
        }
        add(at, steps.size());
    }

    /// What main does itself may be a loop, as it mostly is.
    void split_root() {
        const std::vector<std::int32_t> steps = std::exchange(frames_[static_cast<std::size_t>(root_)].steps, {});
        const ProbedCall* const call = frames_[static_cast<std::size_t>(root_)].call;
        std::vector<std::int32_t> around;
        std::size_t at = 0;
        for (const auto& [loop, calls] : guesser_.root_loops(steps)) {
            around.insert(around.end(), steps.begin() + static_cast<std::ptrdiff_t>(at),
                          steps.begin() + static_cast<std::ptrdiff_t>(loop.front()));
            const std::int32_t first = steps[loop.front()];
            split_loop(steps, loop, calls ? function_at(first) : loop_at(first), call, true);
            at = loop.back();
        }
        around.insert(around.end(), steps.begin() + static_cast<std::ptrdiff_t>(at), steps.end());
        frames_[static_cast<std::size_t>(root_)].steps = std::move(around);
    }

    /// Of the call that the step belongs to; 0 where Python could not tell.
    std::uint64_t call_number(std::int32_t index) const {
        const auto& numbers = steps_[static_cast<std::size_t>(index)].begin->calls;
        const std::optional<std::size_t> position = function_at(index).position;
        return numbers && position && *position < numbers->size() ? (*numbers)[*position] : 0;
    }
    /// The execution that the call has already: a generator goes on after what asked it did something. -1: none.
    std::int32_t continued(std::uint64_t number) {
        const auto known = number ? by_call_.find(number) : by_call_.end();
        if (known == by_call_.end()) return -1;
        frames_[static_cast<std::size_t>(known->second)].holes = true;
        return known->second;
    }

    /// It may be a call that began before: a generator or coroutine is entered again from another place, or by a caller
    /// that has gone on.
    bool may_go_on(const FrameFunction& of) { return of.resumable && !resumed_.insert({of.file, of.function}).second; }

    const std::vector<Step>& steps_;
    const Values& values_;
    StackReader& stacks_;
    const ProbedCalls& probes_;
    const CallGuesser guesser_;
    std::vector<FrameSteps>& frames_;
    std::int32_t root_ = -1;
    std::map<std::uint64_t, std::int32_t> by_call_;          ///< the execution of each call whose number is known
    std::set<std::pair<std::string, std::string>> resumed_;  ///< functions that are resumable and were seen
    std::optional<Run> run_, module_run_;  ///< module_run_: of a module that the function of run_, or main, calls
};

Ending ending_of(const EventFile& file, std::uint32_t thread, const Assigner& assigner, StackReader& stacks) {
    if (file.cut != kNotCut) return Ending::unknown;
    if (file.end && file.end->thread == thread)
        return assigner.is_running(stacks.info(kEndStack)) ? Ending::inside : Ending::returned;
    return file.finished ? Ending::returned : Ending::unknown;
}

/// A frame's function returned between its last step and the next one of its thread. Where that is left out, or nothing
/// was recorded beyond, it is not known what it returned.
void tell_returns(const EventFile& file, const std::vector<Step>& steps, std::vector<FrameSteps>& frames) {
    std::vector<std::uint64_t> next(steps.size());
    std::map<std::uint32_t, std::uint64_t> following;  // by thread
    for (std::size_t i = steps.size(); i-- > 0;) {
        auto& order = following.try_emplace(steps[i].thread, UINT64_MAX).first->second;
        next[i] = std::exchange(order, steps[i].order());
    }
    for (FrameSteps& frame : frames) {
        if (!frame.returned) continue;
        const auto index = static_cast<std::size_t>(frame.steps.back());
        const Step& last = steps[index];
        frame.returned->after = last.end ? last.end->order : last.order();
        frame.returned->before = next[index];
        const bool ends = next[index] != UINT64_MAX || (file.finished && file.cut == kNotCut);
        const auto gaps = file.gaps.find(frame.thread);
        const bool whole = gaps == file.gaps.end() || std::ranges::none_of(gaps->second, [&](const Gap& gap) {
                               return gap.before >= frame.returned->after && gap.after <= frame.returned->before;
                           });
        if (file.released.empty() || !ends || !whole) frame.returned.reset();
    }
}

/// Sets which frames an exception ended: thrown in the function, and caught by what called that.
void tell_exceptions(const std::vector<Step>& steps, StackReader& stacks, Frames& frames) {
    for (FrameSteps& frame : frames.frames) {
        const Step& last = steps[static_cast<std::size_t>(frame.steps.back())];
        if (!last.raised || frame.root) continue;
        const StackInfo& info = stacks.info(last.raised->stack);
        const FrameFunction& of = info.innermost();
        if (!of.callers || last.raised->untouched >= *of.callers) continue;
        if (!of.is_same_call(stacks.info(last.stack).innermost())) continue;
        frame.raised = last.raised;
        frames.user_stacks.try_emplace(last.raised->stack, info.user);
    }
}

}  // namespace

Frames frames_of(const EventFile& file, const std::vector<Step>& steps, const Values& values, Symbolizer& symbolizer,
                 const ProbedCalls& probes, const std::vector<std::string>& functions) {
    Frames result;
    StackReader stacks(file, symbolizer, functions);
    const Callers callers(file);
    // All symbols first: whether the program has debug information decides what counts as the user's.
    for (const Step& step : steps)
        if (const auto pcs = file.stacks.find(step.stack); pcs != file.stacks.end())
            for (const std::uint64_t pc : pcs->second) symbolizer.places(pc);
    if (const auto pcs = file.stacks.find(kEndStack); pcs != file.stacks.end())
        for (const std::uint64_t pc : pcs->second) symbolizer.places(pc);
    std::map<std::uint32_t, Assigner> threads;
    for (std::size_t i = 0; i < steps.size(); ++i) {
        auto thread = threads.find(steps[i].thread);
        if (thread == threads.end()) {
            const auto gaps = file.gaps.find(steps[i].thread);
            const std::span<const Gap> own = gaps == file.gaps.end() ? std::span<const Gap>() : gaps->second;
            thread =
                threads.emplace(steps[i].thread, Assigner(steps, values, stacks, probes, callers, own, result.frames))
                    .first;
        }
        thread->second.add(static_cast<std::int32_t>(i));
        const auto [user, fresh] = result.user_stacks.try_emplace(steps[i].stack);
        if (fresh) {
            const StackInfo& info = stacks.info(steps[i].stack);
            user->second = info.user;
            if (!info.library.empty()) result.libraries.emplace(steps[i].stack, info.library);
        }
        result.stacks.push_back(&user->second);
    }
    result.functions = stacks.functions_seen();
    if (file.end) result.end = stacks.info(kEndStack).user;
    result.fork = stacks.fork_place();
    for (auto& [thread, assigner] : threads) {
        const Ending ending = ending_of(file, thread, assigner, stacks);
        if (ending == Ending::inside) result.ended_inside = stacks.info(kEndStack).function;
        assigner.finish(ending);
    }
    std::erase_if(result.frames, [](const FrameSteps& frame) { return frame.steps.empty(); });
    std::ranges::stable_sort(result.frames, {}, [](const FrameSteps& frame) { return frame.steps.front(); });
    tell_returns(file, steps, result.frames);
    tell_exceptions(steps, stacks, result);
    result.lines = symbolizer.program_has_lines();
    result.names = stacks.names();
    return result;
}

std::string_view code_of(std::string_view function) { return function.substr(0, function.find(kLoop)); }

std::span<const StackFrame> inside(const std::vector<StackFrame>& stack, std::string_view function) {
    const auto outermost = std::ranges::find(stack.rbegin(), stack.rend(), code_of(function), &StackFrame::function);
    return {stack.begin(), outermost == stack.rend() ? stack.end() : outermost.base()};
}

}  // namespace whittle::libtorch
