#include "capture/graph_break.h"

#include "base/error.h"

namespace whittle::capture {
namespace {

using enum BreakKind;

constexpr BreakInfo kCatalogue[] = {
    {side_effect, "WB0001", "a side effect between operations",
     "The program reads or writes something outside its tensors here, a print for example. What was recorded before "
     "has to run first, so that the effect happens in its place. A program of Whittle's API prints without a break by "
     "print_later().",
     "move it before or after the function; in Whittle's API print_later() and .defer_output break no graph",
     "print after the call, or keep what is to be told (x.detach()) in a list and print that at the end"},
    {branch, "WB0002", "a branch on a tensor's value",
     "Which way the program goes depends on numbers that exist only once the graph has run.",
     "compute both outcomes and select with where(), or make it one operation with cond()",
     "compute both outcomes and select with torch.where(), or decide by something that is no tensor"},
    {item, "WB0003", "a tensor's value became a host value",
     "item() and conversions to a number need the tensor's value, so the graph before them has to run.",
     "keep it as a 0-d tensor; read values after the last operation, or keep it in the graph by the API's "
     ".capture_scalar_outputs",
     "keep the tensor (total += loss.detach()), and call .item() or float() once, after the loop"},
    {data_pointer, "WB0004", "a pointer to a tensor's elements",
     "The program reads or writes the elements behind the graph's back.",
     "do the access with tensor operations, or outside the function",
     "call .numpy() or .tolist() after the last operation, or do with torch what is done to the array"},
    {dynamic_shape, "WB0005", "a result whose sizes depend on values",
     "nonzero, masked_select, unique and their like have results whose sizes are unknown until they have run.",
     "use where() or a mask of full size instead, or keep them in the graph: .capture_dynamic_shapes, --compile "
     "capture_dynamic_shapes=1",
     "use torch.where() or a mask of full size instead, or keep them in the graph: --compile capture_dynamic_shapes=1"},
    {compare, "WB0006", "a comparison of whole tensors on the host",
     "equal and allclose return a bool to the program, so their operands have to be computed first.",
     "compare with eq() and reduce with all(), and read the result at the end",
     "compare with (a == b).all(), keep that tensor, and read it at the end"},
    {unregistered_op, "WB0007", "an operation that Whittle does not know",
     "Only registered operations enter a graph; their meaning has to be known to check a compiler against it.",
     "express it in known operations, or do it before or after the function; name the library that registers it: "
     "--op-library FILE"},
    {backend_request, "WB0008", "the backend asked for a break",
     "The backend does not take this operation inside a larger graph.", "see what the backend says of it"},
    {explicit_break, "WB0009", "the program asked for a break", "graph_break() was called.",
     "remove the call when it has served its purpose"},
    {control_flow, "WB0010", "data-dependent control flow in a model file",
     "An If or Loop whose condition or trip count is known only when the model runs, and that the backend does not "
     "run.",
     "export the model with the condition fixed, or with both branches computed and selected"},
    {unsupported, "WB0011", "an operation that the backend does not support",
     "The graph is split around it, and it runs outside the compiler.",
     "express it in supported operations, or teach the backend"},
    {frontend, "WB0012", "something in the model file that could not be taken",
     "The reader of the file has no meaning for it.", "export it for another opset, or without it"},
    {nested, "WB0013", "a break inside the body of a higher-order operation",
     "The body of cond, while_loop or map must be one graph; it was rolled back.", "move what breaks out of the body"},
    {mutation, "WB0014", "a change of memory that the graph cannot order",
     "Memory that several tensors share was changed in a way that cannot be told in operations.",
     "use the out-of-place form of the operation"},
    {exception, "WB0015", "an exception left the function",
     "What had been recorded until then was compiled; the rest of the function never ran.",
     "check arguments before the first operation"},
    {backward, "WB0016", "a backward pass",
     "Gradients are computed by autograd's engine, out of the function's sight: what was recorded has to run first. "
     "The "
     "engine's operations are a graph of their own.",
     "call it outside the function, and capture the part that computes the loss",
     "call .backward() outside the function, and capture the part that computes the loss"},
    {disagreement, "WB0017", "an operation that Whittle and LibTorch differ about",
     "What Whittle infers of the operation's results, or takes as its arguments, is not what LibTorch did. The "
     "program may be right: a graph with the operation would hold compilers to something else.",
     "do it before or after the function; report it, with this reason and LibTorch's version, as a bug of Whittle's"},
    {foreign_value, "WB0018", "an argument or a result that Whittle does not have",
     "Whittle knows the operation, but not the kind of tensor, the dtype or the option that it was called with.",
     "give it plain tensors (resolve_conj(), to_padded_tensor(), to() another dtype), or do it before or after the "
     "function"},
};

}  // namespace

std::span<const BreakInfo> break_catalogue() { return kCatalogue; }

const BreakInfo& info(BreakKind kind) {
    for (const BreakInfo& entry : kCatalogue)
        if (entry.kind == kind) return entry;
    WHITTLE_CHECK(false, "a kind of break without an entry in the catalogue");
    return kCatalogue[0];
}

std::string_view hint(BreakKind kind, std::span<const StackFrame> stack) {
    const BreakInfo& known = info(kind);
    const bool python = !stack.empty() && stack.front().file.ends_with(".py");
    return python && !known.python_hint.empty() ? known.python_hint : known.hint;
}

bool keeps_op_out(BreakKind kind) { return kind == unregistered_op || kind == disagreement || kind == foreign_value; }

const BreakInfo* find_break(std::string_view id) {
    for (const BreakInfo& entry : kCatalogue)
        if (entry.id == id) return &entry;
    return nullptr;
}

}  // namespace whittle::capture
