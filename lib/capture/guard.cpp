#include "capture/guard.h"

#include <algorithm>

namespace whittle::capture {
namespace {

Condition host_condition(const Source& source, HostValue value) {
    if (source.kind() == SourceKind::state) return StateEqual{{std::move(value)}};
    const bool of_list =
        source.kind() == SourceKind::attribute && (source.name() == kLength || source.name() == kPresent);
    if (of_list) return LengthEqual{{std::move(value)}};
    return ScalarEqual{{std::move(value)}};
}

}  // namespace

Guard::Guard(Source source, Condition condition, std::vector<StackFrame> stack)
    : source_(std::move(source)),
      condition_(std::move(condition)),
      stack_(std::move(stack)),
      hash_(std::hash<std::string>()(text())) {}

Guard Guard::tensor(Source source, const ValueMeta& meta, std::vector<StackFrame> stack) {
    return {std::move(source), TensorMatch::of(meta), std::move(stack)};
}
Guard Guard::scalar(const Source& source, HostValue value, std::vector<StackFrame> stack) {
    return {source, host_condition(source, std::move(value)), std::move(stack)};
}
Guard Guard::state(std::string what, HostValue value, std::vector<StackFrame> stack) {
    return scalar(Source::state(std::move(what)), std::move(value), std::move(stack));
}
Guard Guard::relation(SizeCondition condition, std::vector<StackFrame> stack) {
    Source source = condition.left.source;
    return {std::move(source), std::move(condition), std::move(stack)};
}

std::string_view Guard::kind() const {
    return std::visit([]<class C>(const C&) { return C::kName; }, condition_);
}

bool Guard::operator==(const Guard& other) const {
    return hash_ == other.hash_ && source_ == other.source_ && condition_ == other.condition_;
}

Guard Guard::renamed(const std::string& before, const std::string& name) const {
    const auto follow = [&](const Source& source) {
        const bool is_it = source.root().kind() == SourceKind::local && source.root().name() == before;
        return is_it ? source.with_root(name) : source;
    };
    Condition condition = condition_;
    std::visit(
        [&](auto& asked) {
            if constexpr (requires { asked.for_each_source(follow); })
                asked.for_each_source([&](Source& source) { source = follow(source); });
        },
        condition);
    return {follow(source_), std::move(condition), stack_};
}

std::string Guard::text() const {
    return std::visit([&](const auto& asked) { return asked.text(source_); }, condition_);
}

std::optional<GuardFailure> Guard::violated_by(const LookUp& look_up) const {
    return std::visit([&](const auto& asked) { return asked.violated_by(source_, look_up); }, condition_);
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
    return std::visit([](const auto& asked) { return asked.found(); }, guard.condition());
}

std::string place_of(const StackFrame& frame) {
    return frame.file + (frame.line > 0 ? ":" + std::to_string(frame.line) : "");
}

std::string advice(const Guard& guard, const Found* found) {
    return std::visit([&](const auto& asked) { return asked.advice(guard, found); }, guard.condition());
}

}  // namespace whittle::capture
