// Graph breaks: why capture stopped at a place. Every kind has a stable id (WB0001 …) under which
// share/doc/reference/breaks.md explains it; the catalogue here is the only list.
#pragma once

#include <cstdint>
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
    backend_request,  ///< the backend asked for it
    explicit_break,   ///< the program asked for it
    control_flow,     ///< If or Loop of a model file whose outcome depends on data
    unsupported,      ///< an op that the backend does not implement
    frontend,         ///< something the reader of a model file could not take
    nested,           ///< a break inside the body of a higher-order op
    mutation,         ///< a change of memory that the graph cannot order
    exception,        ///< an exception left the frame
    backward,         ///< the program asked for gradients: autograd runs the backward pass
    disagreement,     ///< an op whose results Whittle infers otherwise than they were
    foreign_value,    ///< a known op with an argument or a result that no graph can have
};

/// One kind of break, for people.
struct BreakInfo {
    BreakKind kind;
    std::string_view id;                ///< "WB0001"
    std::string_view title;             ///< "a branch on a tensor's value"
    std::string_view explanation;       ///< one or two sentences
    std::string_view hint;              ///< what to change
    std::string_view python_hint = {};  ///< the same to who writes Python, where that has words of its own
};

/// All kinds, in order of their ids.
std::span<const BreakInfo> break_catalogue();
const BreakInfo& info(BreakKind kind);
/// What to change at a place with this stack of the user's, innermost first: in the words of its language.
std::string_view hint(BreakKind kind, std::span<const StackFrame> stack);
/// Whittle lacks the op's meaning: a frame of such ops alone has no graphs, and is told all the same.
bool keeps_op_out(BreakKind kind);
/// nullptr when no kind has the id.
const BreakInfo* find_break(std::string_view id);

struct GraphBreak {
    BreakKind kind = BreakKind::side_effect;
    std::string reason = {};             ///< with the particulars: "print: std::cout << \"woo\"", "item: aten.item"
    std::string op = {};                 ///< the op that capture stopped at, if one
    std::vector<StackFrame> stack = {};  ///< of the user, innermost first
    std::int64_t count = 1;              ///< how often it happened
    std::string brief = {};              ///< the reason without the source that ends it, where some does
    bool operator==(const GraphBreak&) const = default;
};

}  // namespace whittle::capture
