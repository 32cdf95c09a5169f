// What guards ask for: a struct for each kind of condition has all that is known of the kind.
//   kName          name of the kind in reports
//   text(at)       of a guard whose source is `at`: "L['n'] == 3"
//   violated_by()  nothing when what is found satisfies it, else the reason
//   advice()       what a user could change so that the guard no longer fails where `found` (null: nothing) was found
//   found()        what a call found that such a guard of its own is about
//   fields()       its members in files (formats/fields.h), which kFile and kMeaning describe. The source of the guard
//   is
//                  the member kSource.
// One that is about further sources has for_each_source(). A new kind is its struct, a member of Condition, and of the
// list in trace/guard_json.cpp.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "capture/source.h"
#include "graph/graph.h"

namespace whittle::capture {

class Guard;
struct SameTensor;
struct Outcomes;

/// The attributes that stand for how many elements a list has, and whether an optional holds something.
inline constexpr std::string_view kLength = "size()", kPresent = "has_value()";

/// A size that may vary; guards of their own say how far.
inline constexpr std::int64_t kDynamicSize = -1;

/// A host value that a guard is about.
using HostValue = std::variant<std::monostate, bool, std::int64_t, double, std::string>;
std::string text_of(const HostValue& value);

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

/// Where they hold kDynamicSize, any size will do; `symbols` says by dimension what it is called, "s0", and may be
/// shorter.
struct MatchedSizes : Sizes {
    std::vector<std::string> symbols = {};
    bool operator==(const MatchedSizes&) const = default;
};

/// What a tensor has to be. Strides are compared only when `strides` is not empty.
struct TensorMatch {
    static constexpr std::string_view kName = "tensor_match";
    static constexpr const char *kFile = "tensor_guard", *kSource = "tensor",
                                *kMeaning =
                                    "The type of a tensor. A size that may vary is a name or *; strides are "
                                    "absent if they follow from the sizes.";
    using Written = TensorMatch;

    DType dtype = DType::f32;
    MatchedSizes sizes = {};
    Strides strides = {};
    bool requires_grad = false;
    const Placement* placement = nullptr;

    static void fields(auto& field) {
        field("dtype", &TensorMatch::dtype, "");
        field("sizes", &TensorMatch::sizes, "");
        field.maybe("strides", &TensorMatch::strides, "");
        field.maybe("requires_grad", &TensorMatch::requires_grad, "");
        field.maybe("placement", &TensorMatch::placement, "");
    }
    static TensorMatch of(const ValueMeta& meta) {
        return {meta.dtype, {meta.sizes, {}}, meta.strides, meta.requires_grad, meta.placement};
    }
    std::string text(const Source& at) const;
    std::optional<GuardFailure> violated_by(const Source& at, const LookUp& look_up) const;
    std::string advice(const Guard& guard, const Found* found) const;
    Found found() const;
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
/// `shown`: the value that is not as expected.
GuardFailure failure(const std::string& shown, const TensorDifference& difference);

/// What the kinds that are about a host value share. Floats compare by bits (NaN equals NaN).
struct HostEquals {
    static constexpr const char *kFile = "value_guard", *kSource = "value",
                                *kMeaning =
                                    "A number, string or boolean of the program; null is none. Floats are "
                                    "never written as integers; NaN and infinities are {\"float\": \"nan\"}.";
    using Written = HostEquals;

    HostValue value = {};

    static void fields(auto& field) { field("equals", &HostEquals::value, ""); }
    std::string text(const Source& at) const;
    std::optional<GuardFailure> violated_by(const Source& at, const LookUp& look_up) const;
    Found found() const;
    bool operator==(const HostEquals& other) const;
};

/// A host value that became a constant.
struct ScalarEqual : HostEquals {
    static constexpr std::string_view kName = "scalar_equal";
    std::string advice(const Guard& guard, const Found* found) const;
    bool operator==(const ScalarEqual&) const = default;
};

/// Grad mode, default dtype …
struct StateEqual : HostEquals {
    static constexpr std::string_view kName = "global_state";
    std::string advice(const Guard& guard, const Found* found) const;
    bool operator==(const StateEqual&) const = default;
};

/// Of a list; whether an optional holds something.
struct LengthEqual : HostEquals {
    static constexpr std::string_view kName = "length";
    std::string advice(const Guard& guard, const Found* found) const;
    bool operator==(const LengthEqual&) const = default;
};

/// The tensor that another source has, too: they are one input.
struct SameTensor {
    static constexpr std::string_view kName = "identity";
    static constexpr const char *kFile = "same_guard", *kSource = "same",
                                *kMeaning = "The source is the same tensor as another source.";
    using Written = SameTensor;

    Source as = Source::local("?");

    static void fields(auto& field) { field("as", &SameTensor::as, ""); }
    void for_each_source(auto&& f) { f(as); }
    std::string text(const Source& at) const;
    std::optional<GuardFailure> violated_by(const Source& at, const LookUp& look_up) const;
    std::string advice(const Guard& guard, const Found* found) const;
    Found found() const;
    bool operator==(const SameTensor&) const = default;
};

/// A size that may vary: "s0", dimension `dim` of the tensor at `source`.
struct SizeSymbol {
    static constexpr const char *kName = "symbol", *kMeaning = "A size that may vary.";

    std::string name;
    Source source = Source::local("?");
    std::size_t dim = 0;

    static void fields(auto& field) {
        field("name", &SizeSymbol::name, "");
        field("tensor", &SizeSymbol::source, "");
        field("dim", &SizeSymbol::dim, "");
    }
    /// "L['x'].size(0)".
    std::string place() const;
    bool operator==(const SizeSymbol&) const = default;
};

/// What graphs rely on among sizes that may vary: "s0 > 1" (they are specialized for 0 and 1, as TorchDynamo's),
/// "s0 == 3*s1", "s0 % 3 == 0", "s0 <= 64". The source of its guard is the left one's.
struct SizeCondition {
    static constexpr std::string_view kName = "relation";
    static constexpr const char *kFile = "size_guard",
                                *kMeaning =
                                    "size > factor, size == factor * of, size % factor == 0, or size <= factor.";
    using Written = SizeCondition;

    enum class Kind : std::uint8_t { above, equal, multiple, at_most } kind = Kind::above;
    SizeSymbol left = {};
    std::int64_t factor = 1;  ///< above it, this times `right`, a multiple of it, or at most it
    std::optional<SizeSymbol> right = {};

    static void fields(auto& field) {
        field("size", &SizeCondition::left, "");
        field("relation", &SizeCondition::kind, "");
        field("factor", &SizeCondition::factor, "");
        field.maybe("of", &SizeCondition::right, "");
    }
    void for_each_source(auto&& f) {
        f(left.source);
        if (right) f(right->source);
    }
    std::string text() const;
    std::string text(const Source&) const { return text(); }
    std::optional<GuardFailure> violated_by(const Source& at, const LookUp& look_up) const;
    std::string advice(const Guard& guard, const Found* found) const;
    Found found() const;  ///< a bug: it is about several sources
    bool operator==(const SizeCondition&) const = default;
};

/// The branch outcomes of a condition of the program, in order: 0 or 1, or what a switch selected by.
struct Outcomes {
    static constexpr std::string_view kName = "branch";
    static constexpr const char *kFile = "branch_guard", *kSource = "branch",
                                *kMeaning =
                                    "The outcomes of a condition of the program, in order: 0 or 1, or the "
                                    "value of a switch.";
    using Written = Outcomes;

    std::vector<std::int64_t> values = {};
    bool selects = false;

    static void fields(auto& field) {
        field("outcomes", &Outcomes::values, "");
        field.maybe("selects", &Outcomes::selects, "");
    }
    /// "true", "3", "true 3 times, then false".
    std::string text() const;
    std::string text(const Source& at) const { return at.text() + " is " + text(); }
    std::optional<GuardFailure> violated_by(const Source& at, const LookUp& look_up) const;
    std::string advice(const Guard& guard, const Found* found) const;
    Found found() const;
    bool operator==(const Outcomes&) const = default;
};

/// What has to be found at a guard's source.
using Condition = std::variant<TensorMatch, ScalarEqual, StateEqual, LengthEqual, SameTensor, SizeCondition, Outcomes>;

}  // namespace whittle::capture
