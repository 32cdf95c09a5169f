// Values: which tensor that a step reads is which result of an earlier step. A tensor object of LibTorch changes under
// in-place ops and shares memory with its views; a value does not.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontends/libtorch/steps.h"
#include "graph/graph.h"

namespace whittle::libtorch {

using ValueId = std::int32_t;

struct TracedValue {
    TensorRef tensor;
    std::int32_t step = -1;   ///< that computed it; -1: it came from outside
    std::int32_t result = 0;  ///< which of that step's
    ValueId before = -1;      ///< of a value that the step made by writing to memory it shares: what it was before
    std::vector<ValueId> after = {};  ///< the values that have this one as `before`
    std::int32_t first_use = -1;      ///< of a value from outside: the step that read it first
    std::int32_t written_by =
        -1;  ///< of a value from outside: the step that changed this memory through another tensor
    bool unseen =
        false;  ///< of a value from outside: the memory was written to through a pointer just before first_use
    const TensorName* name = nullptr;          ///< of a parameter or buffer
    std::optional<std::size_t> snapshot = {};  ///< its elements, in EventFile::snapshots
    std::vector<std::int32_t> uses = {};       ///< steps that read it, ascending
    std::vector<std::uint64_t> others = {};    ///< tensors beside `tensor` that are it: detached ones
};

/// When a function returned: behind the one event of its thread, and before the other. What was released in between was
/// so before it returned, if its caller still waited for it.
struct ReturnTime {
    std::uint64_t after = 0, before = 0;
    std::uint32_t thread = 0;
    std::optional<std::size_t> callers = {};  ///< see FrameFunction
    bool in_doubt = true;                     ///< what was released then counts as held when the function returned

    static ReturnTime at(std::uint64_t order) { return {.after = order, .before = order}; }
    bool has(const Released& released) const;
};

struct Values {
    std::vector<TracedValue> values;
    /// Per step: the value of each tensor argument and of each tensor result, in order, lists flattened. A result that
    /// is an argument, unchanged, has the argument's value.
    std::vector<std::vector<ValueId>> inputs, results;
    /// Per step that wrote to memory: the values of other tensors there that are read later.
    std::map<std::int32_t, std::vector<ValueId>> rewritten;
    /// Of a batch norm that trains: its running statistics, as it leaves them. They are among `rewritten`.
    std::map<std::int32_t, std::vector<ValueId>> statistics;

    /// Per tensor: what it was, and since which event that was known; ascending.
    std::unordered_map<std::uint64_t, std::vector<std::pair<std::uint64_t, ValueId>>> shown;

    ValueMeta meta(ValueId id) const;
    bool is_statistic(ValueId id) const;
    /// Some tensor was the value then, and somebody held that tensor.
    bool is_held(ValueId id, const ReturnTime& when, const EventFile& file) const;
    /// Some tensor that was the value lay at the same place then, and somebody held it.
    bool is_place_held(ValueId id, const ReturnTime& when, const EventFile& file) const;
};

/// The tensor as which the step reads the value; null when it does not.
const TensorRef* read_as(const Values& values, const Step& step, std::int32_t index, ValueId id);

/// The first of the steps `uses` that is an operation; -1: none is.
std::int32_t first_operation(const std::vector<std::int32_t>& uses, const std::vector<Step>& steps);

Values trace_values(const EventFile& file, const std::vector<Step>& steps);

}  // namespace whittle::libtorch
