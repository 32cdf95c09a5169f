#include "frontends/libtorch/frames.h"

#include <algorithm>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <utility>

#include "frontends/libtorch/loops.h"
#include "symbolize/text.h"

namespace whittle::libtorch {

namespace {

/// Autograd is on the stack: it runs a backward pass.
bool runs_backward(const std::string& function) {
    return function.starts_with("torch::autograd::Engine::") || function == "torch::autograd::backward" ||
           function == "torch::autograd::grad";
}

/// A function that a frame is of.
struct FrameFunction {
    std::string function, file;
    int line = 0;
    std::string call_place;  ///< where it was called from
    bool is_same_call(const FrameFunction& other) const {
        return function == other.function && call_place == other.call_place;
    }
};

/// TorchScript's compiler, which compares and folds a module's constants before their first use.
bool compiles_script(const std::string& function) {
    constexpr std::string_view kPasses[] = {"ConstantPooling", "ConstantPropagation", "EliminateCommonSubexpression",
                                            "ConstantPropagationImmutableTypes", "runNodeIfInputsAreConstant"};
    constexpr std::string_view kSpace = "torch::jit::";
    if (!function.starts_with(kSpace)) return false;
    const std::string_view name = std::string_view(function).substr(kSpace.size());
    return name.ends_with("::getPlanFor") || std::ranges::find(kPasses, name) != std::end(kPasses);
}

/// What a stack says: the user's part of it, and the function whose frame it belongs to.
struct StackInfo : FrameFunction {
    std::vector<StackFrame> user;
    bool root = true;      ///< nothing but main's own code
    bool outside = false;  ///< no function of the names asked for
    /// The module of Python's or TorchScript's inside that function, whose frame it really belongs to.
    std::optional<FrameFunction> module = {};
};

/// Layers of torch.nn are no models: who calls them is.
bool is_layer(const CodePlace& forward) {
    constexpr std::string_view kLayers = "/torch/nn/modules/";
    return forward.file.find(kLayers) != std::string::npos && !forward.file.ends_with("/container.py") &&
           !forward.file.ends_with("/transformer.py");
}

bool is_library_name(const std::string& function) {
    for (const char* space :
         {"at::", "c10::", "torch::", "std::", "__gnu_cxx::", "void at::", "void torch::", "void std::", "decltype"})
        if (function.starts_with(space)) return true;
    return false;
}

class StackReader {
  public:
    StackReader(const EventFile& file, Symbolizer& symbolizer, const std::vector<std::string>& functions)
        : file_(file), symbolizer_(symbolizer), functions_(functions) {}

    const StackInfo& info(std::uint32_t stack) {
        const auto [entry, fresh] = known_.try_emplace(stack);
        if (fresh) entry->second = read(stack);
        return entry->second;
    }
    bool names() const { return !nameless_; }
    const std::set<std::string>& functions_seen() const { return seen_; }

  private:
    StackInfo read(std::uint32_t stack) {
        StackInfo info;
        const auto pcs = file_.stacks.find(stack);
        std::vector<CodePlace> places;
        if (pcs != file_.stacks.end())
            for (const std::uint64_t pc : pcs->second)
                for (const CodePlace& place : symbolizer_.places(pc)) places.push_back(place);
        // _start calls main through libc; nobody wrote it.
        if (!places.empty() && places.back().in_program && places.back().file.empty()) places.pop_back();
        std::vector<std::size_t> user;  // innermost first
        for (std::size_t i = 0; i < places.size(); ++i)
            if (is_user(places[i])) user.push_back(i);
        for (const std::size_t i : user) {
            if (symbolizer_.is_ours(places[i])) continue;
            info.user.push_back(frame(places[i]));
            if (!places[i].function.empty()) seen_.insert(places[i].function);
        }
        if (user.empty()) {
            info.function = "main";
            info.outside = !functions_.empty();
            return info;
        }
        std::size_t of = user.size() - 1;
        // `if __name__ == "__main__": main()`: what a script does itself, its main() does.
        if (of > 0 && places[user[of]].function == "<module>" && places[user[of - 1]].function == "main") --of;
        const std::size_t root = of;
        std::size_t engine = 0;  // the place behind autograd's, 0: it is not there
        if (functions_.empty()) {
            // What a backward pass calls of the program's belongs to whoever called backward().
            const auto pass = std::find_if(places.rbegin(), places.rend(),
                                           [](const CodePlace& place) { return runs_backward(place.function); });
            engine = static_cast<std::size_t>(places.rend() - pass);
            if (of > 0 && user[of - 1] >= engine) --of;
        } else {
            while (of > 0 && !is_asked_for(places[user[of]])) --of;
            info.outside = !is_asked_for(places[user[of]]);
        }
        const CodePlace& place = places[user[of]];
        info.root = of == root;
        info.function = frame(place).function;
        info.file = place.file;
        info.line = place.line;
        if (functions_.empty()) info.module = module_call(places, engine, user[of]);
        // Of an inlined function the caller's line is known, of a real one the address it returns to.
        if (user[of] + 1 < places.size()) {
            const CodePlace& caller = places[user[of] + 1];
            // Without a name the address is the operation's; where it was called from is the same for all of them.
            if (place.function.empty()) info.function = info.root ? "main" : "called_at_" + frame(caller).function;
            info.call_place =
                place.inlined ? caller.file + ":" + std::to_string(caller.line) + ":" + std::to_string(caller.column)
                              : std::to_string(caller.address);
        }
        return info;
    }

    /// The outermost call of a module, or its construction, between autograd and the function at `function`.
    std::optional<FrameFunction> module_call(const std::vector<CodePlace>& places, std::size_t engine,
                                             std::size_t function) {
        std::uint64_t module = 0;
        const CodePlace& itself = places[function];
        if (itself.function.ends_with(".__init__") ||
            (function + 1 < places.size() && places[function + 1].called_module))
            return std::nullopt;
        for (std::size_t i = function; i-- > engine;) {
            const CodePlace& place = places[i];
            if (!place.interpreted) continue;
            const bool constructs = place.function.ends_with(".__init__") &&
                                    (place.user || place.file.find("/torch/nn/modules/") != std::string::npos);
            // Of TorchScript only what Python calls: of a call in C++ the function there is the frame.
            if (place.torchscript ? !module : place.called_module || (!module && !constructs)) {
                if (!place.torchscript && place.called_module) module = place.called_module;
                continue;
            }
            if (!constructs && !place.torchscript && is_layer(place)) {
                module = 0;
                continue;
            }
            return FrameFunction{.function = frame(place).function,
                                 .file = place.file,
                                 .line = place.line,
                                 .call_place = std::to_string(places[function].address) + " " + std::to_string(module)};
        }
        return std::nullopt;
    }

    bool is_user(const CodePlace& place) {
        if (place.file.empty()) {
            if (place.in_program && symbolizer_.program_has_lines()) return false;  // start-up code
            return place.user && !is_library_name(place.function);
        }
        return place.user;
    }

    bool is_asked_for(const CodePlace& place) const {
        return std::any_of(functions_.begin(), functions_.end(), [&](const std::string& name) {
            return place.function == name || unqualified(place.function) == name;
        });
    }

    StackFrame frame(const CodePlace& place) {
        StackFrame result{.file = place.file.empty() ? place.module : place.file,
                          .line = place.line,
                          .column = place.column,
                          .function = readable_function(place.function, place.file, place.start_line),
                          .text = place.text.empty() ? symbolizer_.source_text(place.file, place.line) : place.text};
        if (result.function.empty()) {
            char text[32];
            std::snprintf(text, sizeof text, "+0x%llx", static_cast<unsigned long long>(place.offset));
            result.function = std::filesystem::path(place.module).filename().string() + text;
            nameless_ = true;
        }
        return result;
    }

    const EventFile& file_;
    Symbolizer& symbolizer_;
    const std::vector<std::string>& functions_;
    std::map<std::uint32_t, StackInfo> known_;
    std::set<std::string> seen_;
    bool nameless_ = false;
};

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
             std::span<const Gap> gaps, std::vector<FrameSteps>& frames)
        : steps_(steps), values_(values), stacks_(stacks), probes_(probes), gaps_(gaps), frames_(frames) {}

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
        const std::vector<Loop> loops = long_loops(run->steps);
        if (!loops.empty()) return split(*run, loops);
        if (has_gap(run->steps.front(), run->steps.back()))
            return count_only(function_at(run->steps.front()), run->steps.front());
        const std::uint32_t end = last_stack(run->steps, ending);
        std::int32_t frame = -1, first = -1;
        std::set<ValueId> made;
        for (std::size_t i = 0; i < run->steps.size(); ++i) {
            const std::int32_t index = run->steps[i];
            const Step& step = steps_[static_cast<std::size_t>(index)];
            if (i == 0 || (!run->call && is_again(index, first, made) &&
                           steps_[static_cast<std::size_t>(run->steps[i - 1])].stack == end)) {
                const StackInfo& info = stacks_.info(step.stack);
                frame = open_at(info.module ? *info.module : info, index, run->call, run->holes);
                first = -1;
                made.clear();
            }
            if (first < 0 && step.kind == StepKind::op) first = index;
            for (const ValueId id : values_.results[static_cast<std::size_t>(index)]) made.insert(id);
            frames_[static_cast<std::size_t>(frame)].steps.push_back(index);
        }
    }

    std::int32_t open(const FrameFunction& of, std::uint32_t thread, const ProbedCall* call, bool root, bool holes) {
        frames_.push_back({of.function, of.file, of.line, root, holes, thread, call, {}});
        return static_cast<std::int32_t>(frames_.size()) - 1;
    }

    // ---- Loops

    /// What the step does, and where. In main, a loop over parameters is none: each iteration has others.
    std::uint64_t code(std::int32_t index, bool with_weights) const {
        const Step& step = steps_[static_cast<std::size_t>(index)];
        std::uint64_t code = step.stack * 0x9e3779b97f4a7c15ull + reinterpret_cast<std::uintptr_t>(step.op) * 31 +
                             static_cast<std::uint64_t>(step.kind);
        if (with_weights)
            for (const TensorName* name : weights(index))
                code = code * 0xff51afd7ed558ccdull + reinterpret_cast<std::uintptr_t>(name);
        return code;
    }
    std::vector<Loop> loops(const std::vector<std::int32_t>& steps, bool with_weights, std::size_t least) const {
        std::vector<std::uint64_t> codes;
        for (const std::int32_t index : steps) codes.push_back(code(index, with_weights));
        return loops_in(codes, least);
    }
    std::int64_t times(const std::vector<std::int32_t>& steps, const Loop& loop) const {
        std::int64_t sum = 0;
        for (std::size_t i = loop.begin; i < loop.end; ++i) sum += steps_[static_cast<std::size_t>(steps[i])].times();
        return sum;
    }

    /// Those that no graph should be of.
    std::vector<Loop> long_loops(const std::vector<std::int32_t>& steps) const {
        if (static_cast<std::int64_t>(steps.size()) < kLongLoop && std::ranges::all_of(steps, [&](std::int32_t i) {
                return steps_[static_cast<std::size_t>(i)].times() == 1;
            }))
            return {};
        std::vector<Loop> found = loops(steps, false, kLeastIterations);
        std::erase_if(found, [&](const Loop& loop) {
            return times(steps, loop) < kLongLoop && !has_gap(steps[loop.begin], steps[loop.end - 1]);
        });
        // Where the first iteration did more than the others, the period seems to begin behind that.
        const std::uint64_t first = code(steps.front(), false);
        for (Loop& loop : found)
            for (std::size_t i = loop.begin; i < loop.begin + loop.period && i + loop.period < loop.end; ++i)
                if (code(steps[i], false) == first) {
                    loop.begin = i;
                    loop.end = i + (loop.end - i) / loop.period * loop.period;
                    break;
                }
        return found;
    }

    std::int32_t open_at(const FrameFunction& of, std::int32_t index, const ProbedCall* call, bool holes) {
        const Step& step = steps_[static_cast<std::size_t>(index)];
        const std::int32_t frame = open(of, step.thread, call, false, holes);
        frames_[static_cast<std::size_t>(frame)].times = step.times();
        return frame;
    }
    FrameFunction function_at(std::int32_t index) const {
        const StackInfo& info = stacks_.info(steps_[static_cast<std::size_t>(index)].stack);
        return info.module ? *info.module : info;
    }
    /// "main::{loop at app.cpp:30}", the frame of an iteration that begins with the step.
    FrameFunction loop_at(std::int32_t index) const {
        FrameFunction of = function_at(index);
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
        if (like != frames_.rend()) like->times += steps_[static_cast<std::size_t>(first)].times();
    }

    /// An execution of `of` for each iteration.
    void split_loop(const std::vector<std::int32_t>& steps, const Loop& loop, const FrameFunction& of,
                    const ProbedCall* call, bool holes) {
        for (std::size_t begin = loop.begin; begin < loop.end; begin += loop.period) {
            if (has_gap(steps[begin], steps[begin + loop.period - 1])) {
                count_only(of, steps[begin]);
                continue;
            }
            const std::int32_t frame = open_at(of, steps[begin], call, holes);
            auto& own = frames_[static_cast<std::size_t>(frame)].steps;
            for (std::size_t i = begin; i < begin + loop.period; ++i) own.push_back(steps[i]);
        }
    }

    void split(const Run& run, const std::vector<Loop>& loops) {
        const std::vector<std::int32_t>& steps = run.steps;
        // The last iteration may be cut short.
        const bool calls = loops.size() == 1 && loops[0].begin < loops[0].period &&
                           code(steps[loops[0].begin], false) == code(steps.front(), false) &&
                           steps.size() - loops[0].end < loops[0].period;
        std::int32_t around = -1;
        const auto add = [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) {
                if (around < 0 || (calls && i == from))
                    around = open_at(function_at(steps[i]), steps[i], run.call, run.holes || !calls);
                frames_[static_cast<std::size_t>(around)].steps.push_back(steps[i]);
            }
        };
        std::size_t at = 0;
        for (const Loop& loop : loops) {
            add(at, loop.begin);
            const std::int32_t first = steps[loop.begin];
            split_loop(steps, loop, calls ? function_at(first) : loop_at(first), run.call, run.holes);
            at = loop.end;
        }
        add(at, steps.size());
    }

    /// What main does itself may be a loop, as it mostly is.
    void split_root() {
        const std::vector<std::int32_t> steps = std::exchange(frames_[static_cast<std::size_t>(root_)].steps, {});
        const ProbedCall* const call = frames_[static_cast<std::size_t>(root_)].call;
        std::vector<Loop> found = loops(steps, true, kLeastIterations);
        std::erase_if(found, [&](const Loop& loop) { return !computes(steps, loop); });
        std::vector<std::int32_t> around;
        std::size_t at = 0;
        for (const Loop& loop : found) {
            around.insert(around.end(), steps.begin() + static_cast<std::ptrdiff_t>(at),
                          steps.begin() + static_cast<std::ptrdiff_t>(loop.begin));
            split_loop(steps, loop, loop_at(steps[loop.begin]), call, true);
            at = loop.end;
        }
        around.insert(around.end(), steps.begin() + static_cast<std::ptrdiff_t>(at), steps.end());
        frames_[static_cast<std::size_t>(root_)].steps = std::move(around);
    }

    /// The loop has something for a graph.
    bool computes(const std::vector<std::int32_t>& steps, const Loop& loop) const {
        for (std::size_t i = loop.begin; i < loop.begin + loop.period; ++i) {
            const Step& step = steps_[static_cast<std::size_t>(steps[i])];
            if (step.kind == StepKind::op && !(step.op->flags & kReturnsOnlyHost) &&
                !values_.inputs[static_cast<std::size_t>(steps[i])].empty())
                return true;
        }
        return false;
    }

    std::set<const TensorName*> weights(std::int32_t index) const {
        std::set<const TensorName*> result;
        for (const ValueId id : values_.inputs[static_cast<std::size_t>(index)])
            if (const auto* name = values_.values[static_cast<std::size_t>(id)].name) result.insert(name);
        return result;
    }

    /// The first op of the execution is issued once more.
    bool is_again(std::int32_t index, std::int32_t first_index, const std::set<ValueId>& made) const {
        const Step& step = steps_[static_cast<std::size_t>(index)];
        if (first_index < 0 || step.kind != StepKind::op) return false;
        const Step& first = steps_[static_cast<std::size_t>(first_index)];
        if (step.stack != first.stack || step.op != first.op) return false;
        const auto& inputs = values_.inputs[static_cast<std::size_t>(index)];
        if (std::any_of(inputs.begin(), inputs.end(), [&](ValueId id) { return made.contains(id); })) return false;
        return weights(index) == weights(first_index);
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
    std::span<const Gap> gaps_;
    std::vector<FrameSteps>& frames_;
    std::int32_t root_ = -1;
    std::optional<Run> run_, module_run_;  ///< module_run_: of a module that the function of run_, or main, calls
};

Ending ending_of(const EventFile& file, std::uint32_t thread, const Assigner& assigner, StackReader& stacks) {
    if (file.cut != kNotCut) return Ending::unknown;
    if (file.end && file.end->thread == thread)
        return assigner.is_running(stacks.info(kEndStack)) ? Ending::inside : Ending::returned;
    return file.finished ? Ending::returned : Ending::unknown;
}

}  // namespace

namespace {

/// Per stack: whether it has such a function, each looked at once.
template <class Is>
class OnStack {
  public:
    OnStack(const EventFile& file, Symbolizer& symbolizer, Is is) : file_(file), symbolizer_(symbolizer), is_(is) {}

    bool operator()(std::uint32_t stack) {
        const auto [entry, fresh] = known_.try_emplace(stack, false);
        const auto pcs = file_.stacks.find(stack);
        if (!fresh || pcs == file_.stacks.end()) return entry->second;
        return entry->second = std::ranges::any_of(
                   pcs->second, [&](std::uint64_t pc) { return is_(symbolizer_.places(pc).back().function); });
    }

  private:
    const EventFile& file_;
    Symbolizer& symbolizer_;
    const Is is_;
    std::map<std::uint32_t, bool> known_;
};

}  // namespace

void leave_out_compiler(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer) {
    OnStack compiles(file, symbolizer, compiles_script);
    std::erase_if(steps, [&](const Step& step) { return compiles(step.stack); });
}

void mark_backward(const EventFile& file, std::vector<Step>& steps, Symbolizer& symbolizer) {
    OnStack in_engine(file, symbolizer, runs_backward);
    for (Step& step : steps) step.backward |= in_engine(step.stack);
}

Frames frames_of(const EventFile& file, const std::vector<Step>& steps, const Values& values, Symbolizer& symbolizer,
                 const ProbedCalls& probes, const std::vector<std::string>& functions) {
    Frames result;
    StackReader stacks(file, symbolizer, functions);
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
                threads.emplace(steps[i].thread, Assigner(steps, values, stacks, probes, own, result.frames)).first;
        }
        thread->second.add(static_cast<std::int32_t>(i));
        const auto [user, fresh] = result.user_stacks.try_emplace(steps[i].stack);
        if (fresh) user->second = stacks.info(steps[i].stack).user;
        result.stacks.push_back(&user->second);
    }
    result.functions = stacks.functions_seen();
    if (file.end) result.end = stacks.info(kEndStack).user;
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

}  // namespace whittle::libtorch
