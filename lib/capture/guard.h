// Guards: the conditions under which a captured graph may be used again. They are checked in the order in which capture
// came to rely on them; the first that fails is the reason of a recompile, told in the user's terms:
//   L['n'] == 3, now 4
// A guard is a tree of values: a source, and what has to be found there. Texts are made of it, never read back.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "capture/conditions.h"
#include "capture/source.h"
#include "graph/graph.h"

namespace whittle::capture {

/// A value: compared by its tree, without the stack. Its hash is computed once.
class Guard {
  public:
    /// `stack`: where capture came to rely on it, innermost first.
    Guard(Source source, Condition condition, std::vector<StackFrame> stack = {});
    static Guard tensor(Source source, const ValueMeta& meta, std::vector<StackFrame> stack = {});
    /// A StateEqual, LengthEqual or ScalarEqual, as the source says.
    static Guard scalar(const Source& source, HostValue value, std::vector<StackFrame> stack = {});
    static Guard state(std::string what, HostValue value, std::vector<StackFrame> stack = {});
    static Guard relation(SizeCondition condition, std::vector<StackFrame> stack = {});

    const Source& source() const { return source_; }
    const Condition& condition() const { return condition_; }
    /// Null for one of another kind.
    template <class C>
    const C* as() const {
        return std::get_if<C>(&condition_);
    }
    const std::vector<StackFrame>& stack() const { return stack_; }
    /// "tensor_match".
    std::string_view kind() const;
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
/// What a call found that such a guard of its own is about. Not of a SizeCondition.
Found found_of(const Guard& guard);

/// "model.cpp:12", without the line where that is not known.
std::string place_of(const StackFrame& frame);

/// What a user could change so that a guard no longer fails where `found` (null: nothing) was found:
/// "call mark_dynamic(x, 0) before the first call", "make L['n'] a tensor".
std::string advice(const Guard& guard, const Found* found);

}  // namespace whittle::capture
