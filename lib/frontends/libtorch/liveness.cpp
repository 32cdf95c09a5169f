#include "frontends/libtorch/liveness.h"

#include <algorithm>

#include "ops/aten/capture.h"
#include "ops/aten/reads.h"

namespace whittle::libtorch {

void Liveness::begin(const Piece& piece) {
    piece_ = &piece;
    drops_all_ = false;
    if (frame_.call || !returned() || !last_writes().empty()) return;
    drops_all_ = std::ranges::none_of(piece.steps, [&](std::int32_t index) {
        return std::ranges::any_of(recording_.results(index), [&](ValueId id) { return is_wanted(id); });
    });
}

Writes Liveness::last_writes() const {
    Writes writes;
    for (const std::int32_t index : piece_->steps)
        for (const ValueId id : recording_.written_values(index)) writes[cutter_.root(id, piece_->number)] = index;
    return writes;
}

/// When the frame returned, as probes told, or its caller. Nothing for main, whose variables live to the end of the
/// program.
std::optional<ReturnTime> Liveness::returned() const {
    if (frame_.root) return std::nullopt;
    if (!frame_.call) return frame_.returned;
    return frame_.call->left ? std::optional(ReturnTime::at(*frame_.call->left)) : std::nullopt;
}

/// Somebody held a tensor that was the value when the frame returned. Where nobody knows whether that was its last
/// owner, what nobody reads may be its result.
bool Liveness::is_alive(ValueId id) const {
    ReturnTime when = *returned();
    when.in_doubt = !is_read(id);
    return recording_.values.is_held(id, when, recording_.file);
}

bool Liveness::may_be_held(ValueId id) const {
    if (returned()) return is_alive(id);
    const std::uint64_t behind = recording_.step(piece_->steps.back()).order() + 1;
    return recording_.values.is_place_held(id, ReturnTime::at(behind), recording_.file);
}

/// What was made of the value may hold its tensor: for its backward, where that can still come, or as a view.
bool Liveness::may_be_kept_for(ValueId id, ValueId made) const {
    const TensorRef &tensor = recording_.value(made).tensor, &value = recording_.value(id).tensor;
    const auto requires_grad = [&](ValueId other) { return recording_.value(other).tensor.has(kRequiresGrad); };
    if (requires_grad(made))
        return is_alive(made) || std::ranges::any_of(recording_.value(made).uses, [&](std::int32_t use) {
                   return std::ranges::any_of(recording_.results(use), requires_grad);
               });
    return made != id && tensor.has(kHasStorage) && tensor.storage == value.storage && is_alive(made);
}

/// An op gave it beside what it computes, and may have kept it for its backward: the statistics of batch norm.
bool Liveness::may_be_by_product(ValueId id) const {
    const TracedValue& value = recording_.value(id);
    if (value.step < 0 || value.tensor.has(kRequiresGrad)) return false;
    return std::ranges::any_of(recording_.results(value.step), [&](ValueId other) {
        return other != id && recording_.value(other).tensor.has(kRequiresGrad) && is_read(other);
    });
}

/// The program still held the value when the frame returned. Something else may have held the tensor: autograd for a
/// backward, a view its base. Then only a variable of that name tells that the program did.
bool Liveness::outlives_frame(ValueId id) const {
    if (!is_alive(id)) return false;
    const TracedValue& value = recording_.value(id);
    if (frame_.call && frame_.call->is_variable(value.tensor)) return true;
    if (!frame_.call && may_be_by_product(id)) return false;
    return std::ranges::none_of(value.uses, [&](std::int32_t use) {
        return std::ranges::any_of(recording_.results(use), [&](ValueId made) { return may_be_kept_for(id, made); });
    });
}

/// A step behind the graph changes some of the value's elements through another tensor, and what it is then is read.
bool Liveness::is_changed_later(ValueId id) const {
    return std::ranges::any_of(recording_.value(id).after, [&](ValueId after) {
        return !std::ranges::binary_search(piece_->steps, recording_.value(after).step);
    });
}

/// The step reads elements of what it is given. Who takes sizes only needs the tensor where that is a call of a graph.
bool Liveness::needs_elements(std::int32_t use) const {
    const Step& step = recording_.step(use);
    return step.kind != StepKind::op || cutter_.piece_of(use) >= 0 || !reads_only_sizes(step.op->name);
}

bool Liveness::is_read(ValueId id) const {
    return std::ranges::any_of(recording_.value(id).uses, [&](std::int32_t use) { return needs_elements(use); });
}

/// The value is what a write left in a tensor that nobody reads again; its memory is read through another one.
bool Liveness::is_read_through_another(ValueId id) const {
    const auto others = recording_.values.rewritten.find(recording_.value(id).step);
    if (others == recording_.values.rewritten.end() || !writes_memory(recording_.step(others->first))) return false;
    return std::ranges::any_of(others->second, [&](ValueId other) {
        return other != id && recording_.value(other).tensor.storage == recording_.value(id).tensor.storage &&
               !recording_.value(other).uses.empty();
    });
}

/// The value is the part of a tensor that an assignment fills, as in x[2:5] = 1, and that the program has no name for:
/// what it left there, the whole tensor has.
bool Liveness::is_assigned_part(ValueId id) const {
    const std::int32_t index = recording_.value(id).step;
    const std::string& op = recording_.step(index).op->name;
    return (capture_role(op) == CaptureRole::fills || copies_into(op)) && cutter_.writes_part(index);
}

bool Liveness::is_wanted(ValueId id) const {
    const TracedValue& value = recording_.value(id);
    if (value.step >= 0 && value.result >= 0 &&  // a value that a write through another tensor made is no result
        partly_unwritten_result(recording_.step(value.step).op->target()) == value.result)
        return false;
    const bool read_later = std::ranges::any_of(value.uses, [&](std::int32_t use) {
        return !std::ranges::binary_search(piece_->steps, use) && needs_elements(use);
    });
    if (read_later || is_changed_later(id)) return true;
    if (returned() && !drops_all_) return outlives_frame(id);
    return value.result >= 0 &&
           std::ranges::none_of(recording_.results(value.step), [&](ValueId other) { return is_read(other); }) &&
           !is_read_through_another(id) && !is_assigned_part(id);
}

bool Liveness::is_wanted_after(ValueId memory, std::int32_t writer) const {
    std::vector<ValueId> left;
    const auto add = [&](ValueId id) {
        if (recording_.value(id).tensor.storage == recording_.value(memory).tensor.storage) left.push_back(id);
    };
    std::ranges::for_each(recording_.results(writer), add);
    if (const auto others = recording_.values.rewritten.find(writer); others != recording_.values.rewritten.end())
        std::ranges::for_each(others->second, add);
    if (std::ranges::any_of(left, [&](ValueId id) { return is_wanted(id); })) return true;
    if (const auto when = returned()) {  // a variable of it that is in place has what was written since
        if (!recording_.values.is_place_held(memory, *when, recording_.file)) return false;
        if (frame_.call) return frame_.call->is_variable(recording_.value(memory).tensor);
    }
    return std::ranges::none_of(left, [&](ValueId id) { return is_read(id); });
}

bool Liveness::is_told_later(ValueId id, std::int32_t writer) const {
    const auto later = recording_.values.rewritten.find(writer);
    if (later == recording_.values.rewritten.end()) return false;
    return std::ranges::any_of(later->second, [&](ValueId other) {
        return other != id && same_place(recording_.value(other).tensor, recording_.value(id).tensor);
    });
}

}  // namespace whittle::libtorch
