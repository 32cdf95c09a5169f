#include "capture/guard.h"

#include <bit>
#include <charconv>

#include "base/error.h"
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

bool same(const HostValue& a, const HostValue& b) {
    const double *x = std::get_if<double>(&a), *y = std::get_if<double>(&b);
    if (x && y) return std::bit_cast<std::uint64_t>(*x) == std::bit_cast<std::uint64_t>(*y);
    return a == b;
}

/// What of a tensor is not as expected: "dtype == f32, now f64".
std::optional<std::string> difference(const TensorMatch& want, const ValueMeta& found) {
    if (found.dtype != want.dtype)
        return " dtype == " + std::string(name(want.dtype)) + ", now " + std::string(name(found.dtype));
    if (found.sizes.size() != want.sizes.size())
        return " rank == " + std::to_string(want.sizes.size()) + ", now " + std::to_string(found.sizes.size());
    if (const auto d = differing_size(want, found))
        return " size " + std::to_string(*d) + " == " + std::to_string(want.sizes[*d]) + ", now " +
               std::to_string(found.sizes[*d]);
    if (!want.strides.empty() && found.strides != want.strides)
        return " strides == " + list_text(want.strides) + ", now " + list_text(found.strides);
    if (found.requires_grad != want.requires_grad)
        return std::string(" requires_grad == ") + (want.requires_grad ? "true" : "false") + ", now " +
               (found.requires_grad ? "true" : "false");
    return std::nullopt;
}

}  // namespace

std::string_view name(GuardKind kind) {
    switch (kind) {
        case GuardKind::tensor_match:
            return "tensor_match";
        case GuardKind::scalar_equal:
            return "scalar_equal";
        case GuardKind::branch:
            return "branch";
        case GuardKind::global_state:
            return "global_state";
        case GuardKind::identity:
            return "identity";
        case GuardKind::data_pointer:
            return "data_pointer";
        case GuardKind::length:
            return "length";
        case GuardKind::relation:
            return "relation";
    }
    return "?";
}

std::string text_of(const HostValue& value) {
    if (const bool* b = std::get_if<bool>(&value)) return *b ? "true" : "false";
    if (const std::int64_t* i = std::get_if<std::int64_t>(&value)) return std::to_string(*i);
    if (const double* d = std::get_if<double>(&value)) {
        char buffer[32];
        const auto end = std::to_chars(buffer, buffer + sizeof buffer, *d).ptr;
        return {buffer, end};
    }
    if (const std::string* s = std::get_if<std::string>(&value)) return "'" + *s + "'";
    return "none";
}

Guard Guard::tensor(Source source, const ValueMeta& meta, std::vector<StackFrame> stack) {
    Guard guard{.kind = GuardKind::tensor_match, .source = std::move(source), .stack = std::move(stack)};
    guard.expected = TensorMatch{meta.dtype, meta.sizes, {}, meta.strides, meta.requires_grad};
    return guard;
}
Guard Guard::scalar(Source source, HostValue value, std::vector<StackFrame> stack) {
    return {GuardKind::scalar_equal, std::move(source), std::move(value), {}, std::move(stack)};
}
Guard Guard::relation(SizeCondition condition, std::vector<StackFrame> stack) {
    Guard guard{.kind = GuardKind::relation, .source = condition.left.source, .stack = std::move(stack)};
    guard.condition = std::move(condition);
    return guard;
}

Guard Guard::state(std::string what, HostValue value) {
    return {GuardKind::global_state, Source::state(std::move(what)), std::move(value), {}, {}};
}

std::string Guard::text() const {
    if (const TensorMatch* match = std::get_if<TensorMatch>(&expected)) {
        std::string text =
            source.text() + ": " + std::string(name(match->dtype)) + list_text(match->sizes, match->symbols);
        if (!match->strides.empty()) text += " strides=" + list_text(match->strides);
        return text + (match->requires_grad ? " requires_grad" : "");
    }
    if (condition) return condition->text();
    const std::string value = text_of(std::get<HostValue>(expected));
    switch (kind) {
        case GuardKind::identity:
            return "id(" + source.text() + ") == " + value;
        case GuardKind::data_pointer:
            return "data_ptr(" + source.text() + ") == " + value;
        default:
            return source.text() + " == " + value;
    }
}

std::string SizeSymbol::place() const { return source.text() + ".size(" + std::to_string(dim) + ")"; }

std::string SizeCondition::text() const {
    const std::string number = std::to_string(factor);
    if (kind == Kind::above) return left.name + " > " + number;
    if (kind == Kind::multiple) return left.name + " % " + number + " == 0";
    return left.name + " == " + (factor == 1 ? "" : number + "*") + right.value().name;
}

namespace {

std::optional<std::int64_t> size_at(const SizeSymbol& symbol, const std::function<Found(const Source&)>& look_up) {
    const Found found = look_up(symbol.source);
    const ValueMeta* meta = std::get_if<ValueMeta>(&found);
    if (!meta || symbol.dim >= meta->sizes.size()) return std::nullopt;
    return meta->sizes[symbol.dim];
}

std::optional<std::string> violation_of(const SizeCondition& condition,
                                        const std::function<Found(const Source&)>& look_up) {
    const auto left = size_at(condition.left, look_up);
    const auto right = condition.right ? size_at(*condition.right, look_up) : 0;
    if (!left || !right) return condition.text() + ", now nothing there";
    switch (condition.kind) {
        case SizeCondition::Kind::above:
            if (*left > condition.factor) return std::nullopt;
            break;
        case SizeCondition::Kind::multiple:
            if (*left % condition.factor == 0) return std::nullopt;
            break;
        case SizeCondition::Kind::equal:
            if (*left == condition.factor * *right) return std::nullopt;
            break;
    }
    std::string text = condition.text() + ", now " + condition.left.place() + " is " + std::to_string(*left);
    if (condition.right) text += " and " + condition.right->place() + " is " + std::to_string(*right);
    return text;
}

}  // namespace

std::optional<std::string> Guard::violated_by(const std::function<Found(const Source&)>& look_up) const {
    if (condition) return violation_of(*condition, look_up);
    const Found found = look_up(source);
    if (std::holds_alternative<std::monostate>(found)) return text() + ", now nothing there";
    if (const TensorMatch* match = std::get_if<TensorMatch>(&expected)) {
        const ValueMeta* meta = std::get_if<ValueMeta>(&found);
        if (!meta) return text() + ", now not a tensor";
        if (const auto what = difference(*match, *meta)) return source.text() + *what;
        return std::nullopt;
    }
    const HostValue* value = std::get_if<HostValue>(&found);
    if (!value) return text() + ", now a tensor";
    if (same(std::get<HostValue>(expected), *value)) return std::nullopt;
    return text() + ", now " + text_of(*value);
}

std::optional<Violation> first_violation(const std::vector<Guard>& guards,
                                         const std::function<Found(const Source&)>& look_up) {
    for (const Guard& guard : guards)
        if (auto reason = guard.violated_by(look_up))
            return Violation{&guard, std::move(*reason), advice(guard, look_up(guard.source))};
    return std::nullopt;
}

namespace {

/// The source as the program writes it: "caches[0].keys" of L['caches'][0].keys.
std::string spelled(const Source& source) {
    const std::string root = source.root().text(), text = source.text();
    return source.root().name() + text.substr(root.size());
}

std::string one_kind(const std::string& source) { return "pass a tensor as " + source + " in every call, or in none"; }

std::string advice_on_tensor(const Guard& guard, const Found& found) {
    const auto* match = std::get_if<TensorMatch>(&guard.expected);
    const auto* meta = std::get_if<ValueMeta>(&found);
    if (!match || !meta) return one_kind(guard.source.text());
    if (meta->dtype != match->dtype || meta->sizes.size() != match->sizes.size())
        return "pass " + guard.source.text() + " with one dtype and rank";
    const auto dim = differing_size(*match, *meta);
    if (!dim) return "pass " + guard.source.text() + " contiguous, with one requires_grad";
    if (match->sizes[*dim] < 2 || meta->sizes[*dim] < 2)
        return "graphs are specialized for sizes 0 and 1: pad " + guard.source.text() + " to at least 2";
    return "mark_dynamic(" + spelled(guard.source) + ", " + std::to_string(*dim) +
           ") before the first call, or compile with .dynamic = true";
}

}  // namespace

std::string advice(const Guard& guard, const Found& found) {
    const std::string source = guard.source.text();
    switch (guard.kind) {
        case GuardKind::tensor_match:
            return advice_on_tensor(guard, found);
        case GuardKind::scalar_equal:
            if (std::holds_alternative<ValueMeta>(found)) return one_kind(source);
            if (const auto* value = std::get_if<HostValue>(&guard.expected);
                value && !std::holds_alternative<std::int64_t>(*value) && !std::holds_alternative<double>(*value))
                return "each value of " + source + " has graphs of its own; compile one function for each, or hoist " +
                       "what depends on it";
            return "make " + source + " a tensor, or hoist what depends on it out of the compiled function";
        case GuardKind::branch:
            return "compute both outcomes and select with where(), or use cond()";
        case GuardKind::global_state:
            return "set " + source + " once, outside the loop that calls the function";
        case GuardKind::identity:
        case GuardKind::data_pointer:
            return "pass the same object of " + source + " each time";
        case GuardKind::length:
            if (guard.source.name() == kPresent && guard.source.base()) return one_kind(guard.source.base()->text());
            return "call with equally many elements in " + source + ", or stack them into one tensor";
        case GuardKind::relation:
            if (guard.condition && guard.condition->kind == SizeCondition::Kind::above)
                return "graphs are specialized for sizes 0 and 1: pad " + source + " to at least 2";
            return "call with sizes that are related as before, or pad to such";
    }
    return {};
}

}  // namespace whittle::capture
