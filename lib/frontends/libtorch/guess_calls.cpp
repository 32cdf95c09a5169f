#include "frontends/libtorch/guess_calls.h"

#include <algorithm>

#include "frontends/libtorch/torch_names.h"

namespace whittle::libtorch {
namespace {

constexpr std::size_t kLeastIterations = 3;  ///< of a loop of main's own
constexpr std::int64_t kLongLoop = 10000;    ///< steps, of any

/// Where the first iteration was unlike the others in its middle (an optimizer that begins), the period begins
/// behind that. Then iterations begin where the function goes back furthest in its lines. Up to `end` the loop may
/// go on for a part of an iteration.
template <class FunctionAt>
void begin_at_top(Loop& loop, const std::vector<std::uint64_t>& codes, std::size_t end, FunctionAt at) {
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

}  // namespace

const FrameFunction& CallGuesser::function_at(std::int32_t index) const {
    return stacks_.info(steps_[static_cast<std::size_t>(index)].stack).innermost();
}

bool CallGuesser::has_gap(std::int32_t from, std::int32_t to) const {
    const Step &first = steps_[static_cast<std::size_t>(from)], &last = steps_[static_cast<std::size_t>(to)];
    const std::uint64_t end = last.end ? last.end->order : last.order();
    const auto gap = std::ranges::lower_bound(gaps_, first.order(), {}, &Gap::before);
    return gap != gaps_.end() && gap->after <= end;
}

void CallGuesser::add(CallerMotion& motion, std::int32_t from, std::int32_t to) const {
    const Step &before = steps_[static_cast<std::size_t>(from)], &now = steps_[static_cast<std::size_t>(to)];
    if (has_gap(from, to)) motion.untouched = 0;  // what was left out would have told
    callers_.add(motion, now.thread, before.order(), now.order());
}

// ---- Calls

std::set<const TensorName*> CallGuesser::weights(std::int32_t index) const {
    std::set<const TensorName*> result;
    for (const ValueId id : values_.inputs[static_cast<std::size_t>(index)])
        if (const auto* name = values_.values[static_cast<std::size_t>(id)].name) result.insert(name);
    return result;
}

bool CallGuesser::is_same_code(std::int32_t one, std::int32_t other) const {
    const Step &a = steps_[static_cast<std::size_t>(one)], &b = steps_[static_cast<std::size_t>(other)];
    return a.kind == b.kind && a.stack == b.stack && a.op == b.op;
}

/// The first step from `begin` on that is given something, which no step since then has made: a function, or the
/// body of a loop, may make what it needs (zeros, noise) before it looks at what it works on. `begin` where nothing
/// is given to the steps until those of `begin` come again.
std::int32_t CallGuesser::first_given(const Run& run, std::size_t begin) const {
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

/// What the execution began with is computed of something that it has not made: no next iteration of a loop in it.
bool CallGuesser::is_again(const Run& run, std::size_t at, std::size_t begin, const std::set<ValueId>& made) const {
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

std::uint32_t CallGuesser::last_stack(const Run& run, Ending ending) const {
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
    for (std::size_t i = 0; begins_alike && i < size; ++i) begins_alike = stack_of(part + i) == stack_of(previous + i);
    return ending == Ending::inside || begins_alike ? stack_of(part - 1) : last;
}

bool CallGuesser::may_begin(const Run& run, std::size_t at, std::size_t first, std::uint32_t end) const {
    return is_same_code(run[at], run[first]) && steps_[static_cast<std::size_t>(run[at - 1])].stack == end;
}

bool CallGuesser::begins(const Run& run, std::size_t at, std::size_t first, const std::set<ValueId>& made,
                         const CallerMotion& motion) const {
    const FrameFunction& of = function_at(run[at]);
    return !motion.waits(of) && ((callers_.tells_loops() && motion.touched(of)) || is_again(run, at, first, made));
}

// ---- Loops

/// What the step does, and where. In main, a loop over parameters is none: each iteration has others.
std::uint64_t CallGuesser::code(std::int32_t index, bool with_weights) const {
    const Step& step = steps_[static_cast<std::size_t>(index)];
    std::uint64_t code = step.stack * 0x9e3779b97f4a7c15ull + reinterpret_cast<std::uintptr_t>(step.op) * 31 +
                         static_cast<std::uint64_t>(step.kind) * 2 + (step.backward ? 1 : 0);
    if (with_weights)
        for (const TensorName* name : weights(index))
            code = code * 0xff51afd7ed558ccdull + reinterpret_cast<std::uintptr_t>(name);
    return code;
}

/// By the period of what is computed; what looks at values, now and then, belongs to the iteration around it.
std::vector<Iterations> CallGuesser::loops(const Run& steps, bool with_weights) const {
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

std::int64_t CallGuesser::times(const Run& steps, const Iterations& loop) const {
    std::int64_t sum = 0;
    for (std::size_t i = loop.front(); i < loop.back(); ++i) sum += steps_[static_cast<std::size_t>(steps[i])].times();
    return sum;
}

std::vector<Iterations> CallGuesser::long_loops(const Run& steps) const {
    if (static_cast<std::int64_t>(steps.size()) < kLongLoop && !has_gap(steps.front(), steps.back())) return {};
    std::vector<Iterations> found = loops(steps, false);
    std::erase_if(found, [&](const Iterations& loop) {
        return times(steps, loop) < kLongLoop && !has_gap(steps[loop.front()], steps[loop.back() - 1]);
    });
    return found;
}

bool CallGuesser::are_calls(const Run& steps, const std::vector<Iterations>& loops) const {
    const std::size_t longest = loops[0].back() - loops[0].end()[-2];  // the last iteration may be cut short
    return loops.size() == 1 && loops[0].front() < longest &&
           code(steps[loops[0].front()], false) == code(steps.front(), false) &&
           steps.size() - loops[0].back() < longest;
}

/// What went on from the end of one iteration to the beginning of the next one, each time.
CallerMotion CallGuesser::between_iterations(const Run& steps, const Iterations& loop) const {
    CallerMotion all{.untouched = 0};
    for (std::size_t i = 1; i + 1 < loop.size(); ++i) {
        CallerMotion one;
        add(one, steps[loop[i] - 1], steps[loop[i]]);
        all.untouched = std::max(all.untouched, one.untouched);
    }
    return all;
}

/// The loop has something for a graph.
bool CallGuesser::computes(const Run& steps, const Iterations& loop) const {
    return std::any_of(steps.begin() + static_cast<std::ptrdiff_t>(loop[0]),
                       steps.begin() + static_cast<std::ptrdiff_t>(loop[1]), [&](std::int32_t index) {
                           const Step& step = steps_[static_cast<std::size_t>(index)];
                           return step.kind == StepKind::op && !(step.op->flags & kReturnsOnlyHost) &&
                                  !values_.inputs[static_cast<std::size_t>(index)].empty();
                       });
}

std::vector<RootLoop> CallGuesser::root_loops(const Run& steps) const {
    std::vector<RootLoop> found;
    for (Iterations& loop : loops(steps, true)) {
        const std::int32_t first = steps[loop.front()];
        const StackInfo& root = stacks_.info(steps_[static_cast<std::size_t>(first)].stack);
        if (!computes(steps, loop) || (root.comprehension && times(steps, loop) < kLongLoop)) continue;
        const CallerMotion motion = between_iterations(steps, loop);
        if (motion.stands(root)) continue;  // a loop of what main calls, as a backward pass
        const FrameFunction& of = function_at(first);
        const bool calls = loop.front() == 0 && loop.back() == steps.size() && of.function != "main" &&
                           of.function != kModuleCode && !motion.waits(root);
        found.push_back({std::move(loop), calls});
    }
    return found;
}

}  // namespace whittle::libtorch
