#include "capture/conditions.h"

#include <bit>

#include "base/error.h"
#include "base/number_text.h"
#include "capture/guard.h"
#include "graph/placement.h"

namespace whittle::capture {
namespace {

std::string list_text(const std::vector<std::int64_t>& values, const std::vector<std::string>& symbols = {}) {
    std::string text = "[";
    for (std::size_t d = 0; d < values.size(); ++d) {
        const bool named = d < symbols.size() && !symbols[d].empty();
        text += d > 0 ? ", " : "";
        text += named ? symbols[d] : values[d] == kDynamicSize ? "*" : std::to_string(values[d]);
    }
    return text + "]";
}

/// The first dimension that differs from a fixed size.
std::optional<std::size_t> differing_size(const TensorMatch& want, const ValueMeta& found) {
    for (std::size_t d = 0; d < want.sizes.size() && d < found.sizes.size(); ++d)
        if (want.sizes[d] != kDynamicSize && want.sizes[d] != found.sizes[d]) return d;
    return std::nullopt;
}

std::string kind_text(const Placement* placement) { return placement ? placement->text() : "a tensor"; }

/// Of a guard at the source that asks for the condition.
GuardFailure unlike(const auto& condition, const Source& at, std::string found) {
    return {condition.text(at), std::move(found), at.text()};
}

/// The source as the program writes it: "caches[0].keys" of L['caches'][0].keys.
std::string spelled(const Source& source) {
    const std::string root = source.root().text(), text = source.text();
    return source.root().name() + text.substr(root.size());
}

constexpr const char* kSmallSizes = ": every graph is specialized for the sizes 0 and 1";

std::string one_kind(const std::string& source) {
    return "pass a tensor for " + source + " in every call or in no call";
}

}  // namespace

// ---- TensorMatch

std::optional<TensorDifference> first_difference(const TensorMatch& want, const ValueMeta& found) {
    using What = TensorDifference::What;
    const auto flag = [](bool value) { return std::string(value ? "true" : "false"); };
    const auto differs = [](What what, std::string wanted, std::string now) {
        return TensorDifference{what, 0, std::move(wanted), std::move(now)};
    };
    if (found.dtype != want.dtype)
        return differs(What::dtype, std::string(name(want.dtype)), std::string(name(found.dtype)));
    if (found.placement != want.placement)
        return differs(What::placement, kind_text(want.placement), kind_text(found.placement));
    if (found.sizes.size() != want.sizes.size())
        return differs(What::rank, std::to_string(want.sizes.size()), std::to_string(found.sizes.size()));
    if (const auto d = differing_size(want, found))
        return TensorDifference{What::size, *d, std::to_string(want.sizes[*d]), std::to_string(found.sizes[*d])};
    if (!want.strides.empty() && found.strides != want.strides)
        return differs(What::strides, list_text(want.strides), list_text(found.strides));
    if (found.requires_grad != want.requires_grad)
        return differs(What::requires_grad, flag(want.requires_grad), flag(found.requires_grad));
    return std::nullopt;
}

std::string TensorDifference::field() const {
    switch (what) {
        case What::dtype:
            return "dtype";
        case What::placement:
            return "kind";
        case What::rank:
            return "rank";
        case What::size:
            return "size " + std::to_string(dim);
        case What::strides:
            return "strides";
        case What::requires_grad:
            return "requires_grad";
    }
    return {};
}

GuardFailure failure(const std::string& shown, const TensorDifference& difference) {
    const std::string about = shown + " " + difference.field();
    return {about + " == " + difference.wanted, difference.now, about};
}

std::string TensorMatch::text(const Source& at) const {
    std::string text = at.text() + ": " + std::string(name(dtype)) + list_text(sizes, sizes.symbols);
    if (!strides.empty()) text += " strides=" + list_text(strides);
    if (requires_grad) text += " requires_grad";
    return text + (placement ? ", " + placement->text() : "");
}

std::optional<GuardFailure> TensorMatch::violated_by(const Source& at, const LookUp& look_up) const {
    const Found* found = look_up(at);
    if (!found) return unlike(*this, at, "missing");
    if (const auto* same = std::get_if<SameTensor>(found))
        return unlike(*this, at, "the same tensor as " + same->as.text());
    const ValueMeta* meta = std::get_if<ValueMeta>(found);
    if (!meta) return unlike(*this, at, "not a tensor");
    if (const auto what = first_difference(*this, *meta)) return failure(at.text(), *what);
    return std::nullopt;
}

std::string TensorMatch::advice(const Guard& guard, const Found* found) const {
    const std::string source = guard.source().text();
    if (const auto* same = found ? std::get_if<SameTensor>(found) : nullptr)
        return "pass different tensors for " + same->as.text() + " and " + source + " in every call or in no call";
    const ValueMeta* meta = found ? std::get_if<ValueMeta>(found) : nullptr;
    const auto what = meta ? first_difference(*this, *meta) : std::nullopt;
    if (!what) return one_kind(source);
    using What = TensorDifference::What;
    if (what->what == What::placement)
        return "pass " + source + " on the same device and in the same layout in every call";
    if (what->what == What::dtype || what->what == What::rank)
        return "pass " + source + " with the same dtype and rank in every call";
    if (what->what != What::size) return "pass " + source + " contiguous and with the same requires_grad in every call";
    if (sizes[what->dim] < 2 || meta->sizes[what->dim] < 2)
        return "pad dimension " + std::to_string(what->dim) + " of " + source + " to size 2 or more" + kSmallSizes;
    return "call mark_dynamic(" + spelled(guard.source()) + ", " + std::to_string(what->dim) +
           ") before the first call, or compile with .dynamic = true";
}

Found TensorMatch::found() const { return ValueMeta{dtype, sizes, strides, requires_grad, placement}; }

// ---- Host values

std::string text_of(const HostValue& value) {
    if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
    if (const std::int64_t* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
    if (const double* d = std::get_if<double>(&value)) return shortest(*d);
    if (const std::string* s = std::get_if<std::string>(&value)) return "'" + *s + "'";
    return "none";
}

std::string HostEquals::text(const Source& at) const { return at.text() + " == " + text_of(value); }

std::optional<GuardFailure> HostEquals::violated_by(const Source& at, const LookUp& look_up) const {
    const Found* found = look_up(at);
    if (!found) return unlike(*this, at, "missing");
    const HostValue* other = std::get_if<HostValue>(found);
    if (!other) return unlike(*this, at, "a tensor");
    if (*this == HostEquals{*other}) return std::nullopt;
    return unlike(*this, at, text_of(*other));
}

Found HostEquals::found() const { return value; }

bool HostEquals::operator==(const HostEquals& other) const {
    const double *x = std::get_if<double>(&value), *y = std::get_if<double>(&other.value);
    if (x && y) return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
    return value == other.value;
}

std::string ScalarEqual::advice(const Guard& guard, const Found* found) const {
    const std::string source = guard.source().text();
    if (found && !std::holds_alternative<HostValue>(*found)) return one_kind(source);
    if (!std::holds_alternative<std::int64_t>(value) && !std::holds_alternative<double>(value))
        return "each value of " + source + " needs a separate graph: use one function for each value, or move " +
               "the code that depends on the value out of the function";
    return "make " + source + " a tensor, or move the code that depends on the value out of the function";
}

std::string StateEqual::advice(const Guard& guard, const Found*) const {
    return "set " + guard.source().text() + " once, outside the loop that calls the function";
}

std::string LengthEqual::advice(const Guard& guard, const Found*) const {
    if (guard.source().name() == kPresent) return one_kind(guard.source().base()->text());
    return "pass the same number of elements in " + guard.source().text() +
           " in every call, or stack the elements into one tensor";
}

// ---- SameTensor

std::string SameTensor::text(const Source& at) const { return at.text() + " is " + as.text(); }

std::optional<GuardFailure> SameTensor::violated_by(const Source& at, const LookUp& look_up) const {
    const Found* found = look_up(at);
    if (!found) return unlike(*this, at, "missing");
    const SameTensor* same = std::get_if<SameTensor>(found);
    if (same && *same == *this) return std::nullopt;
    return unlike(*this, at, std::holds_alternative<HostValue>(*found) ? "not a tensor" : "a different tensor");
}

std::string SameTensor::advice(const Guard& guard, const Found*) const {
    return "pass one tensor for both " + as.text() + " and " + guard.source().text() + " in every call or in no call";
}

Found SameTensor::found() const { return *this; }

// ---- SizeCondition

std::string SizeSymbol::place() const { return source.text() + ".size(" + std::to_string(dim) + ")"; }

std::string SizeCondition::text() const {
    const std::string number = std::to_string(factor);
    if (kind == Kind::above) return left.name + " > " + number;
    if (kind == Kind::at_most) return left.name + " <= " + number;
    if (kind == Kind::multiple) return left.name + " % " + number + " == 0";
    return left.name + " == " + (factor == 1 ? "" : number + "*") + right.value().name;
}

namespace {

std::optional<std::int64_t> size_at(const SizeSymbol& symbol, const LookUp& look_up) {
    const Found* found = look_up(symbol.source);
    const ValueMeta* meta = found ? std::get_if<ValueMeta>(found) : nullptr;
    if (!meta || symbol.dim >= meta->sizes.size()) return std::nullopt;
    return meta->sizes[symbol.dim];
}

bool holds(const SizeCondition& condition, std::int64_t left, std::int64_t right) {
    switch (condition.kind) {
        case SizeCondition::Kind::above:
            return left > condition.factor;
        case SizeCondition::Kind::at_most:
            return left <= condition.factor;
        case SizeCondition::Kind::multiple:
            return left % condition.factor == 0;
        case SizeCondition::Kind::equal:
            return left == condition.factor * right;
    }
    return false;
}

}  // namespace

std::optional<GuardFailure> SizeCondition::violated_by(const Source& at, const LookUp& look_up) const {
    const auto first = size_at(left, look_up);
    const auto second = right ? size_at(*right, look_up) : 0;
    if (!first || !second) return unlike(*this, at, "missing");
    if (holds(*this, *first, *second)) return std::nullopt;
    std::string text = left.place() + " is " + std::to_string(*first);
    if (right) text += " and " + right->place() + " is " + std::to_string(*second);
    return unlike(*this, at, std::move(text));
}

/// Of a range, with who asks for it.
std::string SizeCondition::advice(const Guard& guard, const Found*) const {
    if (kind != Kind::above && kind != Kind::at_most)
        return "in every call, pass sizes with " + text() + ", or pad the tensors to such sizes";
    if (kind == Kind::above && factor == 1) return "pad " + left.place() + " to 2 or more" + kSmallSizes;
    const std::string place = guard.stack().empty() ? "" : " at " + place_of(guard.stack().front());
    return text() + " is required" + place + ": pad or trim " + left.place() +
           ", or widen the range if your program sets this range";
}

Found SizeCondition::found() const {
    WHITTLE_CHECK(false, "a relation is about several sources");
    return HostValue{};
}

// ---- Outcomes

std::string Outcomes::text() const {
    std::string text;
    for (std::size_t i = 0, end = 0; i < values.size(); i = end) {
        while (end < values.size() && values[end] == values[i]) ++end;
        text += text.empty() ? "" : ", then ";
        text += selects ? std::to_string(values[i]) : values[i] != 0 ? "true" : "false";
        if (end - i > 1) text += " " + std::to_string(end - i) + " times";
    }
    return text;
}

std::optional<GuardFailure> Outcomes::violated_by(const Source& at, const LookUp& look_up) const {
    const Found* found = look_up(at);
    const Outcomes* ways = found ? std::get_if<Outcomes>(found) : nullptr;
    if (!ways) return unlike(*this, at, "not reached");
    if (*ways == *this) return std::nullopt;
    return unlike(*this, at, ways->text());
}

std::string Outcomes::advice(const Guard&, const Found*) const {
    return "each path through the function needs separate graphs: compute the results of both branches, and select one "
           "with where(); or use one function for each path";
}

Found Outcomes::found() const { return *this; }

}  // namespace whittle::capture
