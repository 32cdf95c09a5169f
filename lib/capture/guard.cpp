#include "capture/guard.h"

#include <algorithm>
#include <bit>

#include "base/error.h"
#include "base/number_text.h"
#include "graph/placement.h"
#include "graph/text.h"

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

bool same(const HostValue& a, const HostValue& b) {
    const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
    if (x && y) return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
    return a == b;
}

bool same(const Condition& a, const Condition& b) {
    const HostValue *x = std::get_if<HostValue>(&a), *y = std::get_if<HostValue>(&b);
    return x && y ? same(*x, *y) : a == b;
}

class Hash {
  public:
    explicit Hash(std::size_t start) : value_(start) {}

    void operator()(const TensorMatch& match) {
        mix(static_cast<std::size_t>(match.dtype));
        for (const std::int64_t size : match.sizes) mix(static_cast<std::size_t>(size));
        for (const std::int64_t stride : match.strides) mix(static_cast<std::size_t>(stride));
        mix(match.requires_grad);
    }
    void operator()(const HostValue& value) {
        mix(value.index());
        if (const double* number = std::get_if<double>(&value))
            mix(std::bit_cast<std::uint64_t>(*number));
        else
            mix(std::hash<HostValue>()(value));
    }
    void operator()(const SameTensor& same) { mix(same.as.hash()); }
    void operator()(const SizeCondition& condition) {
        mix(static_cast<std::size_t>(condition.kind));
        mix(std::hash<std::string>()(condition.left.name));
        mix(static_cast<std::size_t>(condition.factor));
    }
    void operator()(const Outcomes& outcomes) {
        for (const std::int64_t value : outcomes.values) mix(static_cast<std::size_t>(value));
    }
    std::size_t value() const { return value_; }

  private:
    void mix(std::size_t part) { value_ ^= part + 0x9e3779b97f4a7c15 + (value_ << 6) + (value_ >> 2); }
    std::size_t value_;
};

std::size_t hash_of(const Source& source, const Condition& condition) {
    Hash hash(source.hash() + condition.index());
    std::visit([&](const auto& value) { hash(value); }, condition);
    return hash.value();
}

}  // namespace

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

std::string_view name(GuardKind kind) {
    switch (kind) {
        case GuardKind::tensor_match:
            return "tensor_match";
        case GuardKind::scalar_equal:
            return "scalar_equal";
        case GuardKind::global_state:
            return "global_state";
        case GuardKind::identity:
            return "identity";
        case GuardKind::length:
            return "length";
        case GuardKind::relation:
            return "relation";
        case GuardKind::branch:
            return "branch";
    }
    return "?";
}

std::string text_of(const HostValue& value) {
    if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
    if (const std::int64_t* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
    if (const double* d = std::get_if<double>(&value)) return shortest(*d);
    if (const std::string* s = std::get_if<std::string>(&value)) return "'" + *s + "'";
    return "none";
}

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

Guard::Guard(Source source, Condition condition, std::vector<StackFrame> stack)
    : source_(std::move(source)),
      condition_(std::move(condition)),
      stack_(std::move(stack)),
      hash_(hash_of(source_, condition_)) {}

Guard Guard::tensor(Source source, const ValueMeta& meta, std::vector<StackFrame> stack) {
    return {std::move(source), TensorMatch::of(meta), std::move(stack)};
}
Guard Guard::scalar(Source source, HostValue value, std::vector<StackFrame> stack) {
    return {std::move(source), std::move(value), std::move(stack)};
}
Guard Guard::state(std::string what, HostValue value, std::vector<StackFrame> stack) {
    return {Source::state(std::move(what)), std::move(value), std::move(stack)};
}
Guard Guard::relation(SizeCondition condition, std::vector<StackFrame> stack) {
    Source source = condition.left.source;
    return {std::move(source), std::move(condition), std::move(stack)};
}

GuardKind Guard::kind() const {
    if (std::holds_alternative<TensorMatch>(condition_)) return GuardKind::tensor_match;
    if (std::holds_alternative<SameTensor>(condition_)) return GuardKind::identity;
    if (std::holds_alternative<SizeCondition>(condition_)) return GuardKind::relation;
    if (std::holds_alternative<Outcomes>(condition_)) return GuardKind::branch;
    if (source_.kind() == SourceKind::state) return GuardKind::global_state;
    const bool of_list =
        source_.kind() == SourceKind::attribute && (source_.name() == kLength || source_.name() == kPresent);
    return of_list ? GuardKind::length : GuardKind::scalar_equal;
}

bool Guard::operator==(const Guard& other) const {
    return hash_ == other.hash_ && source_ == other.source_ && same(condition_, other.condition_);
}

Guard Guard::renamed(const std::string& before, const std::string& name) const {
    const auto follow = [&](const Source& source) {
        const bool is_it = source.root().kind() == SourceKind::local && source.root().name() == before;
        return is_it ? source.with_root(name) : source;
    };
    Condition condition = condition_;
    if (auto* same = std::get_if<SameTensor>(&condition)) same->as = follow(same->as);
    if (auto* sizes = std::get_if<SizeCondition>(&condition)) {
        sizes->left.source = follow(sizes->left.source);
        if (sizes->right) sizes->right->source = follow(sizes->right->source);
    }
    return {follow(source_), std::move(condition), stack_};
}

std::string Guard::text() const {
    if (const auto* match = std::get_if<TensorMatch>(&condition_)) {
        std::string text =
            source_.text() + ": " + std::string(whittle::name(match->dtype)) + list_text(match->sizes, match->symbols);
        if (!match->strides.empty()) text += " strides=" + list_text(match->strides);
        if (match->requires_grad) text += " requires_grad";
        return text + (match->placement ? ", " + match->placement->text() : "");
    }
    if (const auto* same = std::get_if<SameTensor>(&condition_)) return source_.text() + " is " + same->as.text();
    if (const auto* sizes = std::get_if<SizeCondition>(&condition_)) return sizes->text();
    if (const auto* outcomes = std::get_if<Outcomes>(&condition_)) return source_.text() + " is " + outcomes->text();
    return source_.text() + " == " + text_of(std::get<HostValue>(condition_));
}

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

/// What the condition has to say of what was found at its source; each returns nothing where it is satisfied.
struct Violated {
    const Guard& guard;
    const LookUp& look_up;

    std::optional<GuardFailure> operator()(const TensorMatch& match) const {
        const Found* found = look_up(guard.source());
        if (!found) return now("missing");
        if (const auto* same = std::get_if<SameTensor>(found)) return now("the same tensor as " + same->as.text());
        const ValueMeta* meta = std::get_if<ValueMeta>(found);
        if (!meta) return now("not a tensor");
        if (const auto what = first_difference(match, *meta)) return failure(guard.source().text(), *what);
        return std::nullopt;
    }
    std::optional<GuardFailure> operator()(const HostValue& expected) const {
        const Found* found = look_up(guard.source());
        if (!found) return now("missing");
        const HostValue* value = std::get_if<HostValue>(found);
        if (!value) return now("a tensor");
        if (same(expected, *value)) return std::nullopt;
        return now(text_of(*value));
    }
    std::optional<GuardFailure> operator()(const SameTensor& expected) const {
        const Found* found = look_up(guard.source());
        if (!found) return now("missing");
        const SameTensor* same = std::get_if<SameTensor>(found);
        if (same && *same == expected) return std::nullopt;
        return now(std::holds_alternative<HostValue>(*found) ? "not a tensor" : "a different tensor");
    }
    std::optional<GuardFailure> operator()(const Outcomes& expected) const {
        const Found* found = look_up(guard.source());
        const Outcomes* ways = found ? std::get_if<Outcomes>(found) : nullptr;
        if (!ways) return now("not reached");
        if (*ways == expected) return std::nullopt;
        return now(ways->text());
    }
    std::optional<GuardFailure> operator()(const SizeCondition& condition) const {
        const auto left = size_at(condition.left, look_up);
        const auto right = condition.right ? size_at(*condition.right, look_up) : 0;
        if (!left || !right) return now("missing");
        if (capture::holds(condition, *left, *right)) return std::nullopt;
        std::string text = condition.left.place() + " is " + std::to_string(*left);
        if (condition.right) text += " and " + condition.right->place() + " is " + std::to_string(*right);
        return now(std::move(text));
    }

  private:
    GuardFailure now(std::string found) const { return {guard.text(), std::move(found), guard.source().text()}; }
};

}  // namespace

std::optional<GuardFailure> Guard::violated_by(const LookUp& look_up) const {
    return std::visit(Violated{*this, look_up}, condition_);
}

std::optional<Violation> first_violation(const std::vector<Guard>& guards, const LookUp& look_up) {
    for (const Guard& guard : guards)
        if (auto reason = guard.violated_by(look_up))
            return Violation{&guard, std::move(*reason), advice(guard, look_up(guard.source()))};
    return std::nullopt;
}

const Guard* counterpart(const Guard& guard, const std::vector<Guard>& others) {
    const auto found = std::ranges::find_if(
        others, [&](const Guard& other) { return other.kind() == guard.kind() && other.source() == guard.source(); });
    return found == others.end() ? nullptr : &*found;
}

Found found_of(const Guard& guard) {
    if (const auto* match = std::get_if<TensorMatch>(&guard.condition()))
        return ValueMeta{match->dtype, match->sizes, match->strides, match->requires_grad, match->placement};
    if (const auto* same = std::get_if<SameTensor>(&guard.condition())) return *same;
    if (const auto* outcomes = std::get_if<Outcomes>(&guard.condition())) return *outcomes;
    const auto* value = std::get_if<HostValue>(&guard.condition());
    WHITTLE_CHECK(value, "a relation is about several sources");
    return *value;
}

namespace {

/// The source as the program writes it: "caches[0].keys" of L['caches'][0].keys.
std::string spelled(const Source& source) {
    const std::string root = source.root().text(), text = source.text();
    return source.root().name() + text.substr(root.size());
}

std::string one_kind(const std::string& source) { return "pass a tensor for " + source + " in every call, or in none"; }

std::string advice_on(const Guard& guard, const TensorMatch& match, const Found* found) {
    const std::string source = guard.source().text();
    if (const auto* same = found ? std::get_if<SameTensor>(found) : nullptr)
        return "pass different tensors for " + same->as.text() + " and " + source + " in every call, or in none";
    const ValueMeta* meta = found ? std::get_if<ValueMeta>(found) : nullptr;
    const auto what = meta ? first_difference(match, *meta) : std::nullopt;
    if (!what) return one_kind(source);
    using What = TensorDifference::What;
    if (what->what == What::placement)
        return "pass " + source + " on the same device and in the same layout in every call";
    if (what->what == What::dtype || what->what == What::rank)
        return "pass " + source + " with the same dtype and rank in every call";
    if (what->what != What::size) return "pass " + source + " contiguous and with the same requires_grad in every call";
    if (match.sizes[what->dim] < 2 || meta->sizes[what->dim] < 2)
        return "graphs are specialized for sizes 0 and 1: pad " + source + " to at least 2";
    return "call mark_dynamic(" + spelled(guard.source()) + ", " + std::to_string(what->dim) +
           ") before the first call, or compile with .dynamic = true";
}

/// Of a range, with who asks for it.
std::string advice_on(const Guard& guard, const SizeCondition& condition) {
    const std::string source = guard.source().text();
    using Kind = SizeCondition::Kind;
    if (condition.kind != Kind::above && condition.kind != Kind::at_most)
        return "pass sizes in the same relation in every call, or pad them";
    if (condition.kind == Kind::above && condition.factor == 1)
        return "graphs are specialized for sizes 0 and 1: pad " + source + " to at least 2";
    const std::string place = guard.stack().empty() ? "" : " at " + place_of(guard.stack().front());
    return condition.text() + " is required" + place + ": pad or trim " + source +
           ", or widen the range if your program sets it";
}

}  // namespace

std::string place_of(const StackFrame& frame) {
    return frame.file + (frame.line > 0 ? ":" + std::to_string(frame.line) : "");
}

std::string advice(const Guard& guard, const Found* found) {
    const std::string source = guard.source().text();
    switch (guard.kind()) {
        case GuardKind::tensor_match:
            return advice_on(guard, std::get<TensorMatch>(guard.condition()), found);
        case GuardKind::scalar_equal: {
            if (found && !std::holds_alternative<HostValue>(*found)) return one_kind(source);
            const auto& value = std::get<HostValue>(guard.condition());
            if (!std::holds_alternative<std::int64_t>(value) && !std::holds_alternative<double>(value))
                return "each value of " + source +
                       " makes graphs of its own: use one function for each value, or move " +
                       "what depends on it out of the function";
            return "make " + source + " a tensor, or move what depends on it out of the function";
        }
        case GuardKind::global_state:
            return "set " + source + " once, outside the loop that calls the function";
        case GuardKind::identity:
            return "pass one tensor for both " + std::get<SameTensor>(guard.condition()).as.text() + " and " + source +
                   " in every call, or in none";
        case GuardKind::length:
            if (guard.source().name() == kPresent) return one_kind(guard.source().base()->text());
            return "pass the same number of elements in " + source + " in every call, or stack them into one tensor";
        case GuardKind::relation:
            return advice_on(guard, std::get<SizeCondition>(guard.condition()));
        case GuardKind::branch:
            return "each path through the function makes graphs of its own: compute both outcomes and select with "
                   "where(), or use one function for each path";
    }
    return {};
}

}  // namespace whittle::capture
