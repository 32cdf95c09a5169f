// Graph breaks: why capture stopped at a place. Every kind has a stable id (WB0001 …) under which
// share/doc/reference/breaks.md explains it; the catalogue here is the only list.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.h"

namespace whittle::capture {

enum class BreakKind : std::uint8_t {
    side_effect,      ///< input or output of the program: a print
    branch,           ///< a branch on a tensor's value
    item,             ///< a tensor's value became a host value
    data_pointer,     ///< the program took a pointer to a tensor's elements
    dynamic_shape,    ///< an op whose result's sizes depend on values
    compare,          ///< equal, allclose: a whole-tensor comparison on the host
    unregistered_op,  ///< an op that Whittle does not know
    backend_request,  ///< the backend requested it
    explicit_break,   ///< the program called graph_break()
    control_flow,     ///< If or Loop of a model file whose outcome depends on data
    unsupported,      ///< an op that the backend does not implement
    frontend,         ///< something in a model file that its reader does not support
    nested,           ///< a break inside the body of a higher-order op
    mutation,         ///< a change of memory that the graph cannot order
    exception,        ///< an exception left the frame
    backward,         ///< the program computes gradients: autograd runs the backward pass
    disagreement,     ///< an op whose results differ from those that Whittle infers
    foreign_value,    ///< a known op with an argument or a result that no graph can have
};

/// One kind of break, for people.
struct BreakInfo {
    BreakKind kind;
    std::string_view id;           ///< "WB0001"
    std::string_view title;        ///< "a branch on a tensor's value"
    std::string_view explanation;  ///< one or two sentences
    std::string_view hint;         ///< what to change
    // Where a program of that kind has words, or means, of its own:
    std::string_view python_hint = {};  ///< in place of `hint`, in Python
    std::string_view api_hint = {};     ///< in addition to `hint`, in Whittle's Tensor API
    std::string_view option_hint = {};  ///< in addition to either, in a program that uses LibTorch
    std::string_view branch_hint = {};  ///< in place of `hint` and `python_hint`, where a branch compares the value
    std::string_view assert_hint = {};  ///< in place of all three, in an assertion
};

/// What the hint at a break depends on, besides its kind.
struct HintPlace {
    bool tensor_api = false;  ///< in a program in Whittle's Tensor API; else in one that uses LibTorch, or a model file
    bool library = false;     ///< inside a library, whose code the user does not write
    bool more = false;        ///< api_hint or option_hint would help here: no option that it names is set
    bool compares = false;    ///< the statement branches on a comparison
    bool asserts = false;     ///< the statement is an assertion
};

/// All kinds, in order of their ids.
std::span<const BreakInfo> break_catalogue();
const BreakInfo& info(BreakKind kind);
/// Returns what to change at a place with this user stack, innermost first, in the words of its language; "" where the
/// user can change nothing.
std::string hint(BreakKind kind, std::span<const StackFrame> stack, const HintPlace& at = {});
/// Whittle lacks the op's meaning: a frame of such ops alone has no graphs, and is reported all the same.
bool keeps_op_out(BreakKind kind);
/// nullptr when no kind has the id.
const BreakInfo* find_break(std::string_view id);

struct GraphBreak {
    BreakKind kind = BreakKind::side_effect;
    std::string reason = {};               ///< with the particulars: "print: std::cout << \"woo\"", "item: aten.item"
    std::string op = {};                   ///< the op that capture stopped at, if one
    std::vector<StackFrame> stack = {};    ///< of the user, innermost first
    std::int64_t count = 1;                ///< how often it happened
    std::string brief = {};                ///< the reason without the source that ends it, where some does
    std::optional<std::string> hint = {};  ///< what to change there; empty: as its kind says
    std::int64_t order = 0;                ///< lower for what the program met earlier; 0: not known
    bool operator==(const GraphBreak&) const = default;
};

}  // namespace whittle::capture
