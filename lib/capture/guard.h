// Guards: the conditions under which a captured graph may be used again. They are checked in the order in which capture
// came to rely on them; the first that fails is the reason of a recompile, told in the user's terms:
//   L['n'] == 3, now 4
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "capture/source.h"
#include "graph/graph.h"

namespace whittle::capture {

enum class GuardKind : std::uint8_t {
    tensor_match,  ///< dtype, rank, sizes, strides and requires_grad of a tensor
    scalar_equal,  ///< a host value that became a constant
    branch,        ///< the outcome of a branch on a value that capture could know
    global_state,  ///< grad mode, default dtype …
    identity,      ///< this very object
    data_pointer,  ///< this very memory
    length,        ///< of a list, tuple or string of tensors
    relation,      ///< among size symbols
};
std::string_view name(GuardKind kind);

/// A size that may vary: guarded for its lower bound only. Graphs are specialized for sizes 0 and 1, as TorchDynamo's.
inline constexpr std::int64_t kDynamicSize = -1;

/// What a tensor has to be. Where sizes hold kDynamicSize, any size of at least 2 will do; strides are compared only
/// when `strides` is not empty.
struct TensorMatch {
    DType dtype = DType::f32;
    Sizes sizes = {};
    Strides strides = {};
    bool requires_grad = false;
    bool operator==(const TensorMatch&) const = default;
};

/// A host value that a guard is about. Floats compare by bits (NaN equals NaN).
using HostValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
std::string text_of(const HostValue& value);

/// What is found at a guard's source in a later call.
using Found = std::variant<std::monostate, ValueMeta, HostValue>;

struct Guard {
    GuardKind kind = GuardKind::tensor_match;
    Source source = Source::local("?");
    std::variant<TensorMatch, HostValue> expected = HostValue{};
    std::string relation = {};           ///< relation: "s0 == s1"
    std::vector<StackFrame> stack = {};  ///< where capture came to rely on it, innermost first

    static Guard tensor(Source source, const ValueMeta& meta, std::vector<StackFrame> stack = {});
    static Guard scalar(Source source, HostValue value, std::vector<StackFrame> stack = {});
    static Guard state(std::string what, HostValue value);

    /// "L['x']: f32[2, 3] strides=[3, 1]", "L['n'] == 3", "grad_mode == true".
    std::string text() const;
    /// Nothing when `found` satisfies it, else the reason: "L['n'] == 3, now 4"; "L['x'] size 0 == 4, now 5".
    std::optional<std::string> violated_by(const Found& found) const;
    bool operator==(const Guard& other) const { return text() == other.text(); }
};

/// The first violated guard with its reason; `look_up` finds what is at a source now.
struct Violation {
    const Guard* guard = nullptr;
    std::string reason;
};
std::optional<Violation> first_violation(const std::vector<Guard>& guards,
                                         const std::function<Found(const Source&)>& look_up);

/// What a user could change so that a guard no longer fails: "compile with .dynamic = true", "pass L['n'] as a
/// tensor".
std::string advice(const Guard& guard);

}  // namespace whittle::capture
