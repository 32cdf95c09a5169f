#include "frontends/libtorch/unfinished.h"

#include <map>

#include "base/error.h"
#include "frontends/libtorch/bind.h"
#include "ops/aten/capture.h"
#include "ops/aten/data_sizes.h"
#include "ops/core/registry.h"

namespace whittle::libtorch {

namespace {

/// Null: all ended. Where several threads were inside one, the last that began.
const Event* unfinished(const EventFile& file) {
    std::map<std::uint32_t, std::vector<const Event*>> running;  // by thread
    for (const Event& event : file.events) {
        if (event.kind != RecordKind::op_begin && event.kind != RecordKind::op_end) continue;
        std::vector<const Event*>& open = running[event.thread];
        while (!open.empty() && open.back()->depth >= event.depth) open.pop_back();
        if (event.kind == RecordKind::op_begin) open.push_back(&event);
    }
    const Event* last = nullptr;
    for (const auto& [thread, open] : running)
        if (!open.empty() && (!last || open.back()->order > last->order)) last = open.back();
    return last;
}

ValueMeta meta_of(const TensorRef& tensor) {
    return {tensor.dtype.value_or(DType::f32), tensor.sizes, tensor.strides, tensor.has(kRequiresGrad),
            tensor.placement};
}

/// Nothing where the op is none that Whittle knows, writes to an argument, or is no function of its arguments.
std::optional<std::vector<ValueMeta>> inferred(const OpName& op, const Event& begin) {
    const bool computes = (op.flags & kHasSchema) && !(op.flags & (kComposite | kReturnsOnlyHost)) && !op.writes;
    if (begin.scope != OpScope::function || !computes || capture_role(op.name) != CaptureRole::call)
        return std::nullopt;
    std::vector<const TensorRef*> tensors;
    for (const EventValue& value : begin.values)
        for_each_tensor(value, [&](const TensorRef& tensor) { tensors.push_back(&tensor); });
    Graph operands;
    const Step step{.begin = &begin, .op = &op, .thread = begin.thread, .stack = begin.stack};
    const BoundCall bound =
        bind_call(step, [&](std::size_t n) { return operands.placeholder("operand", meta_of(*tensors.at(n))); });
    if (!bound.problem.empty() || bound.opaque || bound.random || bound.writes || bound.statistics) return std::nullopt;
    const Node call{.target = bound.call.target, .args = bound.call.args, .kwargs = bound.call.kwargs};
    if (!data_sized_results(call).empty()) return std::nullopt;
    try {
        return infer(operands, call);
    } catch (const Error&) {  // it may be why the program ended
        return std::nullopt;
    }
}

}  // namespace

void end_unfinished(EventFile& file) {
    const Event* const begin = unfinished(file);
    if (!begin) return;
    const std::optional<std::vector<ValueMeta>> metas = inferred(file.op(*begin), *begin);
    if (!metas) return;
    Event end{.order = file.events.back().order + 1,
              .thread = begin->thread,
              .kind = RecordKind::op_end,
              .op = begin->op,
              .depth = begin->depth};
    std::uint64_t number = ~std::uint64_t{0};  // no tensor of the program's comes so far
    for (const ValueMeta& meta : *metas) {
        end.values.push_back({TensorRef{.id = number,
                                        .storage = number,
                                        .dtype = meta.dtype,
                                        .flags = kPlain | kHasStorage,
                                        .sizes = meta.sizes,
                                        .strides = contiguous_strides(meta.sizes)}});
        --number;
    }
    file.unfinished = begin->order;
    file.events.push_back(std::move(end));
}

}  // namespace whittle::libtorch
