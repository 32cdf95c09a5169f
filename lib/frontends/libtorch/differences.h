// In what two graphs differ that have the same operations, issued at the same places: in numbers, or in what tensors
// are. A guard on the earlier one would say so of the later.
#pragma once

#include <compare>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "capture/output_graph.h"

namespace whittle::libtorch {

/// Equal for equal stacks.
std::string places_of(std::span<const StackFrame> stack);
/// Equal for graphs of the function that may differ in numbers and in what tensors are only.
std::string shape_of(const capture::CapturedGraph& captured, const std::string& function);

/// Where a call has a number, flag or text, in all graphs of one shape.
struct NumberPlace {
    std::size_t node = 0, argument = 0;       ///< positions; arguments by name come after the others
    std::optional<std::size_t> element = {};  ///< of a list; of none: how long the list is
    auto operator<=>(const NumberPlace&) const = default;
};
capture::HostValue number_at(const Graph& graph, const NumberPlace& place);
/// "aten.mul.Tensor other", "aten.view.default size[0]"; with the call "aten.mul.Tensor (%mul_1) other".
capture::Source operand_at(const Graph& graph, const NumberPlace& place, bool with_call);

/// What a guard on the earlier graph says of the later: "L['arg0'] size 0 == 4, now 5", "(n > 2) is true, now false".
struct Difference {
    capture::GuardFailure guard = {};
    std::string advice = {};
    std::vector<StackFrame> stack = {};  ///< of the operation, or the branch, that it is about
    bool of_operand = false;             ///< a number that is known by the operation only
    bool of_data = false;  ///< a size that only the values of this execution say: the same graph, not a recompile
};

struct Comparison {
    std::vector<NumberPlace> numbers = {};  ///< up to the first tensor that differs: others may follow from its sizes
    std::optional<Difference> tensor = {};  ///< the first that differs, where no number before it does

    bool equal() const { return numbers.empty() && !tensor; }
};
/// Of graphs of one shape.
Comparison compare(const capture::CapturedGraph& was, const capture::CapturedGraph& now);

/// The guard is on a number of the call, or on the way that it went, as probes told.
bool tells_of_host(const capture::Guard& guard);
/// The first such guard that fails; reported at the branch where the call went another way, if it did.
std::optional<Difference> host_difference(const capture::CapturedGraph& was, const capture::CapturedGraph& now);

/// Of graphs of the function that have the same calls, where one has one tensor for what are two inputs of the other:
/// "L['b'] is L['a'], now a different tensor".
std::optional<Difference> identity_difference(const capture::CapturedGraph& was, const capture::CapturedGraph& now,
                                              const std::string& function);

}  // namespace whittle::libtorch
