#include "frontends/libtorch/frames.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "frontends/libtorch/callers.h"
#include "frontends/libtorch/loops.h"
#include "frontends/libtorch/stack_reader.h"
#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch {

namespace {

/// What is known of the end of a thread's last execution.
enum class Ending {
    returned,
    inside,  ///< it was cut short
    unknown
};

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
          callers_(callers),
          gaps_(gaps),
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
    static constexpr std::size_t kLeastIterations = 3;  ///< of a loop of main's own
    static constexpr std::int64_t kLongLoop = 10000;    ///< steps, of any

    /// Cuts the run into executions.
    void finish(std::optional<Run>& ended, Ending ending = Ending::returned) {
        std::optional<Run> run = std::exchange(ended, std::nullopt);
        if (!run || run->steps.empty()) return;
        const std::vector<Iterations> loops = long_loops(run->steps);
        if (!loops.empty()) return split(*run, loops);
        if (has_gap(run->steps.front(), run->steps.back()))
            return count_only(function_at(run->steps.front()), run->steps.front());
        const std::uint32_t end = last_stack(run->steps, ending);
        std::int32_t frame = -1;
        const std::size_t none = run->steps.size();
        std::size_t first = none;
        std::set<ValueId> made;
        CallerMotion motion;
        for (std::size_t i = 0; i < run->steps.size(); ++i) {
            const std::int32_t index = run->steps[i];
            const Step& step = steps_[static_cast<std::size_t>(index)];
            const FrameFunction& of = function_at(index);
            if (i > 0) add(motion, run->steps[i - 1], index);
            const std::uint64_t number = call_number(index), before = i > 0 ? call_number(run->steps[i - 1]) : 0;
            const bool known = run->call || (number && before);
            const bool anew = i == 0 || (!run->call && (known ? number != before : motion.moved(of)));
            const bool guess = !anew && !known && first != none && is_same_code(index, run->steps[first]) &&
                               steps_[static_cast<std::size_t>(run->steps[i - 1])].stack == end;
            const auto comes_again = [&] {
                return !motion.waits(of) &&
                       ((callers_.tells_loops() && motion.touched(of)) || is_again(run->steps, i, first, made));
            };
            if (guess) frames_[static_cast<std::size_t>(frame)].guessed = true;
            if (anew || (guess && comes_again())) {
                frame = continued(number);
                if (frame < 0) {
                    frame = open_at(of, index, run->call, run->holes);
                    frames_.back().guessed = guess;
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

    // ---- Loops

    /// What the step does, and where. In main, a loop over parameters is none: each iteration has others.
    std::uint64_t code(std::int32_t index, bool with_weights) const {
        const Step& step = steps_[static_cast<std::size_t>(index)];
        std::uint64_t code = step.stack * 0x9e3779b97f4a7c15ull + reinterpret_cast<std::uintptr_t>(step.op) * 31 +
                             static_cast<std::uint64_t>(step.kind) * 2 + (step.backward ? 1 : 0);
        if (with_weights)
            for (const TensorName* name : weights(index))
                code = code * 0xff51afd7ed558ccdull + reinterpret_cast<std::uintptr_t>(name);
        return code;
    }
    /// Where the iterations of a loop begin among steps, and behind the last one where it ends.
    using Iterations = std::vector<std::size_t>;

    /// By the period of what is computed; what looks at values, now and then, belongs to the iteration around it.
    std::vector<Iterations> loops(const std::vector<std::int32_t>& steps, bool with_weights) const {
        std::vector<std::uint64_t> codes;
        std::vector<std::size_t> places;
        for (std::size_t i = 0; i < steps.size(); ++i) {
            const Step& step = steps_[static_cast<std::size_t>(steps[i])];
            if (step.kind != StepKind::op || (step.op->flags & kReturnsOnlyHost)) continue;
            codes.push_back(code(steps[i], with_weights));
            places.push_back(i);
        }
        places.push_back(steps.size());
        std::vector<Iterations> found;
        const std::vector<Loop> all = loops_in(codes, kLeastIterations);
        for (std::size_t k = 0; k < all.size(); ++k) {
            Loop loop = all[k];
            // Where the first iteration did more than the others, the period seems to begin behind that.
            const auto first =
                std::find(codes.begin() + static_cast<std::ptrdiff_t>(loop.begin),
                          codes.begin() + static_cast<std::ptrdiff_t>(loop.begin + loop.period), codes.front());
            const auto at = static_cast<std::size_t>(first - codes.begin());
            if (at < loop.begin + loop.period && !with_weights)
                loop.begin = at;
            else
                begin_at_top(loop, codes, k + 1 < all.size() ? all[k + 1].begin : codes.size(),
                             [&](std::size_t i) { return function_at(steps[places[i]]); });
            Iterations& begins = found.emplace_back();
            for (std::size_t i = loop.begin; i + loop.period <= loop.end; i += loop.period) begins.push_back(places[i]);
            begins.push_back(places[loop.begin + (begins.size()) * loop.period]);
        }
        return found;
    }
    /// Where the first iteration was unlike the others in its middle (an optimizer that begins), the period begins
    /// behind that. Then iterations begin where the function goes back furthest in its lines. Up to `end` the loop may
    /// go on for a part of an iteration.
    template <class FunctionAt>
    static void begin_at_top(Loop& loop, const std::vector<std::uint64_t>& codes, std::size_t end, FunctionAt at) {
        std::vector<int> lines;
        const FrameFunction first = at(loop.begin);
        for (std::size_t i = 0; i < loop.period; ++i) {
            const FrameFunction here = at(loop.begin + i);
            if (here.function != first.function || here.file != first.file) return;
            lines.push_back(here.line);
        }
        int furthest = lines.back() - lines.front();
        if (furthest > 0) return;
        std::size_t top = 0;
        for (std::size_t i = 1; i < lines.size(); ++i)
            if (lines[i - 1] - lines[i] > std::max(furthest, 0)) {
                furthest = lines[i - 1] - lines[i];
                top = i;
            }
        std::size_t last = loop.end;
        while (last < end && codes[last] == codes[last - loop.period]) ++last;
        const std::size_t begin = loop.begin + top, iterations = (last - begin) / loop.period;
        if (top > 0 && iterations >= kLeastIterations) loop = {begin, begin + iterations * loop.period, loop.period};
    }
    std::int64_t times(const std::vector<std::int32_t>& steps, const Iterations& loop) const {
        std::int64_t sum = 0;
        for (std::size_t i = loop.front(); i < loop.back(); ++i)
            sum += steps_[static_cast<std::size_t>(steps[i])].times();
        return sum;
    }

    /// Those that no graph should be of.
    std::vector<Iterations> long_loops(const std::vector<std::int32_t>& steps) const {
        if (static_cast<std::int64_t>(steps.size()) < kLongLoop && !has_gap(steps.front(), steps.back())) return {};
        std::vector<Iterations> found = loops(steps, false);
        std::erase_if(found, [&](const Iterations& loop) {
            return times(steps, loop) < kLongLoop && !has_gap(steps[loop.front()], steps[loop.back() - 1]);
        });
        return found;
    }

    std::int32_t open_at(const FrameFunction& of, std::int32_t index, const ProbedCall* call, bool holes) {
        const Step& step = steps_[static_cast<std::size_t>(index)];
        const std::int32_t frame = open(of, step.thread, call, false, holes);
        frames_[static_cast<std::size_t>(frame)].times = step.times();
        return frame;
    }
    const FrameFunction& function_at(std::int32_t index) const {
        const StackInfo& info = stacks_.info(steps_[static_cast<std::size_t>(index)].stack);
        if (info.module) return *info.module;
        return info;
    }
    /// "main::{loop at app.cpp:30}", the frame of an iteration that begins with the step.
    FrameFunction loop_at(std::int32_t index) const {
        FrameFunction of = function_at(index);
        of.constructor = false;
        const std::string file = std::filesystem::path(of.file).filename().string();
        of.function += "::{loop" + (file.empty() ? "" : " at " + file + ":" + std::to_string(of.line)) + "}";
        return of;
    }

    /// Something was left out between the beginning of the one step and the end of the other, of this thread: an
    /// execution that has both is put together of two.
    bool has_gap(std::int32_t from, std::int32_t to) const {
        const Step &first = steps_[static_cast<std::size_t>(from)], &last = steps_[static_cast<std::size_t>(to)];
        const std::uint64_t end = last.end ? last.end->order : last.order();
        const auto gap = std::ranges::lower_bound(gaps_, first.order(), {}, &Gap::before);
        return gap != gaps_.end() && gap->after <= end;
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
            if (has_gap(steps[loop[i]], steps[loop[i + 1] - 1])) {
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
        // The last iteration may be cut short.
        const std::size_t longest = loops[0].back() - loops[0].end()[-2];
        const bool calls = loops.size() == 1 && loops[0].front() < longest &&
                           code(steps[loops[0].front()], false) == code(steps.front(), false) &&
                           steps.size() - loops[0].back() < longest;
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

    /// What went on from the end of one iteration to the beginning of the next one, each time.
    CallerMotion between_iterations(const std::vector<std::int32_t>& steps, const Iterations& loop) const {
        CallerMotion all{.untouched = 0};
        for (std::size_t i = 1; i + 1 < loop.size(); ++i) {
            CallerMotion one;
            add(one, steps[loop[i] - 1], steps[loop[i]]);
            all.untouched = std::max(all.untouched, one.untouched);
        }
        return all;
    }

    /// What main does itself may be a loop, as it mostly is.
    void split_root() {
        const std::vector<std::int32_t> steps = std::exchange(frames_[static_cast<std::size_t>(root_)].steps, {});
        const ProbedCall* const call = frames_[static_cast<std::size_t>(root_)].call;
        std::vector<std::int32_t> around;
        std::size_t at = 0;
        for (const Iterations& loop : loops(steps, true)) {
            const bool statement =
                stacks_.info(steps_[static_cast<std::size_t>(steps[loop.front()])].stack).comprehension;
            if (!computes(steps, loop) || (statement && times(steps, loop) < kLongLoop)) continue;
            const CallerMotion motion = between_iterations(steps, loop);
            const FrameFunction& root = stacks_.info(steps_[static_cast<std::size_t>(steps[loop.front()])].stack);
            if (motion.stands(root)) continue;  // a loop of what main calls, as a backward pass
            around.insert(around.end(), steps.begin() + static_cast<std::ptrdiff_t>(at),
                          steps.begin() + static_cast<std::ptrdiff_t>(loop.front()));
            // A thread of a pool that does nothing else calls a function again and again.
            const FrameFunction of = function_at(steps[loop.front()]);
            const bool calls = loop.front() == 0 && loop.back() == steps.size() && of.function != "main" &&
                               of.function != kModuleCode && !motion.waits(root);
            split_loop(steps, loop, calls ? of : loop_at(steps[loop.front()]), call, true);
            at = loop.back();
        }
        around.insert(around.end(), steps.begin() + static_cast<std::ptrdiff_t>(at), steps.end());
        frames_[static_cast<std::size_t>(root_)].steps = std::move(around);
    }

    /// The loop has something for a graph.
    bool computes(const std::vector<std::int32_t>& steps, const Iterations& loop) const {
        return std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(loop[0]),
                           steps.begin() + static_cast<std::ptrdiff_t>(loop[1]), [&](std::int32_t index) {
                               const Step& step = steps_[static_cast<std::size_t>(index)];
                               return step.kind == StepKind::op && !(step.op->flags & kReturnsOnlyHost) &&
                                      !values_.inputs[static_cast<std::size_t>(index)].empty();
                           });
    }

    std::set<const TensorName*> weights(std::int32_t index) const {
        std::set<const TensorName*> result;
        for (const ValueId id : values_.inputs[static_cast<std::size_t>(index)])
            if (const auto* name = values_.values[static_cast<std::size_t>(id)].name) result.insert(name);
        return result;
    }

    bool is_same_code(std::int32_t one, std::int32_t other) const {
        const Step &a = steps_[static_cast<std::size_t>(one)], &b = steps_[static_cast<std::size_t>(other)];
        return a.kind == b.kind && a.stack == b.stack && a.op == b.op;
    }
    /// The first step from `begin` on that is given something, which no step since then has made: a function, or the
    /// body of a loop, may make what it needs (zeros, noise) before it looks at what it works on. `begin` where nothing
    /// is given to the steps until those of `begin` come again.
    std::int32_t first_given(const std::vector<std::int32_t>& run, std::size_t begin) const {
        std::set<ValueId> made;
        for (std::size_t i = begin; i < run.size(); ++i) {
            if (i > begin && is_same_code(run[i], run[begin])) break;
            const auto at = static_cast<std::size_t>(run[i]);
            const auto is_given = [&](ValueId id) { return !made.contains(id); };
            if (std::ranges::any_of(values_.inputs[at], is_given)) return run[i];
            made.insert(values_.results[at].begin(), values_.results[at].end());
        }
        return run[begin];
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

    void add(CallerMotion& motion, std::int32_t from, std::int32_t to) const {
        const Step &before = steps_[static_cast<std::size_t>(from)], &now = steps_[static_cast<std::size_t>(to)];
        if (has_gap(from, to)) motion.untouched = 0;  // what was left out would have told
        callers_.add(motion, now.thread, before.order(), now.order());
    }

    /// What the execution began with is computed of something that it has not made: no next iteration of a loop in it.
    bool is_again(const std::vector<std::int32_t>& run, std::size_t at, std::size_t begin,
                  const std::set<ValueId>& made) const {
        const std::int32_t index = first_given(run, at), first_index = first_given(run, begin);
        const Step& step = steps_[static_cast<std::size_t>(index)];
        const auto& inputs = values_.inputs[static_cast<std::size_t>(index)];
        if (std::ranges::any_of(inputs, [&](ValueId id) { return made.contains(id); })) return false;
        if (weights(index) == weights(first_index)) return true;
        // A thread that works for others may have another model next, and computes on other tensors then.
        const auto& before = values_.inputs[static_cast<std::size_t>(first_index)];
        return stacks_.info(step.stack).job && std::none_of(inputs.begin(), inputs.end(), [&](ValueId id) {
                   return std::find(before.begin(), before.end(), id) != before.end();
               });
    }
    /// The stack of the step that the run's executions end with: of its last one, if that came to its end, else the
    /// one before the first step comes again.
    std::uint32_t last_stack(const std::vector<std::int32_t>& run, Ending ending) const {
        const auto stack_of = [&](std::size_t i) { return steps_[static_cast<std::size_t>(run[i])].stack; };
        const std::uint32_t last = stack_of(run.size() - 1);
        if (ending == Ending::returned) return last;
        std::size_t part = 0, previous = 0;  // where the last execution and the one before begin
        for (std::size_t i = 1; i < run.size(); ++i) {
            if (stack_of(i) != stack_of(0)) continue;
            if (stack_of(i - 1) == last) return last;
            previous = part;
            part = i;
        }
        if (part == 0) return last;
        const std::size_t size = run.size() - part;
        bool begins_alike = size < part - previous;
        for (std::size_t i = 0; begins_alike && i < size; ++i)
            begins_alike = stack_of(part + i) == stack_of(previous + i);
        return ending == Ending::inside || begins_alike ? stack_of(part - 1) : last;
    }

    const std::vector<Step>& steps_;
    const Values& values_;
    StackReader& stacks_;
    const ProbedCalls& probes_;
    const Callers& callers_;
    std::span<const Gap> gaps_;
    std::vector<FrameSteps>& frames_;
    std::int32_t root_ = -1;
    std::map<std::uint64_t, std::int32_t> by_call_;  ///< the execution of each call whose number is known
    std::optional<Run> run_, module_run_;  ///< module_run_: of a module that the function of run_, or main, calls
};

Ending ending_of(const EventFile& file, std::uint32_t thread, const Assigner& assigner, StackReader& stacks) {
    if (file.cut != kNotCut) return Ending::unknown;
    if (file.end && file.end->thread == thread)
        return assigner.is_running(stacks.info(kEndStack)) ? Ending::inside : Ending::returned;
    return file.finished ? Ending::returned : Ending::unknown;
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
    result.lines = symbolizer.program_has_lines();
    result.names = stacks.names();
    return result;
}

std::span<const StackFrame> inside(const std::vector<StackFrame>& stack, const std::string& function) {
    const auto outermost = std::ranges::find(stack.rbegin(), stack.rend(), function, &StackFrame::function);
    return {stack.begin(), outermost == stack.rend() ? stack.end() : outermost.base()};
}

}  // namespace whittle::libtorch
