#include "capture/guard.h"

#include <bit>
#include <charconv>

#include "base/error.h"
#include "graph/text.h"

namespace whittle::capture {
namespace {

std::string list_text(const std::vector<std::int64_t>& values, bool dynamic) {
    std::string text = "[";
    for (const std::int64_t v : values)
        text += (text.size() > 1 ? ", " : "") + (dynamic && v == kDynamicSize ? std::string("*") : std::to_string(v));
    return text + "]";
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
    for (std::size_t i = 0; i < want.sizes.size(); ++i) {
        const bool dynamic = want.sizes[i] == kDynamicSize;
        if (dynamic ? found.sizes[i] >= 2 : found.sizes[i] == want.sizes[i]) continue;
        return " size " + std::to_string(i) + (dynamic ? " >= 2" : " == " + std::to_string(want.sizes[i])) + ", now " +
               std::to_string(found.sizes[i]);
    }
    if (!want.strides.empty() && found.strides != want.strides)
        return " strides == " + list_text(want.strides, false) + ", now " + list_text(found.strides, false);
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
    guard.expected = TensorMatch{meta.dtype, meta.sizes, meta.strides, meta.requires_grad};
    return guard;
}
Guard Guard::scalar(Source source, HostValue value, std::vector<StackFrame> stack) {
    return {GuardKind::scalar_equal, std::move(source), std::move(value), {}, std::move(stack)};
}
Guard Guard::state(std::string what, HostValue value) {
    return {GuardKind::global_state, Source::state(std::move(what)), std::move(value), {}, {}};
}

std::string Guard::text() const {
    if (kind == GuardKind::relation) return relation;
    if (const TensorMatch* match = std::get_if<TensorMatch>(&expected)) {
        std::string text = source.text() + ": " + std::string(name(match->dtype)) + list_text(match->sizes, true);
        if (!match->strides.empty()) text += " strides=" + list_text(match->strides, false);
        return text + (match->requires_grad ? " requires_grad" : "");
    }
    const std::string value = text_of(std::get<HostValue>(expected));
    switch (kind) {
        case GuardKind::length:
            return "len(" + source.text() + ") == " + value;
        case GuardKind::identity:
            return "id(" + source.text() + ") == " + value;
        case GuardKind::data_pointer:
            return "data_ptr(" + source.text() + ") == " + value;
        default:
            return source.text() + " == " + value;
    }
}

std::optional<std::string> Guard::violated_by(const Found& found) const {
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
        if (auto reason = guard.violated_by(look_up(guard.source))) return Violation{&guard, std::move(*reason)};
    return std::nullopt;
}

std::string advice(const Guard& guard) {
    const std::string source = guard.source.text();
    switch (guard.kind) {
        case GuardKind::tensor_match:
            return "if only sizes of " + source + " vary, compile with .dynamic = true; else pad or bucket them";
        case GuardKind::scalar_equal:
            return "make " + source + " a tensor, or hoist what depends on it out of the compiled function";
        case GuardKind::branch:
            return "compute both outcomes and select with where(), or use cond()";
        case GuardKind::global_state:
            return "set " + source + " once, outside the loop that calls the function";
        case GuardKind::identity:
        case GuardKind::data_pointer:
            return "pass the same object of " + source + " each time";
        case GuardKind::length:
            return "call with equally many elements in " + source + ", or stack them into one tensor";
        case GuardKind::relation:
            return "compile with .dynamic = true";
    }
    return {};
}

}  // namespace whittle::capture
