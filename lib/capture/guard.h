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
    length,        ///< of a list; whether an optional holds something
    relation,      ///< among sizes that may vary
};
std::string_view name(GuardKind kind);

/// The attributes that stand for how many elements a list has, and whether an optional holds something.
inline constexpr std::string_view kLength = "size()", kPresent = "has_value()";

/// A size that may vary; guards of their own say how far.
inline constexpr std::int64_t kDynamicSize = -1;

/// What a tensor has to be. Where sizes hold kDynamicSize, any size will do; strides are compared only when `strides`
/// is not empty.
struct TensorMatch {
    DType dtype = DType::f32;
    Sizes sizes = {};
    std::vector<std::string> symbols = {};  ///< by dimension: "s0" of a size that may vary; may be shorter
    Strides strides = {};
    bool requires_grad = false;
    bool operator==(const TensorMatch&) const = default;
};

/// A size that may vary: "s0", dimension `dim` of the tensor at `source`.
struct SizeSymbol {
    std::string name;
    Source source = Source::local("?");
    std::size_t dim = 0;

    /// "L['x'].size(0)".
    std::string place() const;
};

/// What graphs rely on: "s0 > 1" (they are specialized for 0 and 1, as TorchDynamo's), "s0 == 3*s1", "s0 % 3 == 0".
struct SizeCondition {
    enum class Kind : std::uint8_t { above, equal, multiple } kind = Kind::above;
    SizeSymbol left = {};
    std::int64_t factor = 1;  ///< above it, this times `right`, or a multiple of it
    std::optional<SizeSymbol> right = {};

    std::string text() const;
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
    std::optional<SizeCondition> condition = {};  ///< of a relation, whose source is its left symbol's
    std::vector<StackFrame> stack = {};           ///< where capture came to rely on it, innermost first

    static Guard tensor(Source source, const ValueMeta& meta, std::vector<StackFrame> stack = {});
    static Guard scalar(Source source, HostValue value, std::vector<StackFrame> stack = {});
    static Guard state(std::string what, HostValue value);
    static Guard relation(SizeCondition condition, std::vector<StackFrame> stack = {});

    /// "L['x']: f32[2, 3] strides=[3, 1]", "L['n'] == 3", "grad_mode == true".
    std::string text() const;
    /// Nothing when what is found satisfies it, else the reason: "L['n'] == 3, now 4"; "L['x'] size 0 == 4, now 5";
    /// "s0 == 3*s1, now L['x'].size(0) is 7 and L['y'].size(0) is 2".
    std::optional<std::string> violated_by(const std::function<Found(const Source&)>& look_up) const;
    bool operator==(const Guard& other) const { return text() == other.text(); }
};

/// The first violated guard with its reason; `look_up` finds what is at a source now.
struct Violation {
    const Guard* guard = nullptr;
    std::string reason;
    std::string advice = {};  ///< what a user could change so that it no longer fails
};
std::optional<Violation> first_violation(const std::vector<Guard>& guards,
                                         const std::function<Found(const Source&)>& look_up);

/// What a user could change so that a guard no longer fails where `found` was found: "mark_dynamic(x, 0) before the
/// first call", "make L['n'] a tensor".
std::string advice(const Guard& guard, const Found& found);

}  // namespace whittle::capture
