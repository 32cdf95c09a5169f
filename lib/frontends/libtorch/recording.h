// Recording: an event file as its builders see it: steps, the values between them, and the frames they belong to.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include "frontends/libtorch/filling.h"
#include "frontends/libtorch/frames.h"
#include "frontends/libtorch/modules.h"
#include "frontends/libtorch/unwritten.h"

namespace whittle::libtorch {

struct Recording {
    const EventFile& file;
    Symbolizer symbolizer;
    // Operations that were left out; before the steps, which count them.
    std::int64_t imported = 0;   ///< by leave_out_imports()
    std::int64_t compiling = 0;  ///< by leave_out_compiled()
    std::vector<Step> steps;
    Values values;
    ProbedCalls probes;
    Frames frames;
    std::vector<std::string> modules;   ///< per step
    std::vector<std::int32_t> forward;  ///< per step: see forward_ops()
    std::vector<bool> through_pass;     ///< per step: see through_backward()
    std::vector<bool> filling;          ///< per step: see filling_steps()
    Unwritten unwritten;

    Recording(const EventFile& events, Level level, const std::vector<std::string>& functions)
        : file(events),
          symbolizer(events),
          steps(prepared(events, steps_of(events, level), symbolizer, imported, compiling)),
          values(trace_values(events, steps)),
          probes(events),
          frames(frames_of(events, steps, values, symbolizer, probes, functions)),
          modules(module_paths(events, steps, values, symbolizer)),
          forward(forward_ops(events, steps)),
          through_pass(through_backward(events, steps, forward)),
          filling(filling_steps(events, steps)),
          unwritten(steps) {}

    static std::vector<Step> prepared(const EventFile& file, std::vector<Step> steps, Symbolizer& symbolizer,
                                      std::int64_t& imported, std::int64_t& compiling) {
        leave_out_compiler(file, steps, symbolizer);
        imported = leave_out_imports(file, steps, symbolizer);
        compiling = leave_out_compiled(file, steps, symbolizer);
        mark_backward(file, steps, symbolizer);
        mark_unwritten(steps);
        mark_blank(steps);
        return steps;
    }

    const Step& step(std::int32_t index) const { return steps[static_cast<std::size_t>(index)]; }
    bool is_filling(std::int32_t index) const { return filling[static_cast<std::size_t>(index)]; }
    const TracedValue& value(ValueId id) const { return values.values[static_cast<std::size_t>(id)]; }
    const std::vector<ValueId>& reads(std::int32_t step) const { return values.inputs[static_cast<std::size_t>(step)]; }
    const std::vector<ValueId>& results(std::int32_t step) const {
        return values.results[static_cast<std::size_t>(step)];
    }
    /// All that a step writes to, as it was before: what several `out` were in their order.
    std::vector<ValueId> written_values(std::int32_t index) const {
        if (writes_memory(step(index))) {
            const std::span<const ValueId> values = written_among(*step(index).op, reads(index));
            return {values.begin(), values.end()};
        }
        std::vector<ValueId> written;
        if (const auto moved = values.statistics.find(index); moved != values.statistics.end())
            for (const ValueId id : moved->second) written.push_back(value(id).before);
        return written;
    }
    /// Snapshots before it tell what the step left in the memory of `written`: where its thread's next step begins, or
    /// another thread's that writes there, too.
    std::uint64_t order_after(std::int32_t index, ValueId written) const {
        const auto is_there = [&](ValueId id) { return value(id).tensor.storage == value(written).tensor.storage; };
        for (auto i = index + 1; i < static_cast<std::int32_t>(steps.size()); ++i)
            if (step(i).thread == step(index).thread || std::ranges::any_of(written_values(i), is_there))
                return step(i).order();
        return std::numeric_limits<std::uint64_t>::max();
    }
    const std::vector<StackFrame>& stack(std::int32_t step) const {
        return *frames.stacks[static_cast<std::size_t>(step)];
    }
    /// The library whose own code did the step: "torch/optim/adam.py"; "" where the user's did.
    std::string library(std::int32_t index) const {
        const auto known = frames.libraries.find(step(index).stack);
        return known == frames.libraries.end() ? std::string() : known->second;
    }
};

}  // namespace whittle::libtorch
