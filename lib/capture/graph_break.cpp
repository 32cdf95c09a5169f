#include "capture/graph_break.h"

#include "base/error.h"

namespace whittle::capture {
namespace {

using enum BreakKind;

constexpr std::string_view kAssertHint =
    "test the condition after the last operation, or outside the captured function";

constexpr BreakInfo kCatalogue[] = {
    {.kind = side_effect,
     .id = "WB0001",
     .title = "a side effect between operations",
     .explanation = "At this place, the program prints, or reads or writes data that are not tensors. The operations "
                    "before this place must run before the side effect happens.",
     .hint = "move the side effect out of the captured function",
     .python_hint =
         "print after the function has returned, or collect x.detach() in a list and print the list at the end",
     .api_hint = "print_later() and the option .defer_output print without a break"},
    {.kind = branch,
     .id = "WB0002",
     .title = "a branch on a tensor's value",
     .explanation = "The branch that the program takes depends on values that exist only after the graph has run.",
     .hint = "compute the results of both branches, and select one with where()",
     .python_hint = "compute the results of both branches, and select one with torch.where(); or branch on a value "
                    "that is not a tensor",
     .api_hint = "cond() makes the branch one operation",
     .assert_hint = kAssertHint},
    {.kind = item,
     .id = "WB0003",
     .title = "a tensor's value read by the program",
     .explanation = "item() and conversions to a number need the tensor's value, so the graph has to run first.",
     .hint = "keep the value as a 0-d tensor, and read the value after the last operation",
     .python_hint = "keep the value as a tensor, for example with total += loss.detach(), and call .item() or float() "
                    "once, after the loop",
     .api_hint = "the option .capture_scalar_outputs keeps the value in the graph",
     .branch_hint = "compute the results of both branches, and select one with where() on the tensor itself, because a "
                    "branch on item() is a branch on the tensor's value",
     .assert_hint = kAssertHint},
    {.kind = data_pointer,
     .id = "WB0004",
     .title = "a pointer to a tensor's elements",
     .explanation = "The program reads or writes the elements directly, without operations that a graph could record.",
     .hint = "use tensor operations instead, or access the elements outside the captured function",
     .python_hint = "call .numpy() or .tolist() after the last operation, or use operations of torch instead"},
    {.kind = dynamic_shape,
     .id = "WB0005",
     .title = "a result whose sizes depend on values",
     .explanation = "The sizes of the results of nonzero, masked_select, unique and similar operations are unknown "
                    "until these operations have run.",
     .hint = "use operations that keep the size instead, such as where() or a multiplication by a mask",
     .python_hint = "use operations that keep the size instead, such as torch.where() or a multiplication by a mask",
     .api_hint = "the option .capture_dynamic_shapes keeps the operation in the graph",
     .option_hint = "--compile capture_dynamic_shapes=1 keeps the operation in the graph"},
    {.kind = compare,
     .id = "WB0006",
     .title = "a comparison of whole tensors on the host",
     .explanation = "equal and allclose return a bool to the program, so the operands have to be computed first.",
     .hint = "compare with eq() and all(), keep the result as a tensor, and read the result after the last operation",
     .python_hint =
         "compare with (a == b).all(), keep the result as a tensor, and read the result after the last operation"},
    {.kind = unregistered_op,
     .id = "WB0007",
     .title = "an operation that Whittle does not know",
     .explanation = "Whittle has no definition of this operation. If LibTorch describes the operation and its results, "
                    "the graph contains the call, and only a backend that knows the operation can run the graph. "
                    "Otherwise, the graph ends at the call.",
     .hint = "use operations that Whittle knows, or call this operation outside the captured function; if your own "
             "library defines the operation, pass --op-library FILE"},
    {.kind = backend_request,
     .id = "WB0008",
     .title = "the backend requested a break",
     .explanation = "The backend does not accept this operation inside a larger graph.",
     .hint = "move the operation out of the captured function, or try another backend"},
    {.kind = explicit_break,
     .id = "WB0009",
     .title = "the program requested a break",
     .explanation = "The program called graph_break().",
     .hint = "remove the call of graph_break() when the break is no longer needed"},
    {.kind = control_flow,
     .id = "WB0010",
     .title = "data-dependent control flow in a model file",
     .explanation = "The condition of an If, or the number of iterations of a Loop, is known only when the model runs. "
                    "The backend cannot run such an If or Loop.",
     .hint = "export the model with a fixed condition or number of iterations, or compute both branches in the model "
             "and select one result with Where"},
    {.kind = unsupported,
     .id = "WB0011",
     .title = "an operation that the backend does not support",
     .explanation = "The graph is split at this operation, and the operation runs outside the compiler.",
     .hint = "use operations that the backend supports, or add the operation to the backend"},
    {.kind = frontend,
     .id = "WB0012",
     .title = "something in the model file that Whittle cannot read",
     .explanation = "Whittle's reader of this file format does not support this part of the file.",
     .hint = "export the model for another opset, or without this part"},
    {.kind = nested,
     .id = "WB0013",
     .title = "a break inside the body of a higher-order operation",
     .explanation = "The body of cond(), while_loop(), map() or scan() must be one graph. This body has a graph break. "
                    "Therefore the program's own code runs instead of a graph.",
     .hint = "move the operation that causes the break out of the body"},
    {.kind = mutation,
     .id = "WB0014",
     .title = "a change of memory that the graph cannot order",
     .explanation =
         "Several tensors share memory, and the memory was changed in a way that a graph of operations cannot express.",
     .hint = "use the out-of-place form of the operation, for example add() instead of add_()"},
    {.kind = exception,
     .id = "WB0015",
     .title = "an exception left the function",
     .explanation = "The operations before the exception were compiled; the rest of the function did not run.",
     .hint = "check the function's arguments before the first operation"},
    {.kind = backward,
     .id = "WB0016",
     .title = "a backward pass",
     .explanation = "Autograd's engine computes gradients outside the function, so the operations before the backward "
                    "pass have to run first. The operations of the backward pass become a separate graph.",
     .hint = "call backward() outside the captured function, and capture only the part that computes the loss",
     .python_hint = "call .backward() outside the captured function, and capture only the part that computes the loss"},
    {.kind = disagreement,
     .id = "WB0017",
     .title = "an operation that Whittle and LibTorch define differently",
     .explanation = "The arguments or the results of LibTorch's operation do not match Whittle's definition of the "
                    "operation. The program may be right. If a graph contained this operation, Whittle would compare "
                    "the compiler with wrong results. Therefore the graph ends at this operation.",
     .hint = "call the operation outside the captured function, and report the difference as a bug of Whittle, with "
             "the reason of this break and LibTorch's version"},
    {.kind = foreign_value,
     .id = "WB0018",
     .title = "an argument or a result that Whittle does not support",
     .explanation =
         "Whittle knows the operation, but does not support the kind of tensor, the dtype or the option in this call. "
         "Tensors without storage are, for example, those that vmap() and grad() of torch.func pass to the function.",
     .hint = "in place of conj(), call conj_physical(); in place of a complex number, pass a tensor; convert a nested "
             "tensor with to_padded_tensor(), and a dtype with to(). Otherwise, call the operation outside the "
             "captured function"},
};

}  // namespace

std::span<const BreakInfo> break_catalogue() { return kCatalogue; }

const BreakInfo& info(BreakKind kind) {
    for (const BreakInfo& entry : kCatalogue)
        if (entry.kind == kind) return entry;
    WHITTLE_CHECK(false, "a kind of break has no entry in the catalogue");
    return kCatalogue[0];
}

std::string hint(BreakKind kind, std::span<const StackFrame> stack, const HintPlace& at) {
    if (at.library && !keeps_op_out(kind)) return {};
    const BreakInfo& known = info(kind);
    const std::string_view file = stack.empty() ? std::string_view() : stack.front().file;
    const bool python = file.ends_with(".py") || file.starts_with('<');  // <string>, <stdin>
    std::string text(at.asserts && !known.assert_hint.empty()    ? known.assert_hint
                     : at.compares && !known.branch_hint.empty() ? known.branch_hint
                     : python && !known.python_hint.empty()      ? known.python_hint
                                                                 : known.hint);
    const std::string_view more = !at.more ? "" : at.tensor_api ? known.api_hint : known.option_hint;
    return more.empty() ? text : text + "; " + std::string(more);
}

bool keeps_op_out(BreakKind kind) { return kind == unregistered_op || kind == disagreement || kind == foreign_value; }

const BreakInfo* find_break(std::string_view id) {
    for (const BreakInfo& entry : kCatalogue)
        if (entry.id == id) return &entry;
    return nullptr;
}

}  // namespace whittle::capture
