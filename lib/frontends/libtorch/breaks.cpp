#include "frontends/libtorch/breaks.h"

#include "frontends/libtorch/statement.h"
#include "frontends/libtorch/torch_names.h"
#include "ops/aten/capture.h"
#include "ops/aten/data_sizes.h"

namespace whittle::libtorch {
namespace {

using capture::BreakKind;
using capture::GraphBreak;

/// "aten.item of aten.norm.Scalar": the op that gave the program a value, and the one whose result it read.
std::string reading(const Recording& recording, std::int32_t index) {
    const OpName& op = *recording.step(index).op;
    std::string text = op.overload.empty() ? op.target().substr(0, op.target().rfind('.')) : op.target();
    const std::vector<ValueId>& reads = recording.reads(index);
    const std::int32_t maker = reads.empty() ? -1 : recording.value(reads.front()).step;
    if (maker >= 0) text += " of " + recording.step(maker).op->target();
    return text;
}

bool has_mask(const Event& begin) {
    bool found = false;
    for (const EventValue& value : begin.values)
        if (value.list()) for_each_tensor(value, [&](const TensorRef& t) { found |= t.dtype == DType::boolean; });
    return found;
}

/// Of compiled code: TorchScript made it.
bool is_fused(const Recording& recording, std::int32_t index) {
    const Event& begin = *recording.step(index).begin;
    return begin.kind == RecordKind::op_begin && recording.file.op(begin).name == kFusedKernel;
}

}  // namespace

std::string statement(const std::vector<StackFrame>& stack) {
    for (const StackFrame& frame : stack)
        if (!frame.text.empty()) return frame.text;
    return {};
}

std::optional<GraphBreak> break_of(const Recording& recording, std::int32_t index, bool dynamic_shapes) {
    const Step& step = recording.step(index);
    const std::vector<StackFrame>& stack = recording.stack(index);
    const std::string library = recording.library(index), inside = library.empty() ? "" : " in " + library;
    const auto told = [&](BreakKind kind, std::string what, const std::string& otherwise) {
        what += inside;
        if (const std::string text = statement(stack); !text.empty())
            return GraphBreak{.kind = kind, .reason = what + ": " + text, .stack = stack, .brief = what};
        return GraphBreak{.kind = kind, .reason = otherwise.empty() ? what : what + ": " + otherwise, .stack = stack};
    };
    switch (step.kind) {
        case StepKind::io:
            return told(BreakKind::side_effect, "print", step.begin->text);
        case StepKind::print:
            return told(BreakKind::side_effect, "print of a tensor", "at::print");
        case StepKind::data_pointer:
            return told(BreakKind::data_pointer, step.begin->text, "");
        case StepKind::compiled:
            return told(
                BreakKind::unregistered_op,
                is_fused(recording, index) ? "code that TorchScript generated" : "code that torch.compile generated",
                "");
        case StepKind::blob:
            return std::nullopt;
        case StepKind::op:
            break;
    }
    const std::string target = step.op->target();
    const CaptureRole role = capture_role(step.op->name);
    const bool stays = dynamic_shapes && !data_sized_results({.target = target}).empty();
    if ((role == CaptureRole::dynamic_shape && !stays) || (role == CaptureRole::indexes && has_mask(*step.begin)))
        return GraphBreak{BreakKind::dynamic_shape, target + " has a result whose sizes depend on values" + inside,
                          target, stack};
    if (step.op->flags & kReturnsOnlyHost) {
        const TensorRef* operand = step.begin->values.empty() ? nullptr : step.begin->values[0].tensor();
        if (role == CaptureRole::compares)
            return GraphBreak{BreakKind::compare, target + " compares whole tensors on the host" + inside, target,
                              stack};
        const bool branch = role == CaptureRole::branches ||
                            (operand && operand->dtype == DType::boolean && branches(statement(stack)));
        GraphBreak why = told(branch ? BreakKind::branch : BreakKind::item,
                              (branch ? "branch on a tensor's value: " : "a tensor's value read by the program: ") +
                                  reading(recording, index),
                              "");
        why.op = target;
        return why;
    }
    if (step.threw()) return GraphBreak{BreakKind::exception, target + " threw an exception", target, stack};
    return std::nullopt;
}

GraphBreak exception_of(const Recording& recording, const Event& raised) {
    const std::vector<StackFrame>& stack = recording.frames.user_stacks.at(raised.stack);
    const std::string what = "exception " + raised.text, text = statement(stack);
    GraphBreak why{.kind = BreakKind::exception,
                   .reason = text.empty() ? what : what + ": " + text,
                   .stack = stack,
                   .brief = what};
    why.order = static_cast<std::int64_t>(raised.order);
    return why;
}

std::string hint_at(const Recording& recording, std::int32_t index, const GraphBreak& why) {
    if (recording.step(index).kind == StepKind::compiled)
        return std::string("to capture the operations of the ") +
               (is_fused(recording, index) ? "module, run the program with PYTORCH_TENSOREXPR=0"
                                           : "function, run the program with TORCH_COMPILE_DISABLE=1");
    const bool sizes = why.kind == BreakKind::dynamic_shape && !data_sized_results({.target = why.op}).empty();
    return capture::hint(why.kind, why.stack,
                         {.library = !recording.library(index).empty(),
                          .more = sizes,
                          .compares = compares_a_read_value(statement(why.stack)),
                          .asserts = asserts(statement(why.stack))});
}

}  // namespace whittle::libtorch
