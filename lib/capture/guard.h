// Guards: the conditions under which a captured graph may be used again. They are checked in the order in which capture
// came to rely on them; the first that fails is the reason of a recompile, told in the user's terms:
//   L['n'] == 3, now 4
// A guard is a tree of values: a source, and what has to be found there. Texts are made of it, never read back.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "capture/source.h"
#include "graph/graph.h"

namespace whittle::capture {

enum class GuardKind : std::uint8_t {
    tensor_match,  ///< dtype, rank, sizes, strides and requires_grad of a tensor
    scalar_equal,  ///< a host value that became a constant
    global_state,  ///< grad mode, default dtype …
    identity,      ///< the tensor that another source has, too: they are one input
    length,        ///< of a list; whether an optional holds something
    relation,      ///< among sizes that may vary
    branch,        ///< the branch outcomes of a condition of the program
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
    const Placement* placement = nullptr;

    static TensorMatch of(const ValueMeta& meta) {
        return {meta.dtype, meta.sizes, {}, meta.strides, meta.requires_grad, meta.placement};
    }
    bool operator==(const TensorMatch&) const = default;
};

/// The first thing in which a tensor is not as expected.
struct TensorDifference {
    enum class What : std::uint8_t { dtype, placement, rank, size, strides, requires_grad } what = What::dtype;
    std::size_t dim = 0;                ///< of a size
    std::string wanted = {}, now = {};  ///< "f32" and "f64", "4" and "5"

    std::string field() const;  ///< "dtype", "size 0"
};
std::optional<TensorDifference> first_difference(const TensorMatch& want, const ValueMeta& found);

/// A host value that a guard is about. Floats compare by bits (NaN equals NaN).
using HostValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
std::string text_of(const HostValue& value);

/// The tensor that another source has.
struct SameTensor {
    Source as;
    bool operator==(const SameTensor&) const = default;
};

/// A size that may vary: "s0", dimension `dim` of the tensor at `source`.
struct SizeSymbol {
    std::string name;
    Source source = Source::local("?");
    std::size_t dim = 0;

    /// "L['x'].size(0)".
    std::string place() const;
    bool operator==(const SizeSymbol&) const = default;
};

/// What graphs rely on: "s0 > 1" (they are specialized for 0 and 1, as TorchDynamo's), "s0 == 3*s1", "s0 % 3 == 0",
/// "s0 <= 64".
struct SizeCondition {
    enum class Kind : std::uint8_t { above, equal, multiple, at_most } kind = Kind::above;
    SizeSymbol left = {};
    std::int64_t factor = 1;  ///< above it, this times `right`, a multiple of it, or at most it
    std::optional<SizeSymbol> right = {};

    std::string text() const;
    bool operator==(const SizeCondition&) const = default;
};

/// The branch outcomes of a condition, in order: 0 or 1, or what a switch selected by.
struct Outcomes {
    std::vector<std::int64_t> values = {};
    bool selects = false;

    /// "true", "3", "true 3 times, then false".
    std::string text() const;
    bool operator==(const Outcomes&) const = default;
};

/// What has to be found at a guard's source. A relation is about the sizes that it names; its source is the left one's.
using Condition = std::variant<TensorMatch, HostValue, SameTensor, SizeCondition, Outcomes>;

/// What is found at a source in a call.
using Found = std::variant<ValueMeta, HostValue, SameTensor, Outcomes>;
/// Null where nothing is there.
using LookUp = std::function<const Found*(const Source&)>;

/// Why a guard failed, in words.
struct GuardFailure {
    std::string condition = {};  ///< what it asked for: "L['n'] == 3", "L['x'] size 0 == 4"
    std::string found = {};      ///< instead: "4", "missing"
    std::string about = {};      ///< what it is about, without values: "L['n']", "L['x'] size 0"

    /// "L['n'] == 3, now 4".
    std::string text() const { return condition + ", now " + found; }
    bool operator==(const GuardFailure&) const = default;
};
/// `shown`: the value that is not as expected.
GuardFailure failure(const std::string& shown, const TensorDifference& difference);

/// A value: compared by its tree, without the stack. Its hash is computed once.
class Guard {
  public:
    /// `stack`: where capture came to rely on it, innermost first.
    Guard(Source source, Condition condition, std::vector<StackFrame> stack = {});
    static Guard tensor(Source source, const ValueMeta& meta, std::vector<StackFrame> stack = {});
    static Guard scalar(Source source, HostValue value, std::vector<StackFrame> stack = {});
    static Guard state(std::string what, HostValue value, std::vector<StackFrame> stack = {});
    static Guard relation(SizeCondition condition, std::vector<StackFrame> stack = {});

    const Source& source() const { return source_; }
    const Condition& condition() const { return condition_; }
    const std::vector<StackFrame>& stack() const { return stack_; }
    GuardKind kind() const;
    std::size_t hash() const { return hash_; }

    /// The same of a local that is called `name` instead of `before`.
    Guard renamed(const std::string& before, const std::string& name) const;

    /// "L['x']: f32[2, 3] strides=[3, 1]", "L['n'] == 3", "___grad_mode == true", "L['y'] is L['x']", "s0 > 1",
    /// "(n > 2) is true".
    std::string text() const;
    /// Nothing when what is found satisfies it, else the reason: "L['n'] == 3, now 4"; "L['x'] size 0 == 4, now 5";
    /// "s0 == 3*s1, now L['x'].size(0) is 7 and L['y'].size(0) is 2".
    std::optional<GuardFailure> violated_by(const LookUp& look_up) const;
    bool operator==(const Guard& other) const;

  private:
    Source source_;
    Condition condition_;
    std::vector<StackFrame> stack_;
    std::size_t hash_;
};

/// The first violated guard with its reason; `look_up` finds what is at a source now.
struct Violation {
    const Guard* guard = nullptr;
    GuardFailure reason;
    std::string advice = {};  ///< what a user could change so that it no longer fails
};
std::optional<Violation> first_violation(const std::vector<Guard>& guards, const LookUp& look_up);

/// The guard of the same kind and source among others, or null.
const Guard* counterpart(const Guard& guard, const std::vector<Guard>& others);
/// What a call found that such a guard of its own is about. Not of a relation.
Found found_of(const Guard& guard);

/// "model.cpp:12", without the line where that is not known.
std::string place_of(const StackFrame& frame);

/// What a user could change so that a guard no longer fails where `found` (null: nothing) was found:
/// "call mark_dynamic(x, 0) before the first call", "make L['n'] a tensor".
std::string advice(const Guard& guard, const Found* found);

}  // namespace whittle::capture
